# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fuses the addition of a residual block's shortcut into its last product."""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.op_rules.reshapes import reshape_attribute
from mace.python.tools.ir.shapes import product, same_shape
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import (
    RESIDUAL,
    has_activation,
    only_reader,
    producer,
)

# The time of a matrix product of few rows is that of reading its weights, and reading a
# residual meanwhile takes longer than an addition afterwards: in a product of 48 rows
# and 768 x 768 weights, 23 us instead of 4 (fp32, Zen 5).
_MANY_ROWS = 128


class FuseResidual(Pass):
    """Conv2D or FullyConnected, perhaps Reshape, and a sum of equal shapes to one
    with residual.
    """

    name = "fuse_residual"
    requires = ("fold_affine_forward",)
    floats_only = True

    def run(self, graph: Graph) -> int:
        count = 0
        place = {op: index for index, op in enumerate(graph.ops)}
        for op in graph.ops:
            if op.type == "Eltwise" and op.attr("mode") == "ADD":
                count += _rewrite(graph, op, place)
        return count


def _rewrite(graph: Graph, op: Op, place: dict[Op, int]) -> bool:
    a, b = op.input(0), op.input(1)
    if has_activation(op) or a is b:
        return False
    choices = [
        (found, value, other)
        for value, other in ((a, b), (b, a))
        for found in [_product(graph, value)]
        if found is not None and _fits(found, value, other)
    ]
    if not choices:
        return False
    # The later product: the other operand is then already computed, so no tensor is
    # needed longer than before.
    chosen, value, other = max(choices, key=lambda choice: place.get(choice[0], 0))
    last = value.producer
    assert last is not None
    if last is not chosen:  # a Reshape
        other = _reshaped(graph, other, chosen.output)
        chosen.output.source = None
    graph.merge_into(last, op)
    chosen.set_input(RESIDUAL, other)
    return True


def _product(graph: Graph, value: Value) -> Op | None:
    """The product that makes `value`, perhaps with another shape."""
    if only_reader(graph, value) is None:
        return None
    reshape = producer(value, "Reshape")
    if reshape is not None:
        value = reshape.input(0)
    op = producer(value, "Conv2D") or producer(value, "FullyConnected")
    if op is None or op.get_input(RESIDUAL) is not None:
        return None
    if has_activation(op) or only_reader(graph, value) is None:
        return None
    if op.type == "FullyConnected":
        rows = product(op.output.shape[:-1]) if op.output.shape else None
        if rows is None or rows < _MANY_ROWS:
            return None
    return op


def _fits(op: Op, value: Value, other: Value) -> bool:
    if other.is_constant or not same_shape(value.shape, other.shape):
        return False
    shape = op.output.shape
    return shape is not None and reshape_attribute(other.shape, shape) is not None


def _reshaped(graph: Graph, other: Value, like: Value) -> Value:
    name = graph.unique_name(f"{other.name}/residual")
    made = graph.add_value(name, other.dtype, like.shape)
    shape = reshape_attribute(other.shape, like.shape or ())
    graph.add_op("Reshape", [other], [made], {"shape": shape}, name)
    return made

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fuses the addition of a residual block's shortcut into its last product."""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.shapes import same_shape
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import has_activation, only_reader, producer

_RESIDUAL = 3


class FuseResidual(Pass):
    """Conv2D or FullyConnected, and a sum of equal shapes, to one with residual."""

    name = "fuse_residual"
    requires = ("fold_affine_forward",)

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
        (product, other)
        for product, other in ((_product(graph, a), b), (_product(graph, b), a))
        if product is not None and _fits(product, other)
    ]
    if not choices:
        return False
    # The later product: the other operand is then already computed, so no tensor is
    # needed longer than before.
    product, other = max(choices, key=lambda choice: place.get(choice[0], 0))
    graph.merge_into(product, op)
    product.set_input(_RESIDUAL, other)
    return True


def _product(graph: Graph, value: Value) -> Op | None:
    op = producer(value, "Conv2D") or producer(value, "FullyConnected")
    if op is None or op.get_input(_RESIDUAL) is not None:
        return None
    if has_activation(op) or only_reader(graph, value) is None:
        return None
    return op


def _fits(product: Op, other: Value) -> bool:
    return not other.is_constant and same_shape(product.output.shape, other.shape)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Passes that fuse an operator into a product, convolution or pooling beside it."""

from __future__ import annotations

from typing import Any

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.op_rules.movement import reshape_attribute
from mace.python.tools.ir.op_rules.windows import window_axes
from mace.python.tools.ir.quantized_ops import has_limits
from mace.python.tools.ir.shapes import product, same_shape
from mace.python.tools.passes.base import OpPass, Pass
from mace.python.tools.passes.match import (
    RESIDUAL,
    activation_attrs,
    has_activation,
    only_reader,
    producer,
)


class FuseActivation(OpPass):
    """Fuses an activation into the operator before it.

    Activation, perhaps after Reshape, into any operator with the attribute.
    """

    name = "fuse_activation"
    requires = ("fuse_limits",)
    floats_only = True
    op_types = ("Activation",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        return fuse_activation(graph, op)


def fuse_activation(graph: Graph, op: Op) -> bool:
    """Fuses an Activation into the operator before it, if that can have it."""
    last = op.input(0).producer
    if last is None or only_reader(graph, op.input(0)) is not op:
        return False
    before = _before_reshape(graph, last)
    # The slopes of PRELU are an input, which other operators do not have.
    if before is None or op.get_input(1) is not None:
        return False
    if not _takes_activation(before):
        return False
    before.attrs.update(activation_attrs(op))  # type: ignore[arg-type]
    if before is not last:
        before.output.source = None
    graph.merge_into(last, op)
    return True


def _before_reshape(graph: Graph, op: Op) -> Op | None:
    """The operator itself, or the one before if it is a Reshape."""
    if op.type != "Reshape":
        return op
    return op.input(0).producer if only_reader(graph, op.input(0)) is op else None


def _takes_activation(op: Op) -> bool:
    if op.type == "Activation" or len(op.outputs) != 1 or has_activation(op):
        return False
    schema = default_catalogue()[op.type]
    return "activation" in schema.attributes and op.output.dtype.is_float


class FuseLimits(OpPass):
    """Fuses an activation that only limits results into the operator before it.

    RELU and RELUX as `fuse_activation` does: quantized operators have them, too.
    """

    name = "fuse_limits"
    requires = ("fuse_residual",)
    op_types = ("Activation",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        return has_limits(op) and fuse_activation(graph, op)


# The time of a matrix product of few rows is that of reading its weights, and reading a
# residual meanwhile takes longer than an addition afterwards: in a product of 48 rows
# and 768 x 768 weights, 23 us instead of 4 (fp32, Zen 5).
_MANY_ROWS = 128


class FuseResidual(Pass):
    """Fuses the addition of a residual block's shortcut into its last product.

    Conv2D or FullyConnected, perhaps Reshape, and a sum of equal shapes to one
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


_NOT_NEGATIVE = frozenset({"RELU", "RELUX", "SIGMOID", "HARD_SIGMOID", "SOFTPLUS"})
# Less than any float32 in a real network.
_LOWEST = -3.4e38


class FoldPad(OpPass):
    """Moves an explicit Pad into the padding of the operator after it.

    Convolution pads with zeros. So does average pooling if it counts the padding.
    Maximum pooling pads with minus infinity. That has the same result as padding
    with zeros if no element is negative and no window is completely inside the
    padding.
    """

    name = "fold_pad"
    requires = ("fuse_activation",)
    op_types = ("Conv2D", "DepthwiseConv2d", "Pooling")

    def rewrite(self, graph: Graph, op: Op) -> bool:
        return _fold_pad(op)


def _fold_pad(op: Op) -> bool:
    pad = producer(op.input(0), "Pad")
    if pad is None or pad.attr("mode") != "CONSTANT":
        return False
    pads = pad.attr("pads")
    if len(pads) != 8 or any(pads[:2]) or any(pads[6:]):
        return False
    own = _own_pads(op)
    if own is None:
        return False
    # Pad has before and after for each axis; the operator has top, left, bottom, right.
    added = (pads[2], pads[4], pads[3], pads[5])
    total = tuple(a + b for a, b in zip(own, added))
    attrs = _attrs(op, pad, own, total)
    if attrs is None:
        return False
    for name, value in attrs.items():
        op.set_attr(name, value)
    op.set_attr("padding", "EXPLICIT")
    op.set_attr("pads", total)
    op.set_input(0, pad.input(0))
    return True


def _own_pads(op: Op) -> tuple[int, int, int, int] | None:
    shape = op.input(0).shape
    if shape is None:
        return None
    rows, columns = window_axes(op, _kernel(op), shape[1:3])
    if rows is None or columns is None:
        return None
    return rows.before, columns.before, rows.after, columns.after


def _kernel(op: Op) -> tuple[int, int]:
    if op.type == "Pooling":
        return op.attr("kernels")  # type: ignore[no-any-return]
    constant = op.input(1).constant
    assert constant is not None
    first = 1 if op.type == "Conv2D" else 0
    return constant.shape[first], constant.shape[first + 1]


def _attrs(
    op: Op, pad: Op, own: tuple[int, ...], total: tuple[int, ...]
) -> dict[str, Any] | None:
    """Other attributes that change; None if the padding has another meaning."""
    value = pad.attr("value")
    if op.type != "Pooling":
        return {} if value == 0 else None
    if op.attr("ceil_mode"):
        return None
    if op.attr("mode") == "AVG":
        # Padding of the operator that is not counted must remain uncounted.
        counted = op.attr("count_include_pad") or not any(own)
        return {"count_include_pad": True} if value == 0 and counted else None
    extents = [
        (kernel - 1) * dilation + 1
        for kernel, dilation in zip(_kernel(op), op.attr("dilations"))
    ]
    inside = all(pad_ < extents[i % 2] for i, pad_ in enumerate(total))
    if inside and (value <= _LOWEST or (value == 0 and _not_negative(pad))):
        return {}
    return None


def _not_negative(pad: Op) -> bool:
    before = pad.input(0).producer
    return before is not None and before.attrs.get("activation") in _NOT_NEGATIVE

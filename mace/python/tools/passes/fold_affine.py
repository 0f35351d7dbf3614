# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Passes that fold `x * scale + offset` into the weights of an operator beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace.python.tools.ir import Constant, Graph, Op, Value, multiplied, scaled
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.shapes import same_shape
from mace.python.tools.passes.base import OpPass
from mace.python.tools.passes.match import (
    RESIDUAL,
    has_activation,
    only_reader,
    per_channel,
)


@dataclass(frozen=True)
class Affine:
    """Recognises operators that compute `x * scale + offset` per channel.

    The scale and offset of an operator for each innermost element, in float64.
    """

    source: Value
    scale: Array
    offset: Array


def affine_of(op: Op) -> Affine | None:
    """The affine map that `op` computes; None if it computes something else."""
    if op.type not in ("BatchNorm", "Eltwise") or has_activation(op):
        return None
    shape = op.output.shape
    if not shape or not isinstance(shape[-1], int) or not op.output.dtype.is_float:
        return None
    channels = shape[-1]
    if not channels:
        return None  # nothing to multiply, or to find a common factor of
    if op.type == "BatchNorm":
        scale, offset = (per_channel(op.input(i), channels) for i in (1, 2))
        if scale is None or offset is None:
            return None
        return Affine(op.input(0), scale, offset)
    return _eltwise(op, channels)


def _eltwise(op: Op, channels: int) -> Affine | None:
    mode, a, b = op.attr("mode"), op.input(0), op.get_input(1)
    if b is None or a.is_constant == b.is_constant:
        return None
    source, other = (b, a) if a.is_constant else (a, b)
    constant = per_channel(other, channels)
    # If the constant widens the other operand, the operator is not such a map.
    if constant is None or not same_shape(source.shape, op.output.shape):
        return None
    one, zero = np.ones(channels), np.zeros(channels)
    if mode == "ADD":
        return Affine(source, one, constant)
    if mode == "MUL":
        return Affine(source, constant, zero)
    if mode == "SUB":
        if source is a:
            return Affine(source, one, -constant)
        return Affine(source, -one, constant)
    if mode == "DIV" and source is a and np.all(constant != 0):
        return Affine(source, 1 / constant, zero)
    return None


_DEPTHWISE = frozenset({"DepthwiseConv2d", "DepthwiseDeconv2d"})
_WITH_FILTER = _DEPTHWISE | {"Conv2D", "Deconv2D", "FullyConnected"}


class FoldAffine(OpPass):
    """Folds batch normalisation, bias and scale into the operator before them.

    `conv(x) * s + o` is a convolution with filter `w * s` and bias `b * s + o`.
    Chains (Inception's normalisation, multiplication, addition) fold one by one;
    without a convolution before them they become a single BatchNorm.
    """

    name = "fold_affine"
    requires = (
        "depthwise",
        "fold_flatten",
        "recognise_activations",
        "recognise_layer_norm",
    )

    def rewrite(self, graph: Graph, op: Op) -> bool:
        affine = affine_of(op)
        before = affine.source.producer if affine else None
        if affine is None or before is None or has_activation(before):
            return False
        if only_reader(graph, affine.source) is not op:
            return False
        if before.type in _WITH_FILTER:
            if before.get_input(RESIDUAL) is not None:
                return False
            scale_outputs(graph, before, affine.scale)
            _add_bias(graph, before, affine)
        else:
            first = affine_of(before)
            if first is None:
                return False
            _merge(graph, before, first, affine)
        graph.merge_into(before, op)
        return True


def scale_outputs(graph: Graph, op: Op, scale: Array) -> None:
    """Multiplies each output channel's filter by its factor."""
    if np.all(scale == 1):
        return
    value = op.input(1)
    assert value.constant is not None
    op.set_input(
        1,
        graph.add_constant(
            f"{value.name}/scaled", scaled_filter(op.type, value.constant, scale)
        ),
    )


def scaled_filter(op_type: str, constant: Constant, scale: Array) -> Constant:
    """The filter with each output channel multiplied by its factor."""
    if op_type not in _DEPTHWISE:
        return scaled(constant, scale, 0)
    # [KH, KW, C, M]: output channel c * M + m.
    return multiplied(constant, scale.reshape(constant.shape[2:]))


def _add_bias(graph: Graph, op: Op, affine: Affine) -> None:
    bias = op.get_input(2)
    old = np.zeros(1) if bias is None else bias.numpy().astype(np.float64)
    new = np.asarray(old * affine.scale + affine.offset, np.float32)
    if bias is None and not np.any(new):
        return
    op.set_input(2, graph.add_constant(f"{op.name}/bias", new))


def _merge(graph: Graph, before: Op, first: Affine, second: Affine) -> None:
    scale = first.scale * second.scale
    offset = first.offset * second.scale + second.offset
    values = [
        graph.add_constant(f"{before.name}/{name}", np.asarray(array, np.float32))
        for name, array in (("scale", scale), ("offset", offset))
    ]
    before.type = "BatchNorm"
    before.attrs.clear()
    before.set_inputs([first.source, *values])


_TYPES = frozenset({"Conv2D", "DepthwiseConv2d", "FullyConnected"})


class FoldAffineForward(OpPass):
    """Folds batch normalisation and scale into the convolution after them.

    `conv(x * s + o)` is a convolution whose filter is scaled by input channel and
    whose bias has the sum of the filter times `o` added. The padding of the old
    convolution holds zeros; that of the new one would have to hold `-o / s`.
    Therefore, with an offset, the rewrite is valid only without padding.
    """

    name = "fold_affine_forward"
    requires = ("fold_affine",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        affine = affine_of(op)
        reader = only_reader(graph, op.output) if affine else None
        if affine is None or reader is None or reader.type not in _TYPES:
            return False
        if reader.input(0) is not op.output:
            return False
        if np.any(affine.offset) and _pads(reader):
            return False
        _scale_inputs(graph, reader, affine)
        return True


def _pads(op: Op) -> bool:
    if op.type == "FullyConnected" or op.attr("padding") == "VALID":
        return False
    if op.attr("padding") == "EXPLICIT":
        return any(op.attr("pads"))
    return True


def _scale_inputs(graph: Graph, op: Op, affine: Affine) -> None:
    value = op.input(1)
    constant = value.constant
    assert constant is not None
    scale = _by_filter(op, constant, affine.scale)
    if np.any(affine.offset):
        offset = _by_filter(op, constant, affine.offset)
        product = constant.numpy().astype(np.float64) * offset
        if op.type == "DepthwiseConv2d":
            added = product.sum((0, 1)).reshape(-1)
        else:
            added = product.reshape(product.shape[0], -1).sum(1)
        bias = op.get_input(2)
        if bias is not None:
            added = added + bias.numpy()
        data = np.asarray(added, np.float32)
        op.set_input(2, graph.add_constant(f"{op.name}/bias", data))
    new = multiplied(constant, scale)
    op.set_input(1, graph.add_constant(f"{value.name}/scaled", new))
    op.set_input(0, affine.source)


def _by_filter(op: Op, constant: Constant, per_input: Array) -> Array:
    """One number per input channel, in the shape of the filter's axes."""
    if op.type == "DepthwiseConv2d":
        return per_input.reshape(-1, 1)
    if op.type == "FullyConnected":
        return per_input.reshape(1, -1)
    outs, _, _, depth = constant.shape
    groups = op.attr("groups")
    rows = np.repeat(per_input.reshape(groups, depth), outs // groups, axis=0)
    return rows.reshape(outs, 1, 1, depth)


_MOVES = frozenset({"ExpandDims", "Reshape", "Squeeze", "Transpose"})
_PRODUCTS = frozenset({"Conv2D", "DepthwiseConv2d", "FullyConnected"})


class FoldScale(OpPass):
    """Folds a multiplication by a single number into a product with constants before
    it.

        FullyConnected > Reshape > Transpose > Eltwise: x * 0.4

    Operators that only move elements may be between the two, and a MatMul, of which
    one operand is scaled. Attention scales its queries and keys, or their products,
    like this. `fold_affine` folds factors that differ between channels.
    """

    name = "fold_scale"
    requires = ("fold_affine", "sink_transposes")
    op_types = ("Eltwise",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        affine = affine_of(op)
        if affine is None or np.any(affine.offset) or np.ptp(affine.scale):
            return False
        path = _path(graph, affine.source)
        if not path or op.output in graph.outputs:
            return False
        product = path[-1].producer
        assert product is not None
        factor = float(affine.scale[0])
        outs = product.output.shape
        # The rank may be known only at run time.
        if outs is None or not isinstance(outs[-1], int):
            return False
        scale_outputs(graph, product, np.full(outs[-1], factor))
        bias = product.get_input(2)
        if bias is not None:
            new = np.asarray(bias.numpy().astype(np.float64) * factor, np.float32)
            product.set_input(2, graph.add_constant(f"{bias.name}/scaled", new))
        for value in path:
            value.source = None  # the framework's tensors are not scaled
        affine.source.take_source(op.output)
        graph.replace_uses(op.output, affine.source)
        return True


def _path(graph: Graph, value: Value) -> list[Value]:
    """The values from `value` back to the output of a product that can be scaled
    instead; empty if there is none.
    """
    made = value.producer
    if made is None or only_reader(graph, value) is None:
        return []
    if made.type in _MOVES:
        rest = _path(graph, made.input(0))
    elif made.type == "MatMul":
        rest = _path(graph, made.input(0)) or _path(graph, made.input(1))
    else:
        return [value] if _can_be_scaled(made) else []
    return [value, *rest] if rest else []


def _can_be_scaled(op: Op) -> bool:
    return (
        op.type in _PRODUCTS
        and not has_activation(op)
        and op.get_input(RESIDUAL) is None
    )

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Passes that turn one operator or a few into a faster one."""

from __future__ import annotations

from typing import Any

from mace.python.tools.ir import Constant, Graph, Op, Value
from mace.python.tools.ir.quantized_ops import has_limits
from mace.python.tools.ir.shapes import same_shape
from mace.python.tools.passes.base import OpPass
from mace.python.tools.passes.match import (
    RESIDUAL,
    eltwise,
    only_reader,
    producer,
    scalar,
)
from mace.python.tools.passes.quantized_operators import BYTES, integers_behind


class ChannelShuffle(OpPass):
    """Recognises the channel shuffle of ShuffleNet.

    Reshape [N, g, C/g, H, W] > Transpose 0 2 1 3 4 > Reshape [N, C, H, W]
    Reshape [N, H, W, g, C/g] > Transpose 0 1 2 4 3 > Reshape [N, H, W, C]
    """

    name = "channel_shuffle"
    requires = ("fold_constants", "merge_roundings")
    op_types = ("Reshape",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        turn = producer(op.input(0), "Transpose")
        first = producer(turn.input(0), "Reshape") if turn else None
        if turn is None or first is None:
            return False
        inner = (turn.output, first.output)
        if any(only_reader(graph, value) is None for value in inner):
            return False
        x, middle = first.input(0), first.output.shape
        if x.rank != 4 or middle is None or not same_shape(x.shape, op.output.shape):
            return False
        assert x.shape is not None
        perm = turn.attr("perm")
        if perm == (0, 2, 1, 3, 4):
            groups, data_format = middle[1], "NCHW"
            kept = (middle[0], *middle[3:]), (x.shape[0], *x.shape[2:])
        elif perm == (0, 1, 2, 4, 3):
            groups, data_format = middle[3], "NHWC"
            kept = middle[:3], x.shape[:3]
        else:
            return False
        if not isinstance(groups, int) or not same_shape(*kept):
            return False
        attrs = {"groups": groups, "data_format": data_format}
        graph.replace_op(op, "ChannelShuffle", [x], attrs)
        return True


class ClipToRelux(OpPass):
    """Turns clipping to zero and to an upper limit into RELU and RELUX.

    max(x, 0)           > RELU
    min(relu(x), limit) > RELUX, in either order of the bounds
    """

    name = "clip_to_relux"
    requires = ("fold_constants",)
    op_types = ("Eltwise",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        return op.output.dtype.is_float and _clip(graph, op)


def _clip(graph: Graph, op: Op) -> bool:
    relu = _bound(graph, op, "MAX")
    if relu is not None and relu[1] == 0:
        inner = _inner(graph, relu[0], "MIN")
        if inner is not None and inner[1] > 0:
            return _to_relu(graph, op, inner[0], "RELUX", inner[1])
        return _to_relu(graph, op, relu[0], "RELU")
    upper = _bound(graph, op, "MIN")
    if upper is None or upper[1] <= 0:
        return False
    value, limit = upper
    before = producer(value, "Activation")
    if before is not None and only_reader(graph, value) is not None:
        kind = before.attr("activation")
        if kind == "RELUX":
            limit = min(limit, before.attr("activation_limit"))
        if kind in ("RELU", "RELUX"):
            return _to_relu(graph, op, before.input(0), "RELUX", limit)
    inner = _inner(graph, value, "MAX")
    if inner is not None and inner[1] == 0:
        return _to_relu(graph, op, inner[0], "RELUX", limit)
    return False


def _bound(graph: Graph, op: Op, mode: str) -> tuple[Value, float] | None:
    """The operand and the constant of a plain MAX or MIN."""
    if op.type != "Eltwise" or eltwise(op.output, mode) is not op:
        return None
    for index in (0, 1):
        number, other = scalar(op.get_input(index)), op.get_input(1 - index)
        if number is None or other is None or other.is_constant:
            continue
        # A bound with more axes than the other operand would add axes.
        if other.rank == op.output.rank:
            return other, number
    return None


def _inner(graph: Graph, value: Value, mode: str) -> tuple[Value, float] | None:
    if value.producer is None or only_reader(graph, value) is None:
        return None
    return _bound(graph, value.producer, mode)


def _to_relu(graph: Graph, op: Op, value: Value, kind: str, limit: float = 0.0) -> bool:
    attrs: dict[str, Any] = {"activation": kind}
    if kind == "RELUX":
        attrs["activation_limit"] = limit
    graph.replace_op(op, "Activation", [value], attrs)
    return True


_DEPTHWISE = {"Conv2D": "DepthwiseConv2d", "Deconv2D": "DepthwiseDeconv2d"}


class Depthwise(OpPass):
    """Turns a convolution with one input channel per group into a depthwise one."""

    name = "depthwise"
    requires = ("unit_deconv",)
    op_types = tuple(_DEPTHWISE)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        constant = op.input(1).constant
        # A depthwise convolution has no residual input.
        if constant is None or constant.shape[3] != 1 or op.get_input(RESIDUAL):
            return False
        if op.attr("groups") == 1:
            return False
        _to_depthwise(graph, op, constant)
        return True


def _to_depthwise(graph: Graph, op: Op, constant: Constant) -> None:
    out, kh, kw, _ = constant.shape
    channels = op.attr("groups")
    # The output channel is o = c * M + m in both operators, so the first axis of [O,
    # KH, KW, 1] only has to be moved to the end and split.
    shape = (kh, kw, channels, out // channels)
    moved = constant.moved(lambda w: w[..., 0].transpose(1, 2, 0).reshape(shape), shape)
    attrs = {name: value for name, value in op.attrs.items() if name != "groups"}
    value = graph.add_constant(f"{op.input(1).name}/depthwise", moved)
    graph.replace_op(
        op, _DEPTHWISE[op.type], [op.input(0), value, op.get_input(2)], attrs
    )


class GroupedDepthwise(OpPass):
    """Turns a depthwise convolution with several outputs for each channel, which is to
    compute in integers, into a Conv2D.

    Quantized weights have a scale for each output. Those of DepthwiseConv2d then
    have no axis of outputs: [height, width, channels, multiplier]. Those of Conv2D
    with as many groups as channels have one: [outputs, height, width, 1].
    """

    name = "grouped_depthwise"
    requires = ("extend_quantization",)
    last = True
    op_types = ("DepthwiseConv2d",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        constant = op.input(1).constant
        if constant is None or not _is_quantized_with_several(graph, op, constant):
            return False
        kh, kw, channels, multiplier = constant.shape
        shape = (channels * multiplier, kh, kw, 1)
        # The output channel is c * M + m in both operators.
        moved = constant.moved(
            lambda w: w.transpose(2, 3, 0, 1).reshape(shape),
            shape,
        )
        value = graph.add_constant(f"{op.input(1).name}/grouped", moved)
        attrs = {**op.attrs, "groups": channels}
        graph.replace_op(op, "Conv2D", [op.input(0), value, *op.inputs[2:]], attrs)
        return True


def _is_quantized_with_several(graph: Graph, op: Op, constant: Constant) -> bool:
    if constant.integers is None or constant.shape[3] == 1 or not has_limits(op):
        return False
    source = integers_behind(op.input(0))
    reader = only_reader(graph, op.output)
    return (
        source is not None
        and source.dtype in BYTES
        and reader is not None
        and reader.type == "Quantize"
    )


class MatMulToFullyConnected(OpPass):
    """Turns a product with a constant matrix into a FullyConnected."""

    name = "matmul_to_fully_connected"
    requires = ("fold_constants",)
    op_types = ("MatMul",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        constant = op.input(1).constant
        if constant is None or len(constant.shape) != 2 or op.input(0).is_constant:
            return False
        if op.attr("transpose_a") or 0 in constant.shape:
            return False
        if 0 in constant.shape:
            return False  # A MatMul makes zeros of it; there is nothing to pack.
        if op.attr("transpose_b"):
            weights = op.input(1)
        else:
            shape = (constant.shape[1], constant.shape[0])
            turned = constant.moved(lambda w: w.T, shape)
            weights = graph.add_constant(f"{op.input(1).name}/transposed", turned)
        graph.replace_op(op, "FullyConnected", [op.input(0), weights])
        return True


class UnitDeconv(OpPass):
    """Turns a transposed convolution of stride 1 into a convolution.

    The convolution has the filter rotated by 180 degrees and more padding. It can
    then use everything that convolutions support: Winograd's method, 16-bit
    arithmetic, a residual input.
    """

    name = "unit_deconv"
    requires = ("fold_constants",)
    op_types = ("Deconv2D",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        return tuple(op.attr("strides")) == (1, 1) and _to_convolution(graph, op)


def _to_convolution(graph: Graph, op: Op) -> bool:
    constant = op.input(1).constant
    assert constant is not None
    cut, added = op.attr("pads"), op.attr("output_padding")
    reach = [
        (size - 1) * dilation
        for size, dilation in zip(constant.shape[1:3], op.attr("dilations"))
    ]
    pads = [reach[i % 2] - cut[i] for i in range(4)]
    pads[2] += added[0]
    pads[3] += added[1]
    if min(pads) < 0:  # outputs would begin inside the image
        return False
    gone = ("pads", "output_padding")
    attrs = {name: value for name, value in op.attrs.items() if name not in gone}
    attrs.update(padding="EXPLICIT", pads=tuple(pads))
    turned = graph.add_constant(
        f"{op.input(1).name}/turned", constant.moved(lambda w: w[:, ::-1, ::-1])
    )
    graph.replace_op(op, "Conv2D", [op.input(0), turned, op.get_input(2)], attrs)
    return True

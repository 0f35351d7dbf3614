# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions and matrix products."""

from __future__ import annotations

import math
from typing import Any

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.handlers.convolution import (
    transposed_attrs,
)
from mace.python.tools.importers.tflite.context import HANDLERS, Context
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import static


def _filter(context: Context) -> Constant:
    value = context.input(1)
    if value.constant is None:
        raise UnsupportedNodeError(f"filter {value.name} is computed at run time")
    if len(value.constant.shape) != 4:
        raise UnsupportedNodeError(f"filter has {len(value.constant.shape)} dimensions")
    return value.constant


def _window(context: Context) -> dict[str, Any]:
    return {
        "padding": context.padding(),
        "strides": context.strides(),
        "dilations": [
            context.node.integer("dilation_h", 1),
            context.node.integer("dilation_w", 1),
        ],
    }


def _channels(context: Context) -> int:
    """Those of the image, which is input 0."""
    shape = context.input(0).shape
    if shape is None or len(shape) != 4 or not isinstance(shape[3], int):
        raise UnsupportedNodeError(
            f"the channels of {context.input(0).name} are not known"
        )
    return shape[3]


def _emit(
    context: Context,
    op_type: str,
    inputs: list[Value],
    bias: Value | None,
    attrs: dict[str, Any],
) -> None:
    """A product, and the bias if there is one."""
    if bias is None:
        context.emit(op_type, inputs, **attrs)
    elif bias.is_constant and op_type != "MatMul":
        context.emit(op_type, [*inputs, bias], **attrs)
    else:
        result = context.step(op_type, inputs, "product", **attrs)
        context.emit("Eltwise", [result, bias], mode="ADD")


@HANDLERS.register("CONV_2D")
def conv2d(context: Context) -> None:
    """[O, KH, KW, I] filters, like those of MACE; groups follow from the channels."""
    depth = _filter(context).shape[3]
    channels = _channels(context)
    if not depth or channels % depth:
        raise UnsupportedNodeError(
            f"{channels} channels do not fit a filter of {depth}"
        )
    attrs = {**_window(context), "groups": channels // depth}
    inputs = [context.input(0), context.input(1)]
    _emit(context, "Conv2D", inputs, context.optional(2), attrs)


@HANDLERS.register("DEPTHWISE_CONV_2D")
def depthwise_conv2d(context: Context) -> None:
    """[1, KH, KW, C * M] filters; those of MACE are [KH, KW, C, M]."""
    constant, channels = _filter(context), _channels(context)
    one, height, width, count = constant.shape
    if one != 1 or not channels or count % channels:
        raise UnsupportedNodeError(
            f"{channels} channels do not fit a filter of {list(constant.shape)}"
        )
    shape = (height, width, channels, count // channels)
    filters = context.builder.graph.add_constant(
        f"{context.node.name}/filter",
        constant.moved(lambda array: array.reshape(shape), shape),
    )
    inputs, bias = [context.input(0), filters], context.optional(2)
    _emit(context, "DepthwiseConv2d", inputs, bias, _window(context))


@HANDLERS.register("TRANSPOSE_CONV")
def transpose_conv(context: Context) -> None:
    """The output's shape first, then the [O, KH, KW, C] filter and the image."""
    filters = context.input(1)
    _filter(context)
    strides = (1, *context.strides(), 1)
    gradient = context.like(
        "Conv2DBackpropInput", padding=context.padding(), strides=strides
    )
    attrs = transposed_attrs(gradient, filters.shape)
    inputs = [context.input(2), filters]
    _emit(context, "Deconv2D", inputs, context.optional(3), attrs)


@HANDLERS.register("FULLY_CONNECTED")
def fully_connected(context: Context) -> None:
    """[O, K] weights; the input is rows of K numbers, whatever its shape."""
    if context.node.integer("weights_format"):
        raise UnsupportedNodeError(
            "the weights are shuffled for one kernel", "convert the model again"
        )
    x, weights = context.input(0), context.input(1)
    if context.rank(1) != 2:
        raise UnsupportedNodeError(f"weights have {context.rank(1)} dimensions")
    bias, rank = context.optional(2), context.rank(0)
    keep = context.node.flag("keep_num_dims")
    depth = (weights.shape or (None, None))[1]
    last = x.shape[-1] if x.shape else None
    if keep and (last != depth or rank < 2):
        raise UnsupportedNodeError(
            f"keep_num_dims with rows of {last}, and weights for {depth}"
        )
    if not keep and (rank != 2 or last != depth):
        dims = static(x.shape) if x.shape is not None else None
        if not isinstance(depth, int) or not depth:
            raise UnsupportedNodeError(f"the shape of {weights.name} is not known")
        if dims is not None and math.prod(dims) % depth:
            raise UnsupportedNodeError(f"{list(dims)} is no number of rows of {depth}")
        x = context.step("Reshape", [x], "rows", shape=[-1, depth])
    attrs = {"transpose_b": True}
    _emit(context, "MatMul", [x, weights], bias, attrs)


@HANDLERS.register("BATCH_MATMUL")
def batch_matmul(context: Context) -> None:
    """Products of the innermost matrices."""
    node = context.node
    context.apply("BatchMatMulV2", adj_x=node.flag("adj_x"), adj_y=node.flag("adj_y"))

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions, matrix products, pooling and normalisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.frame.known import known_elements
from mace.python.tools.importers.tf_operators.handlers.convolution import (
    convolved_back_volume,
    convolved_volume,
    groups_of,
    transposed_attrs,
)
from mace.python.tools.importers.tflite.context import HANDLERS, Context, of_tensorflow
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import static

# The least length by which a vector is divided.
_LEAST_LENGTH = 1e-6
_OF_TENSORFLOW = of_tensorflow(
    BATCH_MATMUL="BatchMatMulV2", LOCAL_RESPONSE_NORMALIZATION="LRN"
)


@HANDLERS.register(*_OF_TENSORFLOW)
def as_in_tensorflow(context: Context) -> None:
    """Operators that mean the same as TensorFlow's."""
    context.apply(_OF_TENSORFLOW[context.operator.type])


def _filter(context: Context) -> Constant:
    constant = known_elements(context.input(1), "the filter")
    if len(constant.shape) != 4:
        raise UnsupportedNodeError(f"filter has {len(constant.shape)} dimensions")
    return constant


def _window(context: Context) -> dict[str, Any]:
    return {
        "padding": context.padding(),
        "strides": context.strides(),
        "dilations": [context.node.integer(f"dilation_{axis}") for axis in "hw"],
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
        product = context.step(op_type, inputs, "product", **attrs)
        context.emit_eltwise("ADD", product, bias)


@HANDLERS.register("CONV_2D")
def conv2d(context: Context) -> None:
    """[O, KH, KW, I] filters, like those of MACE; groups follow from the channels."""
    groups = groups_of(_channels(context), _filter(context).shape[3])
    attrs = {**_window(context), "groups": groups}
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
    if _emit_hybrid(context, x, bias):
        return
    _emit(context, "MatMul", [x, weights], bias, {"transpose_b": True})


def _emit_hybrid(context: Context, x: Value, bias: Value | None) -> bool:
    """A product of floats and weights of 8 bits, if that is what the file has: the
    interpreter makes integers of each row. Where it does so without zero points, as
    files of old converters say, floats are multiplied.
    """
    node, stored = context.node, context.stored_input(1)
    integers = stored.constant
    if integers is None or stored.dtype is not DataType.INT8:
        return False
    if context.stored_input(0).dtype is not DataType.FLOAT32:
        return False
    if not node.flag("asymmetric_quantize_inputs") or not integers.size:
        return False
    if bias is not None and not bias.is_constant:
        return False
    known = stored.quantization
    if known is None or any(known.zero_points) or known.axis != 0:
        return False
    builder, name = context.builder, stored.name
    columns = builder.made_of(
        integers,
        f"{name}/columns",
        lambda: integers.map(lambda w: np.ascontiguousarray(w.T), integers.shape[::-1]),
    )
    scales = builder.made_of(
        integers, f"{name}/scales", lambda: np.asarray(known.scales, np.float32)
    )
    inputs = [x, columns, scales, *([] if bias is None else [None, bias])]
    context.emit("DynamicQuantizeMatMul", inputs, range="ROW")
    return True


def _pool_window(context: Context) -> dict[str, Any]:
    node = context.node
    return {
        "kernels": [node.integer("height"), node.integer("width")],
        "strides": context.strides(),
        "padding": context.padding(),
    }


@HANDLERS.register("AVERAGE_POOL_2D", "MAX_POOL_2D")
def pool(context: Context) -> None:
    """Averages do not count padding, like those of MACE by default."""
    mode = "MAX" if context.operator.type == "MAX_POOL_2D" else "AVG"
    context.emit("Pooling", [context.input(0)], mode=mode, **_pool_window(context))


@HANDLERS.register("L2_POOL_2D")
def l2_pool(context: Context) -> None:
    """The square root of the mean of the squares."""
    squares = [context.eltwise("SQUARE", context.input(0))]
    means = context.step("Pooling", squares, mode="AVG", **_pool_window(context))
    context.emit_eltwise("SQRT", means)


@HANDLERS.register("L2_NORMALIZATION")
def l2_normalization(context: Context) -> None:
    """Each innermost vector, divided by its length."""
    x = context.input(0)
    length = context.step("Reduce", [x], "length", mode="L2", axes=[-1])
    context.emit_eltwise("DIV", x, context.eltwise("MAX", length, _LEAST_LENGTH))


@HANDLERS.register("CONV_3D")
def conv3d(context: Context) -> None:
    """[KD, KH, KW, I, O] filters, and a bias."""
    context.pass_on(convolved_volume(_volume_window(context), context.optional(2)))


@HANDLERS.register("CONV_3D_TRANSPOSE")
def conv3d_transpose(context: Context) -> None:
    """The output's shape first, then the filter and the volume."""
    context.pass_on(convolved_back_volume(_volume_window(context), context.optional(3)))


def _volume_window(context: Context) -> Context:
    """With the attributes that TensorFlow would have."""

    def three(name: str) -> tuple[int, ...]:
        return (1, *(context.node.integer(f"{name}_{axis}") for axis in "dhw"), 1)

    return context.like(
        "Conv3D",
        padding=context.padding(),
        strides=three("stride"),
        dilations=three("dilation"),
    )

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions in one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mace.python.tools.importers.emit.lengths import Make
from mace.python.tools.importers.emit.volumes import (
    Axis,
    convolved,
    convolved_back,
    image_filter,
    sizes_of,
)
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import (
    HANDLERS,
    Context,
    has_variables,
    trainable,
)
from mace.python.tools.importers.keras.handlers.functions import activated
from mace.python.tools.importers.keras.layer import Layer
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value


def channels_last(layer: Layer) -> None:
    """Refuses layers on channels-first images."""
    if layer.text("data_format", "channels_last") != "channels_last":
        raise UnsupportedNodeError(
            "data_format is channels_first", "build the model with channels_last"
        )


def as_image(context: Context, x: Value) -> Value:
    """A sequence [N, T, C] as an image of one row."""
    if context.rank(x) != 3:
        raise UnsupportedNodeError(f"the input has {context.rank(x)} dimensions, not 3")
    return context.step("ExpandDims", [x], "image", axes=[1])


def as_sequence(context: Context, x: Value) -> Value:
    """The reverse."""
    return context.step("Squeeze", [x], "sequence", axes=[1])


def padding_of(layer: Layer) -> str:
    """In upper case."""
    padding = layer.text("padding", "valid").upper()
    if padding not in ("VALID", "SAME", "CAUSAL"):
        raise UnsupportedNodeError(f"padding is {padding.lower()!r}")
    return padding


def maker(context: Context) -> Make:
    """What code for volumes makes operators with."""

    def make(
        op_type: str, inputs: Sequence[Value | None], attrs: Mapping[str, Any]
    ) -> Value:
        return context.step(op_type, inputs, op_type.lower(), **attrs)

    return make


def window_attrs(layer: Layer, kernel: Sequence[int], dims: int) -> dict[str, Any]:
    """Strides, dilations and padding of an image; `kernel`: of all its axes."""
    lead = [1] * (2 - dims)
    strides = [*lead, *layer.integers("strides", dims, 1)]
    dilations = [*lead, *layer.integers("dilation_rate", dims, 1)]
    padding = padding_of(layer)
    attrs: dict[str, Any] = {
        "strides": strides,
        "dilations": dilations,
        "padding": padding,
    }
    if padding == "CAUSAL":
        if dims != 1:
            raise UnsupportedNodeError("padding is 'causal'")
        attrs["padding"] = "EXPLICIT"
        attrs["pads"] = [0, (kernel[1] - 1) * dilations[1], 0, 0]
    return attrs


def _bias(context: Context, index: int, count: int, key: str = "bias") -> Value | None:
    if not context.layer.flag("use_bias", True):
        return None
    return context.constant(context.variable(index, [count]), key)


def _finish(context: Context, y: Value, dims: int) -> None:
    if dims == 1:
        y = as_sequence(context, y)
    context.give(activated(context, y))


def _image(context: Context, dims: int) -> Value:
    channels_last(context.layer)
    x = context.floats()
    if dims == 1:
        return as_image(context, x)
    if context.rank(x) != dims + 2:
        raise UnsupportedNodeError(f"the input has {context.rank(x)} dimensions")
    return x


def _image_kernel(array: Array, dims: int) -> Array:
    return array[None] if dims == 1 else array


@HANDLERS.register("Conv1D", "Conv2D")
def conv(context: Context) -> None:
    """[K..., I / groups, O] filters."""
    layer = context.layer
    dims = int(layer.kind[-2])
    kernel = context.variable(0, [None] * (dims + 2))
    kernel = _image_kernel(kernel, dims)
    filters = context.transposed(kernel, (3, 0, 1, 2), "filter")
    inputs = [_image(context, dims), filters, _bias(context, 1, kernel.shape[3])]
    attrs = window_attrs(layer, kernel.shape[:2], dims)
    y = context.step(
        "Conv2D", inputs, "conv", groups=layer.integer("groups", 1), **attrs
    )
    _finish(context, y, dims)


@HANDLERS.register("DepthwiseConv1D", "DepthwiseConv2D")
def depthwise(context: Context) -> None:
    """[K..., C, M] filters."""
    layer = context.layer
    dims = int(layer.kind[-2])
    kernel = _image_kernel(context.variable(0, [None] * (dims + 2)), dims)
    bias = _bias(context, 1, kernel.shape[2] * kernel.shape[3])
    y = _depthwise(context, _image(context, dims), kernel, bias, dims)
    _finish(context, y, dims)


def _depthwise(
    context: Context, x: Value, kernel: Array, bias: Value | None, dims: int
) -> Value:
    attrs = window_attrs(context.layer, kernel.shape[:2], dims)
    filters = context.constant(kernel, "depthwise_filter")
    return context.step("DepthwiseConv2d", [x, filters, bias], "depthwise", **attrs)


@HANDLERS.register("SeparableConv1D", "SeparableConv2D")
def separable(context: Context) -> None:
    """A convolution of each channel, then one of each pixel."""
    dims = int(context.layer.kind[-2])
    kernel = _image_kernel(context.variable(0, [None] * (dims + 2)), dims)
    points = _image_kernel(context.variable(1, [None] * (dims + 2)), dims)
    y = _depthwise(context, _image(context, dims), kernel, None, dims)
    filters = context.transposed(points, (3, 0, 1, 2), "pointwise_filter")
    bias = _bias(context, 2, points.shape[3])
    _finish(context, context.step("Conv2D", [y, filters, bias], "pointwise"), dims)


@HANDLERS.register("Conv1DTranspose", "Conv2DTranspose")
def transposed(context: Context) -> None:
    """[K..., O, I] filters."""
    layer = context.layer
    dims = 1 if "1D" in layer.kind else 2
    kernel = _image_kernel(context.variable(0, [None] * (dims + 2)), dims)
    filters = context.transposed(kernel, (2, 0, 1, 3), "filter")
    lead = [Axis(1)] * (2 - dims)
    window = [*lead, *_transposed_window(layer, kernel.shape[2 - dims : 2], dims)]
    y = context.step(
        "Deconv2D",
        [_image(context, dims), filters, _bias(context, 1, kernel.shape[2])],
        "transposed",
        strides=[a.stride for a in window],
        dilations=[a.dilation for a in window],
        pads=[*(a.before for a in window), *(a.after for a in window)],
        output_padding=[a.added for a in window],
        groups=layer.integer("groups", 1),
    )
    _finish(context, y, dims)


def _transposed_window(layer: Layer, kernel: Sequence[int], dims: int) -> list[Axis]:
    """As TensorFlow: the padding is that of the convolution in the other direction."""
    padding = padding_of(layer)
    if padding == "CAUSAL":
        raise UnsupportedNodeError("padding is 'causal'")
    added: Sequence[int | None] = [None] * dims
    if layer.has("output_padding"):
        added = layer.integers("output_padding", dims)
    window = []
    for size, stride, dilation, more in zip(
        kernel,
        layer.integers("strides", dims, 1),
        layer.integers("dilation_rate", dims, 1),
        added,
    ):
        extent = (size - 1) * dilation + 1
        # How many elements the output has less than all that a filter reaches.
        less = extent - stride if padding == "SAME" else min(extent - stride, 0)
        if more is not None:
            less = -more if padding == "VALID" else 2 * (extent // 2) - more
        total = max(less, 0) if padding == "SAME" else 0
        before = total // 2
        window.append(
            Axis(size, stride, dilation, before, total - before, total - less)
        )
        if total < less:
            raise UnsupportedNodeError(f"output_padding is {more}")
    return window


@HANDLERS.register("Conv3D")
def conv3d(context: Context) -> None:
    """[KD, KH, KW, I / groups, O] filters."""
    layer, x = context.layer, _image(context, 3)
    kernel = context.variable(0, [None] * 5)
    window = [
        Axis(*values)
        for values in zip(
            kernel.shape[:3],
            layer.integers("strides", 3, 1),
            layer.integers("dilation_rate", 3, 1),
        )
    ]
    if padding_of(layer) == "SAME":
        sizes = sizes_of(x)
        window = [axis.padded_same(size, True) for axis, size in zip(window, sizes)]
    filters = context.builder.graph.add_constant(
        context.builder.graph.unique_name(f"{context.name}/filter"),
        image_filter(Constant.of(kernel.transpose(4, 3, 0, 1, 2))),
    )
    bias = _bias(context, 1, kernel.shape[4])
    groups = layer.integer("groups", 1)
    y = convolved(maker(context), x, filters, bias, window, groups)
    context.give(activated(context, y))


@HANDLERS.register("Conv3DTranspose")
def transposed3d(context: Context) -> None:
    """[KD, KH, KW, O, I] filters."""
    kernel = context.variable(0, [None] * 5)
    filters = context.builder.graph.add_constant(
        context.builder.graph.unique_name(f"{context.name}/filter"),
        image_filter(Constant.of(kernel.transpose(3, 4, 0, 1, 2))),
    )
    window = _transposed_window(context.layer, kernel.shape[:3], 3)
    bias = _bias(context, 1, kernel.shape[3])
    y = convolved_back(maker(context), _image(context, 3), filters, bias, window, 1)
    context.give(activated(context, y))


_KINDS = (
    *("Conv1D", "Conv2D", "Conv3D"),
    *("DepthwiseConv1D", "DepthwiseConv2D"),
    *("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"),
)


@has_variables(*_KINDS)
def _variables(layer: Layer) -> list[tuple[str, bool]]:
    return trainable(2 if layer.flag("use_bias", True) else 1)


@has_variables("SeparableConv1D", "SeparableConv2D")
def _separable_variables(layer: Layer) -> list[tuple[str, bool]]:
    return trainable(3 if layer.flag("use_bias", True) else 2)

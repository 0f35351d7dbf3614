# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling in one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    count_variables,
    with_bias,
)
from mace.python.tools.importers.keras.handlers.functions import activated
from mace.python.tools.importers.keras.network import Layer
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules.volumes import pooled


def _images(context: Context) -> tuple[Value, int]:
    """The input, a sequence [N, T, C] as an image of one row; and its dimensions."""
    x, dims = context.images()
    if dims == 1:
        x = context.step("ExpandDims", [x], "image", axes=[1])
    return x, dims


def _as_before(context: Context, y: Value, dims: int) -> Value:
    """The reverse."""
    return context.step("Squeeze", [y], "sequence", axes=[1]) if dims == 1 else y


def _padding(layer: Layer) -> str:
    """In upper case."""
    padding = layer.text("padding", "valid").upper()
    if padding not in ("VALID", "SAME", "CAUSAL"):
        raise UnsupportedNodeError(f"padding is {padding.lower()!r}")
    return padding


def window_attrs(layer: Layer, kernel: Sequence[int], dims: int) -> dict[str, Any]:
    """Strides, dilations and padding of an image; `kernel`: of all its axes."""
    lead = [1] * (2 - dims)
    dilations = [*lead, *layer.integers("dilation_rate", dims, 1)]
    attrs: dict[str, Any] = {
        "strides": [*lead, *layer.integers("strides", dims, 1)],
        "dilations": dilations,
        "padding": _padding(layer),
    }
    if attrs["padding"] == "CAUSAL":
        if dims != 1:
            raise UnsupportedNodeError("padding is 'causal'")
        attrs["padding"] = "EXPLICIT"
        attrs["pads"] = [0, (kernel[1] - 1) * dilations[1], 0, 0]
    return attrs


def _bias(context: Context, index: int, count: int) -> Value | None:
    if not context.layer.flag("use_bias", True):
        return None
    return context.constant(context.variable(index, [count]), "bias")


def _finish(context: Context, y: Value, dims: int) -> None:
    context.give(activated(context, _as_before(context, y, dims)))


def image_kernel(context: Context, index: int, dims: int) -> Array:
    """A variable with filters; those of a sequence become filters of images."""
    kernel = context.variable(index, [None] * (dims + 2))
    return kernel[None] if dims == 1 else kernel


@HANDLERS.register("Conv1D", "Conv2D")
def conv(context: Context) -> None:
    """[K..., I / groups, O] filters."""
    x, dims = _images(context)
    kernel = image_kernel(context, 0, dims)
    filters = context.transposed(kernel, (3, 0, 1, 2), "filter")
    inputs = [x, filters, _bias(context, 1, kernel.shape[3])]
    attrs = window_attrs(context.layer, kernel.shape[:2], dims)
    groups = context.layer.integer("groups", 1)
    y = context.step("Conv2D", inputs, "conv", groups=groups, **attrs)
    _finish(context, y, dims)


@HANDLERS.register("DepthwiseConv1D", "DepthwiseConv2D")
def depthwise(context: Context) -> None:
    """[K..., C, M] filters."""
    x, dims = _images(context)
    kernel = image_kernel(context, 0, dims)
    bias = _bias(context, 1, kernel.shape[2] * kernel.shape[3])
    _finish(context, _depthwise(context, x, kernel, bias, dims), dims)


def _depthwise(
    context: Context, x: Value, kernel: Array, bias: Value | None, dims: int
) -> Value:
    attrs = window_attrs(context.layer, kernel.shape[:2], dims)
    filters = context.constant(kernel, "depthwise_filter")
    return context.step("DepthwiseConv2d", [x, filters, bias], "depthwise", **attrs)


@HANDLERS.register("SeparableConv1D", "SeparableConv2D")
def separable(context: Context) -> None:
    """A convolution of each channel, then one of each pixel."""
    x, dims = _images(context)
    kernel, points = (image_kernel(context, index, dims) for index in (0, 1))
    y = _depthwise(context, x, kernel, None, dims)
    filters = context.transposed(points, (3, 0, 1, 2), "pointwise_filter")
    bias = _bias(context, 2, points.shape[3])
    _finish(context, context.step("Conv2D", [y, filters, bias], "pointwise"), dims)


@HANDLERS.register("Conv1DTranspose", "Conv2DTranspose")
def transposed(context: Context) -> None:
    """[K..., O, I] filters."""
    layer = context.layer
    x, dims = _images(context)
    kernel = image_kernel(context, 0, dims)
    filters = context.transposed(kernel, (2, 0, 1, 3), "filter")
    lead = [Axis(1)] * (2 - dims)
    window = [*lead, *_transposed_window(layer, kernel.shape[2 - dims : 2], dims)]
    y = context.step(
        "Deconv2D",
        [x, filters, _bias(context, 1, kernel.shape[2])],
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
    padding = _padding(layer)
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
        axis = Axis(size, stride, dilation, before, total - before, total - less)
        window.append(axis)
        if total < less:
            raise UnsupportedNodeError(f"output_padding is {more}")
    return window


def _padded(layer: Layer, x: Value, window: list[Axis]) -> list[Axis]:
    """The window of a volume with the padding of a layer."""
    if _padding(layer) != "SAME":
        return window
    sizes = sizes_of(x)
    return [axis.padded_same(size, True) for axis, size in zip(window, sizes)]


def _volume_filter(context: Context, kernel: Array, *perm: int) -> Value:
    return context.builder.graph.add_constant(
        context.builder.graph.unique_name(f"{context.name}/filter"),
        image_filter(Constant.of(kernel.transpose(perm))),
    )


@HANDLERS.register("Conv3D")
def conv3d(context: Context) -> None:
    """[KD, KH, KW, I / groups, O] filters."""
    layer, (x, _) = context.layer, context.images()
    kernel = image_kernel(context, 0, 3)
    strides, dilations = (
        layer.integers(key, 3, 1) for key in ("strides", "dilation_rate")
    )
    window = [Axis(*sides) for sides in zip(kernel.shape[:3], strides, dilations)]
    window = _padded(layer, x, window)
    filters = _volume_filter(context, kernel, 4, 3, 0, 1, 2)
    bias = _bias(context, 1, kernel.shape[4])
    groups = layer.integer("groups", 1)
    y = convolved(context.make, x, filters, bias, window, groups)
    _finish(context, y, 3)


@HANDLERS.register("Conv3DTranspose")
def transposed3d(context: Context) -> None:
    """[KD, KH, KW, O, I] filters."""
    x, _ = context.images()
    kernel = image_kernel(context, 0, 3)
    filters = _volume_filter(context, kernel, 3, 4, 0, 1, 2)
    window = _transposed_window(context.layer, kernel.shape[:3], 3)
    bias = _bias(context, 1, kernel.shape[3])
    y = convolved_back(context.make, x, filters, bias, window, 1)
    _finish(context, y, 3)


count_variables(
    *("Conv1D", "Conv2D", "Conv3D", "DepthwiseConv1D", "DepthwiseConv2D"),
    *("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"),
    count=with_bias(1),
)
count_variables("SeparableConv1D", "SeparableConv2D", count=with_bias(2))


@HANDLERS.register(
    *("MaxPooling1D", "MaxPooling2D", "MaxPooling3D"),
    *("AveragePooling1D", "AveragePooling2D", "AveragePooling3D"),
)
def pool(context: Context) -> None:
    """Averages do not count padding."""
    layer, (x, dims) = context.layer, _images(context)
    mode = "MAX" if layer.kind.startswith("Max") else "AVG"
    sizes = layer.integers("pool_size", dims, 2)
    strides = layer.integers("strides", dims) if layer.has("strides") else sizes
    if dims == 3:
        window = [Axis(*sides) for sides in zip(sizes, strides)]
        window = _padded(layer, x, window)
        context.give(pooled(context.make, x, mode, window, {}))
        return
    lead = [1] * (2 - dims)
    attrs = {"kernels": [*lead, *sizes], "strides": [*lead, *strides]}
    padding = _padding(layer)
    y = context.step("Pooling", [x], "pooled", mode=mode, padding=padding, **attrs)
    context.give(_as_before(context, y, dims))


@HANDLERS.register(
    *("GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D"),
    *("GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAveragePooling3D"),
)
def global_pool(context: Context) -> None:
    """Over all axes but batch and channels."""
    layer, (x, dims) = context.layer, context.images()
    is_average, keep = "Average" in layer.kind, layer.flag("keepdims")
    if is_average and dims == 1 and context.masked:
        context.give(_masked_mean(context, x, keep))
    else:
        mode = "MEAN" if is_average else "MAX"
        context.give(context.reduce(mode, x, range(1, dims + 1), keep))
    context.gives_mask = False


def _masked_mean(context: Context, x: Value, keep: bool) -> Value:
    """Of the steps that count."""
    kept = context.step("Cast", [context.known_mask()], "counted", to="FLOAT32")
    kept = context.step("ExpandDims", [kept], "rows", axes=[2])
    parts = (context.eltwise("MUL", x, kept), kept)
    return context.eltwise("DIV", *(context.reduce("SUM", v, [1], keep) for v in parts))

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution, pooling and normalisation of images and volumes.

For volumes, see importers/emit/volumes.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mace.python.tools.importers.emit.volumes import (
    Axis,
    convolved,
    convolved_back,
    image_filter,
    sizes_of,
)
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.frame.known import known_elements
from mace.python.tools.importers.tf_operators.context import (
    HANDLERS,
    Context,
)
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules.volumes import pooled
from mace.python.tools.ir.shapes import Shape, to_channels_first, to_channels_last

_VOLUME = 5


def _spatial(
    context: Context, name: str, given: Sequence[int] = (), rank: int = 4
) -> list[int]:
    """The sizes along the axes of an image or volume in the node's data format: those
    that are given, or an attribute.
    """
    values = list(given or context.node.ints(name)) or [1] * rank
    if len(values) != rank:
        raise UnsupportedNodeError(f"{name} has {len(values)} values, not {rank}")
    channels = 1 if context.is_nchw() else rank - 1
    if values[0] != 1 or values[channels] != 1:
        raise UnsupportedNodeError(f"{name} {values} over batch or channels")
    del values[channels]
    return values[1:]


def _window_attrs(context: Context) -> dict[str, Any]:
    """Padding and strides, and the data format if it is NCHW."""
    attrs: dict[str, Any] = {"strides": _spatial(context, "strides")}
    padding = context.node.string("padding", "VALID")
    if padding in ("SAME", "VALID"):
        attrs["padding"] = padding
    elif padding == "EXPLICIT":
        pads = context.node.ints("explicit_paddings")
        if len(pads) != 8:
            raise UnsupportedNodeError(f"explicit_paddings has {len(pads)} values")
        h, w = (4, 6) if context.is_nchw() else (2, 4)
        attrs["padding"] = "EXPLICIT"
        attrs["pads"] = [pads[h], pads[w], pads[h + 1], pads[w + 1]]
    else:
        raise UnsupportedNodeError(f"padding is {padding!r}")
    if context.is_nchw():
        attrs["data_format"] = "NCHW"
    return attrs


def _filter(context: Context, rank: int = 4) -> Constant:
    hint = "freeze the model, so that its filters are constants"
    constant = known_elements(context.input(1), "the filter", hint)
    if len(constant.shape) != rank:
        raise UnsupportedNodeError(f"filter has {len(constant.shape)} dimensions")
    return constant


def _turned_filter(context: Context, perm: tuple[int, ...]) -> Value:
    name = f"{context.node.name}/filter"
    return context.builder.transposed_constant(name, _filter(context), perm)


@HANDLERS.register("Conv2D")
def conv2d(context: Context) -> None:
    """[KH, KW, I, O] filters; groups follow from the channels."""
    attrs = _window_attrs(context)
    attrs["dilations"] = _spatial(context, "dilations")
    depth, image = _filter(context).shape[2], context.input(0).shape
    channels = None
    if image is not None and len(image) == 4:
        channels = image[1 if context.is_nchw() else 3]
    if isinstance(channels, int):
        attrs["groups"] = groups_of(channels, depth)
    filters = _turned_filter(context, (3, 0, 1, 2))
    context.emit("Conv2D", [context.input(0), filters], **attrs)


def groups_of(channels: int, depth: int) -> int:
    """The groups of a convolution, by the channels of the image and of the filter."""
    if not depth or channels % depth:
        raise UnsupportedNodeError(
            f"{channels} channels do not fit a filter of {depth}"
        )
    return channels // depth


@HANDLERS.register("DepthwiseConv2dNative")
def depthwise_conv2d(context: Context) -> None:
    """[KH, KW, C, M] filters, like those of MACE."""
    attrs = _window_attrs(context)
    attrs["dilations"] = _spatial(context, "dilations")
    _filter(context)  # refuses what is none
    context.emit("DepthwiseConv2d", [context.input(0), context.input(1)], **attrs)


@HANDLERS.register("Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput")
def transposed_conv2d(context: Context) -> None:
    """[KH, KW, O, C] filters, the output's shape first; if it is depthwise, output
    channel o is the sum over C inputs.
    """
    filters = _turned_filter(context, (2, 0, 1, 3))
    attrs = transposed_attrs(context, filters.shape)
    if context.node.op.startswith("Depthwise"):
        attrs["groups"] = filters.shape[0] if filters.shape else 1
    context.emit("Deconv2D", [context.input(2), filters], **attrs)


def transposed_attrs(context: Context, filter_shape: Shape | None) -> dict[str, Any]:
    """Strides, dilations, pads and output padding. The node is the gradient of a
    convolution whose input has the given size; its padding is that of the convolution.
    """
    attrs = _window_attrs(context)
    attrs["dilations"] = _spatial(context, "dilations")
    padding, pads = attrs.pop("padding"), attrs.pop("pads", [0] * 4)
    wanted = context.ints(0, "the output's shape")
    x = context.input(2)
    h, w = (2, 3) if context.is_nchw() else (1, 2)
    height, width = (context.shape(x)[axis] for axis in (h, w))
    what = f"height and width of {x.name} are"
    image = context.known_dims([height, width], what)
    # Some programs write only height and width.
    sizes = wanted if len(wanted) == 2 else [wanted[h], wanted[w]]
    added = []
    for i, size in enumerate(image):
        kernel = filter_shape[i + 1] if filter_shape else None
        assert isinstance(kernel, int)
        extent = (kernel - 1) * attrs["dilations"][i] + 1
        reach = attrs["strides"][i] * (size - 1) + extent
        if padding == "SAME":
            total = max(reach - sizes[i], 0)
            pads[i], pads[i + 2] = total // 2, total - total // 2
        added.append(sizes[i] - reach + pads[i] + pads[i + 2])
    if min(added) < 0:
        raise UnsupportedNodeError(
            f"an output of {sizes[0]} x {sizes[1]} does not follow from an input of "
            f"{image[0]} x {image[1]}"
        )
    attrs["pads"], attrs["output_padding"] = pads, added
    return attrs


@HANDLERS.register("MaxPool", "AvgPool")
def pool(context: Context) -> None:
    """Averages do not count padding, like those of MACE by default."""
    context.emit(
        "Pooling",
        [context.input(0)],
        mode="MAX" if context.node.op == "MaxPool" else "AVG",
        kernels=_spatial(context, "ksize"),
        **_window_attrs(context),
    )


@HANDLERS.register("LRN")
def local_response_norm(context: Context) -> None:
    """TensorFlow's alpha multiplies the plain sum, as in MACE."""
    radius = context.node.integer("depth_radius", 5)
    context.emit(
        "LocalResponseNorm",
        [context.input(0)],
        before=radius,
        after=radius,
        alpha=context.node.number("alpha", 1.0),
        beta=context.node.number("beta", 0.5),
        bias=context.node.number("bias", 1.0),
    )


@HANDLERS.register("MaxPoolV2")
def max_pool(context: Context) -> None:
    """MaxPool whose window and strides are inputs."""
    attrs = _window_attrs(context)
    for index, name, own in ((1, "ksize", "kernels"), (2, "strides", "strides")):
        attrs[own] = _spatial(context, name, context.ints(index, name))
    context.emit("Pooling", [context.input(0)], mode="MAX", **attrs)


@HANDLERS.register("BiasAdd", "BiasAddV1")
def bias_add(context: Context) -> None:
    """Adds a value per channel."""
    bias = context.input(1)
    after = context.rank(0) - 2 if context.is_nchw() else 0
    if after > 0:
        axes = list(range(1, after + 1))
        bias = context.step("ExpandDims", [bias], "bias", axes=axes)
    context.emit_eltwise("ADD", context.input(0), bias)


@HANDLERS.register("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm(context: Context) -> None:
    """The form for inference: inputs 3 and 4 are the moving statistics."""
    if context.node.flag("is_training", True):
        raise UnsupportedNodeError(
            "is_training is set: statistics of the batch are needed",
            "export the model for inference",
        )
    gamma, beta, mean, variance = (
        np.asarray(context.values(i + 1, what), np.float64)
        for i, what in enumerate(("scale", "offset", "mean", "variance"))
    )
    scale = gamma / np.sqrt(variance + context.node.number("epsilon", 1e-4))
    numbers = [scale, beta - mean * scale]
    inputs = [context.constant(a.astype(np.float32), "factor") for a in numbers]
    attrs = {"data_format": "NCHW"} if context.is_nchw() else {}
    context.emit("BatchNorm", [context.input(0), *inputs], **attrs)


@HANDLERS.register("Conv3D")
def conv3d(context: Context) -> None:
    """[KD, KH, KW, I, O] filters."""
    _emit_volume(context, convolved_volume(context))


@HANDLERS.register("Conv3DBackpropInputV2")
def conv3d_backprop(context: Context) -> None:
    """The output's shape, a filter [KD, KH, KW, O, I], and the volume."""
    _emit_volume(context, convolved_back_volume(context))


def convolved_volume(context: Context, bias: Value | None = None) -> Value:
    """A convolution, with channels last."""
    shape = _filter(context, _VOLUME).shape
    x = _channels_last(context, 0)
    groups = groups_of(sizes_of(x)[3], shape[3])
    window = _padded(context, _volume_window(context, shape[:3], "dilations"), x)
    filters = _volume_filter(context, (4, 3, 0, 1, 2))
    return convolved(context.make, x, filters, bias, window, groups)


def convolved_back_volume(context: Context, bias: Value | None = None) -> Value:
    """A transposed convolution, with channels last."""
    shape = _filter(context, _VOLUME).shape
    x = _channels_last(context, 2)
    wanted = context.ints(0, "the output's shape")
    sizes = sizes_of(x)
    if len(wanted) == _VOLUME:
        wanted = wanted[2:] if context.is_nchw() else wanted[1:4]
    if len(wanted) != 3 or shape[4] != sizes[3]:
        raise UnsupportedNodeError(
            f"an output of {wanted} and {sizes[3]} channels for a filter of "
            f"{list(shape)}"
        )
    window = []
    for axis, size, length in zip(
        _volume_window(context, shape[:3], "dilations"), wanted, sizes
    ):
        if context.node.string("padding", "VALID") == "SAME":
            axis = axis.padded_same(size, True)
        reach = axis.stride * (length - 1) + axis.extent
        added = size - reach + axis.before + axis.after
        if not 0 <= added < max(axis.stride, 2):
            raise UnsupportedNodeError(
                f"an output of {size} does not follow from an input of {length}"
            )
        window.append(replace(axis, added=added))
    filters = _volume_filter(context, (3, 4, 0, 1, 2))
    return convolved_back(context.make, x, filters, bias, window, 1)


def _volume_filter(context: Context, perm: tuple[int, ...]) -> Value:
    """The filter as convolutions of images have it, by its order [O, C, D, H, W]."""
    constant = _filter(context, _VOLUME)
    turned = constant.moved(
        lambda a: a.transpose(perm), tuple(constant.shape[i] for i in perm)
    )
    name = context.builder.graph.unique_name(f"{context.node.name}/filter")
    return context.builder.graph.add_constant(name, image_filter(turned))


@HANDLERS.register("MaxPool3D", "AvgPool3D")
def pool3d(context: Context) -> None:
    """Averages do not count padding."""
    x = _channels_last(context, 0)
    sizes = _spatial(context, "ksize", rank=_VOLUME)
    window = _padded(context, _volume_window(context, sizes, ""), x)
    mode = "MAX" if context.node.op == "MaxPool3D" else "AVG"
    _emit_volume(context, pooled(context.make, x, mode, window, {}))


def _channels_last(context: Context, index: int) -> Value:
    x = context.input(index)
    if not context.is_nchw():
        return x
    perm = to_channels_last(_VOLUME)
    return context.step("Transpose", [x], "channels_last", perm=perm)


def _emit_volume(context: Context, result: Value) -> None:
    if context.is_nchw():
        context.emit("Transpose", [result], perm=to_channels_first(_VOLUME))
    else:
        context.pass_on(result)


def _volume_window(
    context: Context, kernel: Sequence[int], dilations: str
) -> list[Axis]:
    strides = _spatial(context, "strides", rank=_VOLUME)
    apart = _spatial(context, dilations, rank=_VOLUME) if dilations else [1] * 3
    return [Axis(*values) for values in zip(kernel, strides, apart)]


def _padded(context: Context, window: Sequence[Axis], x: Value) -> Sequence[Axis]:
    padding = context.node.string("padding", "VALID")
    if padding == "SAME":
        return [a.padded_same(size, True) for a, size in zip(window, sizes_of(x))]
    if padding != "VALID":
        raise UnsupportedNodeError(f"padding is {padding!r}")
    return window

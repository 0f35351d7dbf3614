# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions and matrix products."""

from __future__ import annotations

from typing import Any

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.importers.tf_operators.handlers.window import (
    spatial,
    window_attrs,
)
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import Shape


def _filter(context: Context, perm: tuple[int, ...] | None) -> Value:
    value = context.input(1)
    if value.constant is None:
        raise UnsupportedNodeError(
            f"filter {value.name} is computed at run time",
            "freeze the model, so that its filters are constants",
        )
    if len(value.constant.shape) != 4:
        raise UnsupportedNodeError(f"filter has {len(value.constant.shape)} dimensions")
    if perm is None:
        return value
    name = f"{context.node.name}/filter"
    return context.builder.transposed_constant(name, value.constant, perm)


@HANDLERS.register("Conv2D")
def conv2d(context: Context) -> None:
    """[KH, KW, I, O] filters; groups follow from the channels."""
    attrs = window_attrs(context)
    attrs["dilations"] = spatial(context, "dilations")
    filter_value = _filter(context, (3, 0, 1, 2))
    image = context.input(0).shape
    channels = None
    if image is not None and len(image) == 4:
        channels = image[1 if context.is_nchw() else 3]
    per_group = filter_value.shape[3] if filter_value.shape else None
    if isinstance(channels, int) and isinstance(per_group, int):
        if not per_group or channels % per_group:
            raise UnsupportedNodeError(
                f"{channels} channels do not fit a filter of {per_group}"
            )
        attrs["groups"] = channels // per_group
    context.emit("Conv2D", [context.input(0), filter_value], **attrs)


@HANDLERS.register("DepthwiseConv2dNative")
def depthwise_conv2d(context: Context) -> None:
    """[KH, KW, C, M] filters, like those of MACE."""
    attrs = window_attrs(context)
    attrs["dilations"] = spatial(context, "dilations")
    context.emit("DepthwiseConv2d", [context.input(0), _filter(context, None)], **attrs)


@HANDLERS.register("Conv2DBackpropInput")
def transposed_conv2d(context: Context) -> None:
    """tf.nn.conv2d_transpose: [KH, KW, O, C] filters, the output's shape first."""
    filters = _filter(context, (2, 0, 1, 3))
    attrs = transposed_attrs(context, filters.shape)
    context.emit("Deconv2D", [context.input(2), filters], **attrs)


@HANDLERS.register("DepthwiseConv2dNativeBackpropInput")
def transposed_depthwise(context: Context) -> None:
    """[KH, KW, O, M] filters; output channel o is the sum over M inputs."""
    filters = _filter(context, (2, 0, 1, 3))
    attrs = transposed_attrs(context, filters.shape)
    attrs["groups"] = filters.shape[0] if filters.shape else 1
    context.emit("Deconv2D", [context.input(2), filters], **attrs)


def transposed_attrs(context: Context, filter_shape: Shape | None) -> dict[str, Any]:
    """Strides, dilations, pads and output padding. The node is the gradient of a
    convolution whose input has the given size; its padding is that of the convolution.
    """
    attrs = window_attrs(context)
    attrs["dilations"] = spatial(context, "dilations")
    padding, pads = attrs.pop("padding"), attrs.pop("pads", [0] * 4)
    wanted = context.ints(0, "the output's shape")
    image = context.input(2).shape
    h, w = (2, 3) if context.is_nchw() else (1, 2)
    if image is None or not isinstance(image[h], int) or not isinstance(image[w], int):
        raise UnsupportedNodeError(
            f"height and width of {context.input(2).name} are not known",
            "give fixed input_shapes",
        )
    # Some programs write only height and width.
    sizes = wanted if len(wanted) == 2 else [wanted[h], wanted[w]]
    added = []
    for i, axis in enumerate((h, w)):
        kernel = filter_shape[i + 1] if filter_shape else None
        size = image[axis]
        assert isinstance(kernel, int) and isinstance(size, int)
        extent = (kernel - 1) * attrs["dilations"][i] + 1
        reach = attrs["strides"][i] * (size - 1) + extent
        if padding == "SAME":
            total = max(reach - sizes[i], 0)
            pads[i], pads[i + 2] = total // 2, total - total // 2
        added.append(sizes[i] - reach + pads[i] + pads[i + 2])
    if min(added) < 0:
        raise UnsupportedNodeError(
            f"an output of {sizes[0]} x {sizes[1]} does not follow from an input of "
            f"{image[h]} x {image[w]}"
        )
    attrs["pads"], attrs["output_padding"] = pads, added
    return attrs


@HANDLERS.register("MatMul")
def matmul(context: Context) -> None:
    """Product of two matrices."""
    context.emit(
        "MatMul",
        [context.input(0), context.input(1)],
        transpose_a=context.node.flag("transpose_a"),
        transpose_b=context.node.flag("transpose_b"),
    )


@HANDLERS.register("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(context: Context) -> None:
    """Products of the innermost matrices."""
    context.emit(
        "MatMul",
        [context.input(0), context.input(1)],
        transpose_a=context.node.flag("adj_x"),
        transpose_b=context.node.flag("adj_y"),
    )

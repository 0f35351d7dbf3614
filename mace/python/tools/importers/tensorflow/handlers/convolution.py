# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions and matrix products."""

from __future__ import annotations

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.tensorflow.context import HANDLERS, Context
from mace.python.tools.importers.tensorflow.handlers.window import (
    spatial,
    window_attrs,
)
from mace.python.tools.ir.graph import Value


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
    shape = value.constant.shape
    turned = value.constant.map(
        lambda array: array.transpose(perm), tuple(shape[i] for i in perm)
    )
    return context.builder.graph.add_constant(f"{context.node.name}/filter", turned)


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
    """[KH, KW, C, M] filters, as ours."""
    attrs = window_attrs(context)
    attrs["dilations"] = spatial(context, "dilations")
    context.emit("DepthwiseConv2d", [context.input(0), _filter(context, None)], **attrs)


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

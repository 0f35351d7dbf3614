# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes of convolution, pooling and what else works on images."""

from __future__ import annotations

from collections.abc import Sequence

from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.infer import INFERENCE, OutputType
from mace.python.tools.ir.shapes import Dim, Shape, compatible, format_shape
from mace.python.tools.ir.window import (
    channel_axis,
    image_shape,
    output_size,
    scaled_size,
    spatial_axes,
    transposed_size,
)


@INFERENCE.register("Conv2D", "Deconv2D")
def _conv2d(op: Op) -> list[OutputType]:
    x, filter_shape = op.input(0), _filter(op)
    out, kh, kw, in_per_group = filter_shape
    groups = op.attr("groups")
    if x.shape is None:
        return [OutputType(x.dtype, image_shape(op, None, (None,) * 2, out))]
    n, hw, c = _image(op, x.shape)
    if isinstance(c, int) and c != in_per_group * groups:
        raise ValueError(
            f"{c} input channels, but the filter {format_shape(filter_shape)}"
            f" with {groups} groups needs {in_per_group * groups}"
        )
    if out % groups:
        raise ValueError(f"{out} output channels in {groups} groups")
    _check_bias(op, out)
    if op.type == "Deconv2D":
        size = [transposed_size(op, i, k, hw[i]) for i, k in enumerate((kh, kw))]
        return [OutputType(x.dtype, image_shape(op, n, size, out))]
    size = [output_size(op, i, k, hw[i]) for i, k in enumerate((kh, kw))]
    shape = image_shape(op, n, size, out)
    residual = op.get_input(3)
    if residual is not None and not compatible(residual.shape, shape):
        raise ValueError(f"the residual must be {format_shape(shape)}")
    return [OutputType(x.dtype, shape)]


@INFERENCE.register("DepthwiseConv2d", "DepthwiseDeconv2d")
def _depthwise(op: Op) -> list[OutputType]:
    x, filter_shape = op.input(0), _filter(op)
    kh, kw, channels, multiplier = filter_shape
    out = channels * multiplier
    if x.shape is None:
        return [OutputType(x.dtype, image_shape(op, None, (None,) * 2, out))]
    n, hw, c = _image(op, x.shape)
    if isinstance(c, int) and c != channels:
        raise ValueError(f"{c} input channels, but {channels} in the filter")
    _check_bias(op, out)
    resized = transposed_size if op.type == "DepthwiseDeconv2d" else output_size
    size = [resized(op, i, k, hw[i]) for i, k in enumerate((kh, kw))]
    return [OutputType(x.dtype, image_shape(op, n, size, out))]


@INFERENCE.register("Pooling")
def _pooling(op: Op) -> list[OutputType]:
    x = op.input(0)
    if x.shape is None:
        return [OutputType(x.dtype, (None,) * 4)]
    n, hw, c = _image(op, x.shape)
    ceil_mode = op.attr("ceil_mode")
    size = [
        output_size(op, i, k, hw[i], ceil_mode)
        for i, k in enumerate(op.attr("kernels"))
    ]
    return [OutputType(x.dtype, image_shape(op, n, size, c))]


@INFERENCE.register("BatchNorm", "InstanceNorm")
def _by_channel(op: Op) -> list[OutputType]:
    x = op.input(0)
    if x.shape is not None:
        if not x.shape:
            raise ValueError("a scalar has no channels")
        channels = x.shape[channel_axis(op, len(x.shape))]
        for port in (1, 2):
            if not compatible(op.input(port).shape, (channels,)):
                raise ValueError(f"input {port} must be [{channels}]")
    return [OutputType(x.dtype, x.shape)]


@INFERENCE.register("LocalResponseNorm", "ChannelShuffle")
def _channels(op: Op) -> list[OutputType]:
    x = op.input(0)
    if x.shape is not None:
        _, _, c = _image(op, x.shape)
        groups = op.attrs.get("groups", 1)
        if isinstance(c, int) and isinstance(groups, int) and c % groups:
            raise ValueError(f"{c} channels in {groups} groups")
    return [OutputType(x.dtype, x.shape)]


@INFERENCE.register("Resize")
def _resize(op: Op) -> list[OutputType]:
    x, size = op.input(0), op.get_input(1)
    if size is not None and not compatible(size.shape, (2,)):
        raise ValueError(f"the size must be [2], not {format_shape(size.shape)}")
    given: Sequence[int] | None = op.attr("size") or None
    if size is not None and size.is_constant:
        given = [int(v) for v in size.numpy()]
    if x.shape is None:
        return [OutputType(x.dtype, (None,) * 4)]
    n, hw, c = _image(op, x.shape)
    if given is not None:
        return [OutputType(x.dtype, image_shape(op, n, given, c))]
    if size is not None:
        return [OutputType(x.dtype, image_shape(op, n, (None, None), c))]
    scaled = [
        scaled_size(dim, scale) if isinstance(dim, int) else None
        for dim, scale in zip(hw, op.attr("scales"))
    ]
    return [OutputType(x.dtype, image_shape(op, n, scaled, c))]


@INFERENCE.register("DepthToSpace", "SpaceToDepth")
def _blocks(op: Op) -> list[OutputType]:
    x, block = op.input(0), op.attr("block")
    if x.shape is None:
        return [OutputType(x.dtype, (None,) * 4)]
    n, hw, c = _image(op, x.shape)
    if op.type == "DepthToSpace":
        depth = _divided(c, block * block, "channels")
        return [OutputType(x.dtype, image_shape(op, n, _times(hw, block), depth))]
    size = [_divided(dim, block, what) for dim, what in zip(hw, ("rows", "columns"))]
    (depth,) = _times((c,), block * block)
    return [OutputType(x.dtype, image_shape(op, n, size, depth))]


def _times(dims: Sequence[Dim], factor: int) -> list[Dim]:
    return [dim * factor if isinstance(dim, int) else None for dim in dims]


def _divided(dim: Dim, divisor: int, what: str) -> Dim:
    if not isinstance(dim, int):
        return None
    if dim % divisor:
        raise ValueError(f"{dim} {what} are not divisible by {divisor}")
    return dim // divisor


def _filter(op: Op) -> tuple[int, int, int, int]:
    value = op.input(1)
    if value.constant is None:
        raise ValueError(f"the filter {value.name} must be a constant")
    if len(value.constant.shape) != 4:
        raise ValueError("the filter must have 4 dimensions")
    a, b, c, d = value.constant.shape
    return a, b, c, d


def _check_bias(op: Op, out: int) -> None:
    bias = op.get_input(2)
    if bias is not None and not compatible(bias.shape, (out,)):
        raise ValueError(f"the bias must be [{out}]")


def _image(op: Op, shape: Shape) -> tuple[Dim, tuple[Dim, Dim], Dim]:
    if len(shape) != 4:
        raise ValueError(f"needs 4 dimensions, not {len(shape)}")
    h, w = spatial_axes(op)
    return shape[0], (shape[h], shape[w]), shape[channel_axis(op, 4)]

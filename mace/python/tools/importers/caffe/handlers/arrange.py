# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers that move elements, and layers that do nothing in inference."""

from __future__ import annotations

import math
from typing import Any

from mace.python.tools.importers.caffe.layer import HANDLERS, NCHW, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError

# More copies than any network makes; a damaged file may ask for them.
_MOST_COPIES = 4096


@HANDLERS.register("Split")
def _split(layer: Layer) -> None:
    for index in range(len(layer.tops)):
        layer.set_top(index, layer.bottom())


@HANDLERS.register("Dropout")
def _dropout(layer: Layer) -> None:
    param = layer.proto.dropout_param
    if param.scale_train:
        layer.set_top(0, layer.bottom())
        return
    layer.emit_eltwise("MUL", layer.bottom(), 1 - param.dropout_ratio)


@HANDLERS.register("Silence")
def _silence(layer: Layer) -> None:
    """It has no tops, so no output needs it."""


@HANDLERS.register("Parameter")
def _parameter(layer: Layer) -> None:
    shape = tuple(layer.proto.parameter_param.shape.dim)
    layer.set_top(0, layer.learned(0, shape, "blob"))


@HANDLERS.register("Concat")
def _concat(layer: Layer) -> None:
    param, values = layer.proto.concat_param, layer.bottoms
    rank = len(layer.shape(layer.bottom()))
    axis = layer.axis(_deprecated(param, "concat_dim"), rank)
    if len(values) == 1:
        layer.set_top(0, values[0])
        return
    layer.emit("Concat", values, axis=axis)


def _deprecated(param: Any, old: str) -> int:
    """The axis, which has an older name."""
    if param.HasField(old) and param.HasField("axis"):
        raise UnsupportedNodeError(f"both axis and {old} are given")
    return int(getattr(param, old if param.HasField(old) else "axis"))


@HANDLERS.register("Slice")
def _slice(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.slice_param
    dims = layer.shape(x)
    axis = layer.axis(_deprecated(param, "slice_dim"), len(dims))
    length, count = layer.length(x, axis), len(layer.tops)
    points = [0, *param.slice_point, length]
    if not param.slice_point:
        if count == 0 or length % count:
            raise UnsupportedNodeError(f"{length} elements in {count} equal parts")
        points = list(range(0, length + 1, length // count)) if length else []
    sizes = [end - begin for begin, end in zip(points, points[1:])]
    if len(sizes) != count or any(size < 1 for size in sizes):
        raise UnsupportedNodeError(
            f"slice_point {list(param.slice_point)} of {length} elements for {count} "
            "tops"
        )
    if count == 1:
        layer.set_top(0, x)
        return
    layer.emit_all("Split", [x], axis=axis, sizes=sizes)


@HANDLERS.register("Crop")
def _crop(layer: Layer) -> None:
    x, like, param = layer.bottom(), layer.bottom(1), layer.proto.crop_param
    dims, wanted = layer.shape(x), layer.static_shape(like)
    if len(dims) != len(wanted):
        raise UnsupportedNodeError(
            f"its bottoms have {len(dims)} and {len(wanted)} dimensions"
        )
    first = layer.axis(param.axis, len(dims))
    axes = list(range(first, len(dims)))
    offsets = list(param.offset) or [0]
    if len(offsets) == 1:
        offsets *= len(axes)
    if len(offsets) != len(axes):
        raise UnsupportedNodeError(f"{len(offsets)} offsets for {len(axes)} axes")
    own = layer.static_shape(x)
    ends = [offset + wanted[axis] for offset, axis in zip(offsets, axes)]
    if any(end > own[axis] for end, axis in zip(ends, axes)):
        raise UnsupportedNodeError(
            f"offsets {offsets} and the size {list(wanted)} exceed {list(own)}"
        )
    if list(own) == [*own[:first], *wanted[first:]]:
        layer.set_top(0, x)
        return
    attrs = {"axes": axes, "begins": offsets, "ends": ends, "strides": [1] * len(axes)}
    layer.emit("StridedSlice", [x], **attrs)


@HANDLERS.register("Flatten")
def _flatten(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.flatten_param
    dims = layer.shape(x)
    first = layer.axis(param.axis, len(dims))
    last = layer.axis(param.end_axis, len(dims))
    if last < first:
        raise UnsupportedNodeError(f"end_axis {last} is before axis {first}")
    if last == len(dims) - 1:
        layer.emit("Reshape", [x], shape=[*[0] * first, -1])
        return
    own = layer.static_shape(x)
    middle = math.prod(own[first : last + 1])
    layer.emit("Reshape", [x], shape=[*[0] * first, middle, *own[last + 1 :]])


@HANDLERS.register("Reshape")
def _reshape(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.reshape_param
    dims = layer.shape(x)
    rank = len(dims)
    start = param.axis if param.axis >= 0 else param.axis + rank + 1
    end = rank if param.num_axes == -1 else start + param.num_axes
    if not 0 <= start <= rank or not start <= end <= rank:
        raise UnsupportedNodeError(
            f"axis {param.axis} and num_axes {param.num_axes} for {rank} dimensions"
        )
    new = list(param.shape.dim)
    if new.count(-1) > 1 or any(dim < -1 for dim in new):
        raise UnsupportedNodeError(f"shape {new}; at most one -1 is valid")
    if any(dim == 0 and start + at >= rank for at, dim in enumerate(new)):
        raise UnsupportedNodeError(f"shape {new} copies a dimension that is not there")
    if (start, end) == (0, rank):
        layer.emit("Reshape", [x], shape=new)
        return
    own = layer.static_shape(x)
    new = [own[start + at] if dim == 0 else dim for at, dim in enumerate(new)]
    layer.emit("Reshape", [x], shape=[*own[:start], *new, *own[end:]])


@HANDLERS.register("Permute")
def _permute(layer: Layer) -> None:
    x = layer.bottom()
    rank, order = len(layer.shape(x)), list(layer.proto.permute_param.order)
    # Axes that are not named come afterwards, in order.
    order += [axis for axis in range(rank) if axis not in order]
    if sorted(order) != list(range(rank)):
        raise UnsupportedNodeError(f"order {order} is no order of {rank} axes")
    layer.emit("Transpose", [x], perm=order)


@HANDLERS.register("Tile")
def _tile(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.tile_param
    axis = layer.axis(param.axis, len(layer.shape(x)))
    if not 1 <= param.tiles <= _MOST_COPIES:
        raise UnsupportedNodeError(f"tiles is {param.tiles}; 1 to {_MOST_COPIES} work")
    if param.tiles == 1:
        layer.set_top(0, x)
        return
    layer.emit("Concat", [x] * param.tiles, axis=axis)


@HANDLERS.register("ShuffleChannel", "ChannelShuffle")
def _shuffle(layer: Layer) -> None:
    x, groups = layer.bottom(), layer.proto.shuffle_channel_param.group
    channels = layer.static_image(x)[1]
    if groups < 1 or channels % groups:
        raise UnsupportedNodeError(f"{channels} channels in {groups} groups")
    layer.emit("ChannelShuffle", [x], **NCHW, groups=groups)


@HANDLERS.register("Reorg")
def _reorg(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.reorg_param
    n, channels, height, width = layer.static_image(x)
    stride = param.stride
    if param.reverse:
        raise UnsupportedNodeError("reverse is true")
    if stride < 1 or channels % stride**2 or height % stride or width % stride:
        raise UnsupportedNodeError(
            f"stride {stride} for {channels} channels of {height} x {width}"
        )
    # Darknet views the input as an image with stride * stride times as many pixels,
    # and takes it apart.
    view = [n, channels // stride**2, height, stride, width, stride]
    parts = layer.make("Reshape", [x], shape=view)
    parts = layer.make("Transpose", [parts], perm=[0, 3, 5, 1, 2, 4])
    layer.emit(
        "Reshape",
        [parts],
        shape=[n, channels * stride**2, height // stride, width // stride],
    )


@HANDLERS.register("Interp")
def _interp(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.interp_param
    dims = layer.static_image(x)
    if param.pad_beg > 0 or param.pad_end > 0:
        raise UnsupportedNodeError("pad_beg or pad_end is positive")
    size = [dim + param.pad_beg + param.pad_end for dim in dims[2:]]
    if any(dim < 1 for dim in size):
        raise UnsupportedNodeError("pad_beg and pad_end leave nothing")
    if param.pad_beg or param.pad_end:
        begins = [-param.pad_beg] * 2
        ends = [begin + dim for begin, dim in zip(begins, size)]
        sides = {"axes": [2, 3], "begins": begins, "ends": ends, "strides": [1, 1]}
        x = layer.make("StridedSlice", [x], **sides)
    attrs: dict[str, Any] = {**NCHW, "mode": "LINEAR", "coordinates": "ALIGN_CORNERS"}
    layer.emit("Resize", [x], **attrs, size=_interp_size(layer, size))


def _interp_size(layer: Layer, size: list[int]) -> list[int]:
    param = layer.proto.interp_param
    if len(layer.bottoms) > 1:
        return list(layer.static_image(layer.bottom(1))[2:])
    if param.HasField("height") and param.HasField("width"):
        wanted = [param.height, param.width]
    else:
        zoom, shrink = param.zoom_factor, param.shrink_factor
        if zoom < 1 or shrink < 1:
            raise UnsupportedNodeError("zoom_factor or shrink_factor is less than 1")
        wanted = [(dim - 1) // shrink + 1 for dim in size]
        wanted = [dim + (dim - 1) * (zoom - 1) for dim in wanted]
    if any(dim < 1 for dim in wanted):
        raise UnsupportedNodeError(f"the size is {wanted}")
    return wanted


@HANDLERS.register("Upsample")
def _upsample(layer: Layer) -> None:
    x, scale = layer.bottom(), layer.proto.upsample_param.scale
    if len(layer.bottoms) > 1:
        raise UnsupportedNodeError("a second bottom, the positions of maxima")
    dims = layer.static_image(x)
    if scale < 1:
        raise UnsupportedNodeError(f"scale is {scale}")
    size = [dim * scale for dim in dims[2:]]
    # Each pixel becomes scale x scale equal ones.
    attrs: dict[str, Any] = {**NCHW, "mode": "NEAREST", "coordinates": "ASYMMETRIC"}
    layer.emit("Resize", [x], **attrs, rounding="FLOOR", size=size)

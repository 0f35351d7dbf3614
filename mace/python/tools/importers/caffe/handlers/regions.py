# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Regions that a network proposes itself, as Faster R-CNN and R-FCN do, and their
pooling.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.caffe.handlers.detection import (
    from_centre,
    part,
    several,
    suppress,
)
from mace.python.tools.importers.caffe.layer import HANDLERS, NCHW, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import NCHW_TO_NHWC

_LOWEST = float(np.finfo(np.float32).min)
_MOST_BOXES = 1 << 22
_LARGEST_POOL = 65536


@HANDLERS.register("Proposal")
def _proposal(layer: Layer) -> None:
    """Always post_nms_topn rows; those behind the proposals are 0, as in OpenCV."""
    param = layer.proto.proposal_param
    anchors = _anchors(layer, param)
    total = len(anchors)
    image = layer.bottom(2)
    if math.prod(layer.static_shape(image)) < 3:
        raise UnsupportedNodeError(
            f"the image information has the shape {list(layer.static_shape(image))}; "
            "height, width and scale are needed"
        )
    image = layer.make("Reshape", [image], shape=[-1])
    boxes = _decode(layer, anchors, image)
    scores = _objects(layer, total)
    if param.min_size > 0:
        scores = _large_enough(layer, boxes, scores, image, param.min_size)
    keep = param.pre_nms_topn
    if 0 < keep < total:
        scores, order = several(layer, "TopK", [scores], 2, k=keep, axis=0)
        boxes = layer.make("Gather", [boxes, order], axis=0)
        total = keep
    most = min(param.post_nms_topn, total)
    found = suppress(
        layer,
        _one(layer, _wider(layer, boxes)),
        layer.make("Reshape", [scores], shape=[1, 1, total]),
        most,
        iou_threshold=param.nms_thresh,
        score_threshold=_LOWEST,
    )
    place = found.column(layer, 2)
    numbers = layer.literal(np.arange(most)[:, None], DataType.INT32)
    counts = layer.eltwise("LESS", numbers, found.count)
    zero = layer.literal(0)
    chosen = layer.make("Gather", [boxes, place], axis=0)
    chosen = layer.make("Where", [counts, chosen, zero])
    rest = param.post_nms_topn - most
    # The first column is the image.
    layer.set_top(0, layer.make("Pad", [chosen], pads=[0, rest, 1, 0]))
    if len(layer.tops) > 1:
        best = layer.make("Gather", [scores, place], axis=0)
        best = layer.make("ExpandDims", [best], axes=[1])
        best = layer.make("Where", [counts, best, zero])
        layer.set_top(1, layer.make("Pad", [best], pads=[0, rest, 0, 0]))


def _anchors(layer: Layer, param: Any) -> Array:
    """[height * width * anchors, 4]: corners, whose last elements are inside."""
    scores, places = (layer.static_shape(layer.bottom(i)) for i in range(2))
    ratios, scales = list(param.ratio), list(param.scale)
    count = len(ratios) * len(scales)
    if len(layer.bottoms) != 3 or len(layer.tops) > 2:
        problem = "3 bottoms and at most 2 tops are supported"
    elif not count or min(*ratios, *scales, 1) <= 0:
        problem = "ratio and scale are missing or not positive"
    elif len(scores) != 4 or scores[:2] != (1, 2 * count):
        problem = (
            f"scores of shape {list(scores)}; [1, {2 * count}, H, W] is needed for "
            f"{count} anchors"
        )
    elif places != (1, 4 * count, *scores[2:]):
        problem = f"boxes of shape {list(places)} for scores {list(scores)}"
    elif not 0 <= param.nms_thresh <= 1 or not param.post_nms_topn:
        problem = "nms_thresh must be within [0, 1], and post_nms_topn positive"
    elif not 0 < math.prod(scores) <= _MOST_BOXES or (
        max(param.post_nms_topn, param.pre_nms_topn, param.feat_stride, param.base_size)
        > _MOST_BOXES
    ):
        problem = f"scores of shape {list(scores)} or numbers of boxes are too large"
    else:
        return _grid(param, ratios, scales, scores[2:])
    raise UnsupportedNodeError(problem)


def _grid(
    param: Any, ratios: Sequence[float], scales: Sequence[float], size: Sequence[int]
) -> Array:
    shapes = []
    for ratio in ratios:
        width = math.floor(param.base_size / math.sqrt(ratio) + 0.5)
        height = math.floor(width * ratio + 0.5)
        shapes += [(scale * width, scale * height) for scale in scales]
    half = np.asarray(shapes, np.float64) / 2
    y, x = (np.arange(n) * param.feat_stride + param.base_size / 2 for n in size)
    centre = np.stack(np.broadcast_arrays(x[None, :], y[:, None]), -1)[:, :, None]
    corners = np.concatenate([centre - half, centre + half - 1], -1)
    return corners.reshape(-1, 4).astype(np.float32)


def _decode(layer: Layer, anchors: Array, image: Value) -> Value:
    """[boxes, 4]: within the image."""
    places = layer.make("Transpose", [layer.bottom(1)], perm=NCHW_TO_NHWC)
    places = layer.make("Reshape", [places], shape=[len(anchors), 4])
    size = anchors[:, 2:] - anchors[:, :2] + 1
    centre = anchors[:, :2] + size / 2
    boxes = from_centre(layer, places, layer.literal(centre), layer.literal(size))
    ends = layer.make(
        "Gather", [image, layer.literal([1, 0, 1, 0], DataType.INT32)], axis=0
    )
    last = layer.eltwise("SUB", ends, layer.literal(1))
    boxes = layer.eltwise("MIN", boxes, last)
    return layer.eltwise("MAX", boxes, layer.literal(0))


def _objects(layer: Layer, total: int) -> Value:
    """[boxes]: scores of the second half of the channels."""
    channels = layer.static_shape(layer.bottom())[1]
    scores = part(layer, layer.bottom(), 1, channels // 2, channels)
    scores = layer.make("Transpose", [scores], perm=NCHW_TO_NHWC)
    return layer.make("Reshape", [scores], shape=[total])


def _large_enough(
    layer: Layer, boxes: Value, scores: Value, image: Value, least: int
) -> Value:
    """Scores; the lowest one for boxes that are smaller than `least`."""
    low, high = part(layer, boxes, 1, 0, 2), part(layer, boxes, 1, 2, 4)
    size = layer.eltwise("SUB", high, low)
    size = layer.make("Reduce", [size], mode="MIN", axes=[1], keep_dims=False)
    size = layer.eltwise("ADD", size, layer.literal(1))
    limit = layer.eltwise("MUL", part(layer, image, 0, 2, 3), layer.literal(least))
    large = layer.eltwise("GREATER_EQUAL", size, limit)
    return layer.make("Where", [large, scores, layer.literal(-np.inf)])


def _wider(layer: Layer, boxes: Value) -> Value:
    """Boxes that end behind their last elements, so that areas count elements."""
    return layer.eltwise("ADD", boxes, layer.literal([0, 0, 1, 1]))


def _one(layer: Layer, value: Value) -> Value:
    return layer.make("ExpandDims", [value], axes=[0])


@HANDLERS.register("ROIPooling")
def _roi_pooling(layer: Layer) -> None:
    param = layer.proto.roi_pooling_param
    _pool(layer, (param.pooled_h, param.pooled_w), param.spatial_scale, "MAX")


@HANDLERS.register("PSROIPooling")
def _psroi_pooling(layer: Layer) -> None:
    param = layer.proto.psroi_pooling_param
    check_groups(layer, param)
    size = (param.group_size, param.group_size)
    _pool(layer, size, param.spatial_scale, "POSITION_SENSITIVE")


def _pool(layer: Layer, size: tuple[int, int], scale: float, mode: str) -> None:
    corners, images = regions_of(layer)
    layer.emit(
        "RoiPool",
        [layer.bottom(), corners, images],
        **NCHW,
        **pooled(size),
        scale=scale,
        mode=mode,
    )


def pooled(size: tuple[int, int]) -> dict[str, int]:
    """The attributes for a height and a width."""
    if not 0 < min(size) <= max(size) <= _LARGEST_POOL:
        raise UnsupportedNodeError(f"pools {size[0]} x {size[1]}")
    return {"height": size[0], "width": size[1]}


def check_groups(layer: Layer, param: Any) -> None:
    """Raises unless the channels are those of `output_dim` and `group_size`."""
    channels = layer.shape(layer.bottom())[1]
    if (
        min(param.group_size, param.output_dim) <= 0
        or channels != param.output_dim * param.group_size**2
    ):
        raise UnsupportedNodeError(
            f"{channels} channels for output_dim {param.output_dim} and group_size "
            f"{param.group_size}"
        )


def regions_of(layer: Layer) -> tuple[Value, Value]:
    """Corners, [R, 4], and images, int32 [R], of the second bottom."""
    regions = layer.bottom(1)
    dims = layer.static_shape(regions)
    if len(dims) < 2 or math.prod(dims[1:]) != 5 or len(layer.bottoms) > 2:
        raise UnsupportedNodeError(
            f"regions of shape {list(dims)}; image and corners, [R, 5], are needed"
        )
    if len(dims) > 2:
        regions = layer.make("Reshape", [regions], shape=[dims[0], 5])
    images = layer.make(
        "Cast", [part(layer, regions, 1, 0, 1, shrink=True)], to="INT32"
    )
    return part(layer, regions, 1, 1, 5), images

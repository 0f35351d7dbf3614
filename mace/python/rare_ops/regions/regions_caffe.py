# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Regions that a network proposes, pooling by position, and samples between elements.

Forks of Caffe define ROIAlign and PSROIAlign differently, and tell by a parameter that
they take samples as the definitions below do. `ROIAlign` is that of Detectron, with
`sampling_ratio`; `PSROIAlign` that of R-FCN with aligned regions, with `sample_num`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.caffe.handlers.detection import (
    LOWEST,
    from_centre,
    pool_regions,
    pool_size,
    regions_of,
    suppress,
)
from mace.python.tools.importers.caffe.layer import HANDLERS, NCHW, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import NCHW_TO_NHWC

_MOST_BOXES = 1 << 22


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
        scores, order = layer.make_all("TopK", [scores], 2, k=keep, axis=0)
        boxes = layer.make("Gather", [boxes, order], axis=0)
        total = keep
    most = min(param.post_nms_topn, total)
    # They end behind their last elements, so that areas count elements.
    wider = layer.eltwise("ADD", boxes, [0, 0, 1, 1])
    found = suppress(
        layer,
        layer.make("ExpandDims", [wider], axes=[0]),
        layer.make("Reshape", [scores], shape=[1, 1, total]),
        most,
        iou_threshold=param.nms_thresh,
        score_threshold=LOWEST,
    )
    place = found.column(layer, 2)
    counts = layer.eltwise("LESS", np.arange(most)[:, None], found.count)
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
    both = layer.literal([1, 0, 1, 0], DataType.INT32)
    ends = layer.make("Gather", [image, both], axis=0)
    boxes = layer.eltwise("MIN", boxes, layer.eltwise("SUB", ends, 1))
    return layer.eltwise("MAX", boxes, 0)


def _objects(layer: Layer, total: int) -> Value:
    """[boxes]: scores of the second half of the channels."""
    channels = layer.static_shape(layer.bottom())[1]
    scores = layer.part(layer.bottom(), 1, channels // 2, channels)
    scores = layer.make("Transpose", [scores], perm=NCHW_TO_NHWC)
    return layer.make("Reshape", [scores], shape=[total])


def _large_enough(
    layer: Layer, boxes: Value, scores: Value, image: Value, least: int
) -> Value:
    """Scores; the lowest one for boxes that are smaller than `least`."""
    low, high = layer.part(boxes, 1, 0, 2), layer.part(boxes, 1, 2, 4)
    size = layer.eltwise("SUB", high, low)
    size = layer.make("Reduce", [size], mode="MIN", axes=[1], keep_dims=False)
    size = layer.eltwise("ADD", size, 1)
    limit = layer.eltwise("MUL", layer.part(image, 0, 2, 3), least)
    large = layer.eltwise("GREATER_EQUAL", size, limit)
    return layer.make("Where", [large, scores, layer.literal(-np.inf)])


@HANDLERS.register("PSROIPooling")
def _psroi_pooling(layer: Layer) -> None:
    param = layer.proto.psroi_pooling_param
    _check_groups(layer, param)
    size = (param.group_size, param.group_size)
    pool_regions(layer, size, param.spatial_scale, "POSITION_SENSITIVE")


def _check_groups(layer: Layer, param: Any) -> None:
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


_MOST_SAMPLES = 64
# Of the sides of a region.
_LEAST = 0.1


@HANDLERS.register("ROIAlign")
def _roi_align(layer: Layer) -> None:
    param = layer.proto.roi_align_param
    samples = _stated(param, "sampling_ratio")
    corners, images = regions_of(layer)
    layer.emit(
        "RoiAlign",
        [layer.bottom(), corners, images],
        **NCHW,
        **pool_size((param.pooled_h, param.pooled_w)),
        scale=param.spatial_scale,
        # One for each element.
        samples=max(samples, 0),
    )


@HANDLERS.register("PSROIAlign")
def _psroi_align(layer: Layer) -> None:
    """y[r, d, i, j] = sum over h, w of rows[r, i, h] * columns[r, j, w] * x[h, w] in
    channel (d * group_size + i) * group_size + j.
    """
    param = layer.proto.psroi_align_param
    if _stated(param, "sample_num") < 1:
        raise UnsupportedNodeError(f"sample_num: {param.sample_num}")
    _check_groups(layer, param)
    group, dim = param.group_size, param.output_dim
    pool_size((group, group))
    corners, images = regions_of(layer)
    count = layer.static_shape(images)[0]
    batch, _, height, width = layer.static_shape(layer.bottom())
    rows = _weights(layer, corners, 1, height)
    columns = _weights(layer, corners, 0, width)
    # All rows of images that a column of the result reads, by the column.
    x = layer.make(
        "Reshape", [layer.bottom()], shape=[batch * dim * group, group, height, width]
    )
    x = layer.make("Transpose", [x], perm=[1, 0, 2, 3])
    x = layer.make("Reshape", [x], shape=[group, batch * dim * group * height, width])
    columns = layer.make("Transpose", [columns], perm=[1, 2, 0])
    y = layer.make("MatMul", [x, columns])
    y = layer.make("Reshape", [y], shape=[group * batch * dim, group, height, count])
    y = layer.eltwise("MUL", y, layer.make("Transpose", [rows], perm=[1, 2, 0]))
    y = layer.make("Reduce", [y], mode="SUM", axes=[2], keep_dims=False)
    y = layer.make("Reshape", [y], shape=[group, batch, dim * group, count])
    own = layer.eltwise("EQUAL", np.arange(batch)[:, None, None], images)
    own = layer.make("Cast", [own], to="FLOAT32")
    y = layer.eltwise("MUL", y, own)
    y = layer.make("Reduce", [y], mode="SUM", axes=[1], keep_dims=False)
    y = layer.make("Reshape", [y], shape=[group, dim, group, count])
    layer.emit("Transpose", [y], perm=[3, 1, 2, 0])


def _stated(param: Any, name: str) -> int:
    """The number of samples along an axis."""
    if not param.HasField(name):
        raise UnsupportedNodeError(
            f"forks of Caffe define it differently; only that with {name} is known",
            f"state {name}, if the network was trained with such a layer",
        )
    value = int(getattr(param, name))
    if value > _MOST_SAMPLES:
        raise UnsupportedNodeError(f"{name}: {value} is more than {_MOST_SAMPLES}")
    return value


def _weights(layer: Layer, corners: Value, axis: int, length: int) -> Value:
    """[R, group, length]: the share of each element of an axis in each mean of samples.

    Args:
        axis: 0 for x, 1 for y.
    """
    param = layer.proto.psroi_align_param
    group, samples, scale = param.group_size, param.sample_num, param.spatial_scale
    low = layer.eltwise("MUL", layer.part(corners, 1, axis, axis + 1), scale)
    high = layer.eltwise("ADD", layer.part(corners, 1, axis + 2, axis + 3), 1)
    side = layer.eltwise("SUB", layer.eltwise("MUL", high, scale), low)
    step = layer.eltwise("DIV", layer.eltwise("MAX", side, _LEAST), group)
    ends = layer.eltwise("MUL", step, np.arange(group + 1))
    ends = layer.eltwise("MIN", layer.eltwise("ADD", ends, low), length - 1)
    ends = layer.eltwise("MAX", ends, 0)
    begin = _spread(layer, layer.part(ends, 1, 0, group))
    end = _spread(layer, layer.part(ends, 1, 1, group + 1))
    # [R, group, samples]
    between = layer.eltwise("DIV", _spread(layer, step), samples + 1)
    between = layer.eltwise("MUL", between, np.arange(samples) + 1)
    places = layer.eltwise("ADD", begin, between)
    inside = layer.make("Cast", [layer.eltwise("LESS", places, end)], to="FLOAT32")
    # [R, group, samples, length]: linear from 1 at the element to 0 at the next.
    distance = layer.eltwise("SUB", _spread(layer, places), np.arange(length))
    near = layer.eltwise("SUB", 1, layer.eltwise("ABS", distance))
    near = layer.eltwise("MUL", layer.eltwise("MAX", near, 0), _spread(layer, inside))
    return layer.make("Reduce", [near], mode="MEAN", axes=[2], keep_dims=False)


def _spread(layer: Layer, value: Value) -> Value:
    """With a last dimension of 1."""
    rank = len(layer.static_shape(value))
    return layer.make("ExpandDims", [value], axes=[rank])

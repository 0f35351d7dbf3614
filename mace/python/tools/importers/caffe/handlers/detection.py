# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Detections of SSD: prior boxes, and DetectionOutput with its non-maximum suppression;
and the pooling of regions.

The data determine how many boxes a layer finds. The graph computes as many rows as
there can be at most, and the number of rows that count (ir/counted.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mace.python.tools.importers.caffe.layer import HANDLERS, NCHW, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

_CORNER, _CENTER_SIZE, _CORNER_SIZE = 1, 2, 3
LOWEST = float(np.finfo(np.float32).min)
# Numbers of rows are summed in float32.
_MOST_ROWS = 1 << 24


@dataclass(frozen=True)
class Selected:
    """Rows that NonMaxSuppression writes; only the first ones count.

    Attributes:
        rows: [most, 3], image, class and box.
        count: [1], how many count.
        most: their number.
    """

    rows: Value
    count: Value
    most: int

    def column(self, layer: Layer, index: int) -> Value:
        """[most]: one of the columns."""
        return layer.part(self.rows, 1, index, index + 1, shrink=True)


def suppress(
    layer: Layer, boxes: Value, scores: Value, most: int, **limits: float
) -> Selected:
    """Boxes that overlap no better one.

    Args:
        boxes: [N, B, 4].
        scores: [N, C, B].
        most: to select of a class.
        limits: `iou_threshold` and `score_threshold`.
    """
    images, classes, _ = layer.static_shape(scores)
    rows, count = layer.make_all(
        "NonMaxSuppression", [boxes, scores], 2, max_boxes=most, **limits
    )
    return Selected(rows, count, images * classes * most)


@HANDLERS.register("DetectionOutput")
def _detection_output(layer: Layer) -> None:
    param = layer.proto.detection_output_param
    _check(layer, param)
    sizes = _Sizes.of(layer, param)
    boxes = _boxes(layer, param, sizes)
    classes = [c for c in range(sizes.classes) if c != param.background_label_id]
    shape = [sizes.images, sizes.boxes, sizes.classes]
    scores = layer.make("Reshape", [layer.bottom(1)], shape=shape)
    scores = layer.make("Transpose", [scores], perm=[0, 2, 1])
    if len(classes) < sizes.classes:
        kept = layer.literal(classes, DataType.INT32)
        scores = layer.make("Gather", [scores, kept], axis=1)
        if not param.share_location:
            boxes = layer.make("Gather", [boxes, kept], axis=1)
    _select(layer, param, sizes, classes, boxes, scores)


@dataclass(frozen=True)
class _Sizes:
    images: int
    boxes: int
    classes: int
    box_classes: int  # that have boxes of their own

    @classmethod
    def of(cls, layer: Layer, param: Any) -> _Sizes:
        places, scores, priors = (
            layer.static_shape(layer.bottom(index)) for index in range(3)
        )
        rows = 1 if param.variance_encoded_in_target else 2
        if len(priors) != 3 or priors[0] != 1 or priors[1] < rows or priors[2] % 4:
            raise UnsupportedNodeError(
                f"prior boxes of shape {list(priors)}; [1, 2, 4 * boxes] is needed"
            )
        boxes, images = priors[2] // 4, places[0] if places else 0
        own = 1 if param.share_location else param.num_classes
        for name, shape, depth in (
            ("locations", places, 4 * own),
            ("confidences", scores, param.num_classes),
        ):
            if math.prod(shape) != images * boxes * depth or not shape:
                raise UnsupportedNodeError(
                    f"{name} of shape {list(shape)} for {boxes} prior boxes and "
                    f"num_classes {param.num_classes}"
                )
        if not images or not boxes or images * boxes * param.num_classes > _MOST_ROWS:
            raise UnsupportedNodeError(
                f"{images} images, {boxes} boxes and {param.num_classes} classes"
            )
        return cls(images, boxes, param.num_classes, own)


def _check(layer: Layer, param: Any) -> None:
    if len(layer.bottoms) != 3:
        raise UnsupportedNodeError(
            f"has {len(layer.bottoms)} bottoms; locations, confidences and prior boxes "
            "are supported"
        )
    background = param.background_label_id
    others = param.num_classes - (0 <= background < param.num_classes)
    limits = param.nms_param
    if others < 1:
        problem = f"num_classes {param.num_classes} leaves none but the background"
    elif not param.normalized_bbox:
        problem = "normalized_bbox is false; boxes must be relative to the image"
    elif limits.eta != 1:
        problem = f"eta is {limits.eta}; an overlap that adapts is not supported"
    elif not 0 <= limits.nms_threshold <= 1:
        problem = f"nms_threshold is {limits.nms_threshold}, not within [0, 1]"
    elif any(count < -1 or count == 0 for count in (param.keep_top_k, limits.top_k)):
        problem = "keep_top_k and top_k must be positive, or -1 for all"
    else:
        return
    raise UnsupportedNodeError(problem)


def _boxes(layer: Layer, param: Any, sizes: _Sizes) -> Value:
    """[images, box classes, boxes, 4]: corners."""
    shape = [sizes.images, sizes.boxes, sizes.box_classes, 4]
    places = layer.make("Reshape", [layer.bottom()], shape=shape)
    places = layer.make("Transpose", [places], perm=[0, 2, 1, 3])
    prior = layer.part(layer.bottom(2), 1, 0, 1)
    prior = layer.make("Reshape", [prior], shape=[1, 1, sizes.boxes, 4])
    if not param.variance_encoded_in_target:
        factor = layer.part(layer.bottom(2), 1, 1, 2)
        factor = layer.make("Reshape", [factor], shape=[1, 1, sizes.boxes, 4])
        places = layer.eltwise("MUL", places, factor)
    if param.code_type == _CENTER_SIZE:
        boxes = from_centre(layer, places, *_centre_of(layer, prior))
    else:
        if param.code_type == _CORNER_SIZE:
            _, size = _centre_of(layer, prior)
            both = layer.make("Concat", [size, size], axis=3)
            places = layer.eltwise("MUL", places, both)
        boxes = layer.eltwise("ADD", places, prior)
    if param.clip:
        boxes = layer.eltwise("MAX", boxes, 0)
        boxes = layer.eltwise("MIN", boxes, 1)
    return boxes


def _centre_of(layer: Layer, prior: Value) -> tuple[Value, Value]:
    low, high = layer.part(prior, 3, 0, 2), layer.part(prior, 3, 2, 4)
    total = layer.eltwise("ADD", low, high)
    centre = layer.eltwise("MUL", total, 0.5)
    return centre, layer.eltwise("SUB", high, low)


def from_centre(layer: Layer, places: Value, centre: Value, size: Value) -> Value:
    """Corners from distances of centres and logarithms of sizes, [..., 4] in all."""
    axis = len(layer.shape(places)) - 1
    moved, scaled = layer.part(places, axis, 0, 2), layer.part(places, axis, 2, 4)
    centre = layer.eltwise("ADD", layer.eltwise("MUL", moved, size), centre)
    half = layer.eltwise("MUL", size, 0.5)
    half = layer.eltwise("MUL", layer.eltwise("EXP", scaled), half)
    corners = [layer.eltwise(mode, centre, half) for mode in ("SUB", "ADD")]
    return layer.make("Concat", corners, axis=axis)


def _without_area(layer: Layer, boxes: Value) -> Value:
    """Boxes that are turned around, as boxes that overlap none."""
    axis = len(layer.shape(boxes)) - 1
    low, high = layer.part(boxes, axis, 0, 2), layer.part(boxes, axis, 2, 4)
    high = layer.eltwise("MAX", low, high)
    return layer.make("Concat", [low, high], axis=axis)


def _select(
    layer: Layer,
    param: Any,
    sizes: _Sizes,
    classes: Sequence[int],
    boxes: Value,
    scores: Value,
) -> None:
    # A list is the boxes of one class of one image.
    lists = sizes.images * len(classes)
    length = sizes.boxes
    limit = param.nms_param.top_k
    own = 1 if param.share_location else len(classes)
    boxes = layer.make("Reshape", [boxes], shape=[sizes.images * own, length, 4])
    if 0 < limit < length:
        scores, order = layer.make_all("TopK", [scores], 2, k=limit, axis=2)
        groups = sizes.images * own
        shape = [groups, lists // groups * limit, 1]
        order = layer.make("Reshape", [order], shape=shape)
        boxes = layer.make("GatherNd", [boxes, order], batch_dims=1)
        length = limit
    elif own == 1 and len(classes) > 1:
        one = layer.make("ExpandDims", [boxes], axes=[1])
        boxes = layer.make("Concat", [one] * len(classes), axis=1)
    boxes = layer.make("Reshape", [boxes], shape=[lists, length, 4])
    scores = layer.make("Reshape", [scores], shape=[lists, 1, length])
    most = length if param.keep_top_k < 0 else min(length, param.keep_top_k)
    lowest = param.confidence_threshold
    found = suppress(
        layer,
        boxes if param.code_type == _CENTER_SIZE else _without_area(layer, boxes),
        scores,
        most,
        iou_threshold=param.nms_param.nms_threshold,
        score_threshold=lowest if param.HasField("confidence_threshold") else LOWEST,
    )
    number = found.column(layer, 0)  # of the list
    place = layer.eltwise("MUL", number, length)
    place = layer.eltwise("ADD", place, found.column(layer, 2))
    flat = layer.make("Reshape", [scores], shape=[lists * length])
    best = layer.make("Gather", [flat, place], axis=0)
    image = layer.eltwise("FLOOR_DIV", number, len(classes))
    keep = found.most // sizes.images
    if param.keep_top_k > 0:
        keep = min(keep, param.keep_top_k)
    rows, count = _best(layer, keep, sizes.images, found, image, best)
    number, place, best, image = (
        layer.make("Gather", [value, rows], axis=0)
        for value in (number, place, best, image)
    )
    flat = layer.make("Reshape", [boxes], shape=[lists * length, 4])
    labels = layer.literal(list(classes) * sizes.images)
    columns = [
        layer.make("Cast", [image], to="FLOAT32"),
        layer.make("Gather", [labels, number], axis=0),
        best,
    ]
    columns = [layer.make("ExpandDims", [value], axes=[1]) for value in columns]
    columns.append(layer.make("Gather", [flat, place], axis=0))
    table = layer.make("Concat", columns, axis=1)
    table = layer.make("Reshape", [table], shape=[1, 1, sizes.images * keep, 7])
    layer.builder.counted.add(table, Counted(count, 2))
    layer.set_top(0, table)


def _best(
    layer: Layer, keep: int, images: int, found: Selected, image: Value, scores: Value
) -> tuple[Value, Value]:
    """The rows with the highest scores of each image, by falling score as OpenCV has
    them, and their number.
    """
    none = layer.literal(-np.inf)
    counts = layer.eltwise("LESS", np.arange(found.most), found.count)
    scores = layer.make("Where", [counts, scores, none])
    if images > 1:  # those of one image in each row
        own = layer.eltwise("EQUAL", image, np.arange(images)[:, None])
        scores = layer.make("Where", [own, scores, none])
    else:
        scores = layer.make("ExpandDims", [scores], axes=[0])
    best, rows = layer.make_all("TopK", [scores], 2, k=keep, axis=1)
    total = images * keep
    best = layer.make("Reshape", [best], shape=[total])
    rows = layer.make("Reshape", [rows], shape=[total])
    is_found = layer.eltwise("GREATER", best, none)
    if images > 1:  # the rows that count come first
        places = layer.literal(np.arange(total), DataType.INT32)
        behind = layer.literal(np.arange(total, 2 * total), DataType.INT32)
        places = layer.make("Where", [is_found, places, behind])
        _, order = layer.make_all("TopK", [places], 2, k=total, axis=0, largest=False)
        rows = layer.make("Gather", [rows, order], axis=0)
    ones = layer.make("Cast", [is_found], to="FLOAT32")
    count = layer.make("Reduce", [ones], mode="SUM", axes=[0], keep_dims=True)
    return rows, layer.make("Cast", [count], to="INT32")


_SAME = 1e-6
_MOST_NUMBERS = 1 << 24


@HANDLERS.register("PriorBox")
def _prior_box(layer: Layer) -> None:
    param = layer.proto.prior_box_param
    height, width = layer.static_shape(layer.bottom())[2:4]
    image = _image_size(layer, param)
    steps = _prior_steps(param, image, (height, width))
    sizes = _box_sizes(param)
    if height * width * len(sizes) * 8 > _MOST_NUMBERS:
        raise UnsupportedNodeError(f"{height * width * len(sizes)} boxes are too many")
    y = (np.arange(height) + param.offset) * steps[0]
    x = (np.arange(width) + param.offset) * steps[1]
    half = np.asarray(sizes, np.float64) / 2  # width, height
    boxes = np.empty((height, width, len(sizes), 4))
    boxes[..., 0] = (x[None, :, None] - half[:, 0]) / image[1]
    boxes[..., 1] = (y[:, None, None] - half[:, 1]) / image[0]
    boxes[..., 2] = (x[None, :, None] + half[:, 0]) / image[1]
    boxes[..., 3] = (y[:, None, None] + half[:, 1]) / image[0]
    if param.clip:
        boxes = np.clip(boxes, 0, 1)
    variances = np.broadcast_to(_variances(param), boxes.shape)
    both = np.stack([boxes.reshape(-1), variances.reshape(-1)])[None]
    layer.set_top(0, layer.literal(both))


def _image_size(layer: Layer, param: Any) -> tuple[int, int]:
    if param.img_size and (param.img_h or param.img_w):
        raise UnsupportedNodeError("give either img_size, or img_h and img_w")
    if param.img_size:
        return param.img_size, param.img_size
    if param.img_h and param.img_w:
        return param.img_h, param.img_w
    height, width = layer.static_shape(layer.bottom(1))[2:4]
    return height, width


def _prior_steps(
    param: Any, image: Sequence[int], size: Sequence[int]
) -> tuple[float, float]:
    if param.HasField("step") and (
        param.HasField("step_h") or param.HasField("step_w")
    ):
        raise UnsupportedNodeError("give either step, or step_h and step_w")
    vertical, horizontal = param.step_h or param.step, param.step_w or param.step
    if not vertical or not horizontal:
        return image[0] / size[0], image[1] / size[1]
    return vertical, horizontal


def _box_sizes(param: Any) -> list[tuple[float, float]]:
    """Width and height of the boxes at each place, in the order of SSD."""
    least, largest = list(param.min_size), list(param.max_size)
    if not least or any(size <= 0 for size in least):
        raise UnsupportedNodeError("min_size is missing or not positive")
    if largest and len(largest) != len(least):
        raise UnsupportedNodeError(f"{len(largest)} max_size for {len(least)} min_size")
    ratios = _ratios(param)
    sizes = []
    for index, size in enumerate(least):
        sizes.append((size, size))
        if largest:
            if largest[index] <= size:
                raise UnsupportedNodeError(
                    f"max_size {largest[index]} is not more than min_size {size}"
                )
            middle = math.sqrt(size * largest[index])
            sizes.append((middle, middle))
        sizes += [(size * math.sqrt(r), size / math.sqrt(r)) for r in ratios]
    return sizes


def _ratios(param: Any) -> list[float]:
    """The aspect ratios other than 1."""
    found = [1.0]
    for ratio in param.aspect_ratio:
        if ratio <= 0:
            raise UnsupportedNodeError(f"aspect_ratio {ratio} is not positive")
        if any(abs(ratio - other) < _SAME for other in found):
            continue
        found.append(ratio)
        if param.flip:
            found.append(1 / ratio)
    return [ratio for ratio in found if abs(ratio - 1) >= _SAME]


def _variances(param: Any) -> Array:
    given = list(param.variance) or [0.1]
    if len(given) not in (1, 4) or any(v <= 0 for v in given):
        raise UnsupportedNodeError(
            f"variance {given}; 1 or 4 positive numbers are valid"
        )
    return np.asarray(given, np.float64)


_LARGEST_POOL = 65536


@HANDLERS.register("ROIPooling")
def _roi_pooling(layer: Layer) -> None:
    param = layer.proto.roi_pooling_param
    pool_regions(layer, (param.pooled_h, param.pooled_w), param.spatial_scale, "MAX")


def pool_regions(layer: Layer, size: tuple[int, int], scale: float, mode: str) -> None:
    corners, images = regions_of(layer)
    layer.emit(
        "RoiPool",
        [layer.bottom(), corners, images],
        **NCHW,
        **pool_size(size),
        scale=scale,
        mode=mode,
    )


def pool_size(size: tuple[int, int]) -> dict[str, int]:
    """The attributes for a height and a width."""
    if not 0 < min(size) <= max(size) <= _LARGEST_POOL:
        raise UnsupportedNodeError(f"pools {size[0]} x {size[1]}")
    return {"height": size[0], "width": size[1]}


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
    images = layer.make("Cast", [layer.part(regions, 1, 0, 1, shrink=True)], to="INT32")
    return layer.part(regions, 1, 1, 5), images

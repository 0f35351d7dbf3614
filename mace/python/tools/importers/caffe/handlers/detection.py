# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The end of a detector of SSD's kind: decodes boxes and selects the best ones.

The data determine how many boxes the layer finds. The graph computes as many rows as
there can be at most, and the number of rows that count (ir/counted.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mace.python.tools.importers.caffe.layer import HANDLERS, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_CORNER, _CENTER_SIZE, _CORNER_SIZE = 1, 2, 3
_LOWEST = float(np.finfo(np.float32).min)
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
        return part(layer, self.rows, 1, index, index + 1, shrink=True)


def several(
    layer: Layer, op_type: str, inputs: Sequence[Value], count: int, **attrs: Any
) -> list[Value]:
    """A helper operator with several outputs."""
    graph = layer.builder.graph
    names = [graph.unique_name(f"{layer.name}/{op_type}/{i}") for i in range(count)]
    return layer.builder.op(op_type, inputs, names, attrs, source=False)


def part(
    layer: Layer, value: Value, axis: int, begin: int, end: int, shrink: bool = False
) -> Value:
    """A slice along an axis."""
    attrs: dict[str, Any] = {"axes": [axis], "begins": [begin], "ends": [end]}
    attrs["shrink_axes"] = [axis] if shrink else []
    return layer.make("StridedSlice", [value], strides=[1], **attrs)


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
    rows, count = several(
        layer, "NonMaxSuppression", [boxes, scores], 2, max_boxes=most, **limits
    )
    return Selected(rows, count, images * classes * most)


@HANDLERS.register("DetectionOutput")
def _detection_output(layer: Layer) -> None:
    param = layer.proto.detection_output_param
    _check(layer, param)
    sizes = _Sizes.of(layer, param)
    boxes = _boxes(layer, param, sizes)
    classes = [c for c in range(sizes.classes) if c != param.background_label_id]
    scores = layer.make(
        "Reshape", [layer.bottom(1)], shape=[sizes.images, sizes.boxes, sizes.classes]
    )
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
    elif (
        param.keep_top_k < -1
        or limits.top_k < -1
        or 0
        in (
            param.keep_top_k,
            limits.top_k,
        )
    ):
        problem = "keep_top_k and top_k must be positive, or -1 for all"
    else:
        return
    raise UnsupportedNodeError(problem)


def _boxes(layer: Layer, param: Any, sizes: _Sizes) -> Value:
    """[images, box classes, boxes, 4]: corners."""
    shape = [sizes.images, sizes.boxes, sizes.box_classes, 4]
    places = layer.make("Reshape", [layer.bottom()], shape=shape)
    places = layer.make("Transpose", [places], perm=[0, 2, 1, 3])
    prior = part(layer, layer.bottom(2), 1, 0, 1)
    prior = layer.make("Reshape", [prior], shape=[1, 1, sizes.boxes, 4])
    if not param.variance_encoded_in_target:
        factor = part(layer, layer.bottom(2), 1, 1, 2)
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
        boxes = layer.eltwise("MAX", boxes, layer.literal(0))
        boxes = layer.eltwise("MIN", boxes, layer.literal(1))
    return boxes


def _centre_of(layer: Layer, prior: Value) -> tuple[Value, Value]:
    low, high = part(layer, prior, 3, 0, 2), part(layer, prior, 3, 2, 4)
    total = layer.eltwise("ADD", low, high)
    centre = layer.eltwise("MUL", total, layer.literal(0.5))
    return centre, layer.eltwise("SUB", high, low)


def from_centre(layer: Layer, places: Value, centre: Value, size: Value) -> Value:
    """Corners from distances of centres and logarithms of sizes, [..., 4] in all."""
    axis = len(layer.shape(places)) - 1
    moved, scaled = part(layer, places, axis, 0, 2), part(layer, places, axis, 2, 4)
    centre = layer.eltwise("ADD", layer.eltwise("MUL", moved, size), centre)
    half = layer.eltwise("MUL", size, layer.literal(0.5))
    half = layer.eltwise("MUL", layer.eltwise("EXP", scaled), half)
    corners = [layer.eltwise(mode, centre, half) for mode in ("SUB", "ADD")]
    return layer.make("Concat", corners, axis=axis)


def _without_area(layer: Layer, boxes: Value) -> Value:
    """Boxes that are turned around, as boxes that overlap none."""
    axis = len(layer.shape(boxes)) - 1
    low, high = part(layer, boxes, axis, 0, 2), part(layer, boxes, axis, 2, 4)
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
        scores, order = several(layer, "TopK", [scores], 2, k=limit, axis=2)
        groups = sizes.images * own
        order = layer.make(
            "Reshape", [order], shape=[groups, lists // groups * limit, 1]
        )
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
        score_threshold=lowest if param.HasField("confidence_threshold") else _LOWEST,
    )
    number = found.column(layer, 0)  # of the list
    place = layer.eltwise("MUL", number, layer.literal(length, DataType.INT32))
    place = layer.eltwise("ADD", place, found.column(layer, 2))
    flat = layer.make("Reshape", [scores], shape=[lists * length])
    best = layer.make("Gather", [flat, place], axis=0)
    divisor = layer.literal(len(classes), DataType.INT32)
    image = layer.eltwise("FLOOR_DIV", number, divisor)
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
    shape = [1, 1, sizes.images * keep, 7]
    table = layer.make("Reshape", [table], shape=shape)
    layer.builder.counted.add(table, Counted(count, 2))
    layer.set_top(0, table)


def _best(
    layer: Layer, keep: int, images: int, found: Selected, image: Value, scores: Value
) -> tuple[Value, Value]:
    """The rows with the highest scores of each image, by falling score as OpenCV has
    them, and their number.
    """
    none = layer.literal(-np.inf)
    numbers = layer.literal(np.arange(found.most), DataType.INT32)
    counts = layer.eltwise("LESS", numbers, found.count)
    scores = layer.make("Where", [counts, scores, none])
    if images > 1:  # those of one image in each row
        each = layer.literal(np.arange(images)[:, None], DataType.INT32)
        own = layer.eltwise("EQUAL", image, each)
        scores = layer.make("Where", [own, scores, none])
    else:
        scores = layer.make("ExpandDims", [scores], axes=[0])
    best, rows = several(layer, "TopK", [scores], 2, k=keep, axis=1)
    total = images * keep
    best = layer.make("Reshape", [best], shape=[total])
    rows = layer.make("Reshape", [rows], shape=[total])
    is_found = layer.eltwise("GREATER", best, none)
    if images > 1:  # the rows that count come first
        places = layer.literal(np.arange(total), DataType.INT32)
        behind = layer.literal(np.arange(total, 2 * total), DataType.INT32)
        places = layer.make("Where", [is_found, places, behind])
        _, order = several(layer, "TopK", [places], 2, k=total, axis=0, largest=False)
        rows = layer.make("Gather", [rows, order], axis=0)
    ones = layer.make("Cast", [is_found], to="FLOAT32")
    count = layer.make("Reduce", [ones], mode="SUM", axes=[0], keep_dims=True)
    return rows, layer.make("Cast", [count], to="INT32")

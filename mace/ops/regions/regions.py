# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for RoiAlign, RoiPool and NonMaxSuppression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.images import (
    evaluate_in_nhwc,
    image_dims,
    image_shape,
)
from mace.python.tools.ir.shapes import Dim, compatible, format_shape, product

_MOST_SAMPLES = 1024


class RoiAlign(OpRules):
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        channels = None
        if x.shape is not None:
            _, _, channels = image_dims(op, x.shape)
        count = _count_regions(op)
        size = (op.attr("height"), op.attr("width"))
        return [OutputType(x.dtype, image_shape(op, count, size, channels))]

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, count = np.asarray(inputs[0]), np.size(inputs[1]) // 4
        size = (op.attr("height"), op.attr("width"))
        result = np.zeros((count, *size, x.shape[-1]))
        for index, image, region in _region_images(inputs):
            rows, columns = (
                _weights(op, region[1 - axis], region[3 - axis], size[axis], length)
                for axis, length in enumerate(x.shape[1:3])
            )
            pixels = np.asarray(image, np.float64)
            if op.attr("mode") == "AVG":
                # All samples, of which each one is a sum of products.
                mean = [w.mean(2) if w.shape[2] else w.sum(2) for w in (rows, columns)]
                result[index] = np.einsum("ih,jw,hwc->ijc", *mean, pixels)
            else:
                result[index] = _largest(rows, columns, pixels)
        return [result]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        """One result for each region, which inputs 1 and 2 describe."""
        rows = set(axes) <= {1, 2} and set(axes.values()) == {0}
        count = None if op.output.shape is None else op.output.shape[0]
        lengths = {(op.input(index).shape or (None,))[0] for index in axes}
        return 0 if rows and lengths == {count} else None


def _weights(op: Op, low: Any, high: Any, outputs: int, length: int) -> Array:
    """[outputs, length, samples]: the weight of each element in each sample."""
    scale, two = np.float32(op.attr("scale")), np.float32(2)
    offset = np.float32(0.5 if op.attr("half_pixel") else 0)
    low, high = np.float32(low) * scale - offset, np.float32(high) * scale - offset
    extent = high - low
    if not op.attr("half_pixel"):
        extent = np.maximum(extent, np.float32(1))
    step = extent / np.float32(outputs)
    samples = op.attr("samples")
    if samples == 0:
        samples = int(np.clip(np.ceil(step), 0, _MOST_SAMPLES)) if step == step else 0
    result = np.zeros((outputs, length, samples))
    for i in range(outputs):
        for s in range(samples):
            inner = np.float32(2 * s + 1) / two * step / np.float32(samples)
            place = low + np.float32(i) * step + inner
            if not -1 <= place <= length or not length:
                continue
            place = max(place, np.float32(0))
            below = min(int(place), length - 1)
            rest = float(place) - below if below < length - 1 else 0.0
            result[i, below, s] += 1 - rest
            result[i, min(below + 1, length - 1), s] += rest
    return result


def _largest(rows: Array, columns: Array, pixels: Array) -> Array:
    result = np.zeros((len(rows), len(columns), pixels.shape[-1]))
    for i, j in np.ndindex(result.shape[:2]):
        products = [
            _products(rows[i, :, s], columns[j, :, t], pixels)
            for s in range(rows.shape[2])
            for t in range(columns.shape[2])
        ]
        if products:
            result[i, j] = np.max(products, 0)
    return result


def _products(row: Array, column: Array, pixels: Array) -> Array:
    """The largest product in one sample, by channel; 0 if it is outside."""
    if not row.any() or not column.any():
        return np.zeros(pixels.shape[-1])
    (ys, wy), (xs, wx) = _pair(row), _pair(column)
    return np.asarray(
        np.max(
            [a * b * pixels[y, x] for y, a in zip(ys, wy) for x, b in zip(xs, wx)], 0
        )
    )


def _pair(weights: Array) -> tuple[list[int], list[float]]:
    """Two neighbours and their weights; at the end, the last one and nothing."""
    first = int(np.nonzero(weights)[0][0])
    second = min(first + 1, len(weights) - 1)
    return [first, second], [weights[first], weights[second] if second > first else 0.0]


_F32 = np.float32


class RoiPool(OpRules):
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        size = (op.attr("height"), op.attr("width"))
        depth: Dim = None
        if x.shape is not None:
            _, _, channels = image_dims(op, x.shape)
            depth = _depth(op, channels) if isinstance(channels, int) else None
            if op.attr("mode") == "MAX":
                depth = channels
        count = _count_regions(op)
        return [OutputType(x.dtype, image_shape(op, count, size, depth))]

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, count = np.asarray(inputs[0]), np.size(inputs[1]) // 4
        size = (op.attr("height"), op.attr("width"))
        depth = _depth(op, x.shape[-1])
        result = np.zeros((count, *size, depth), x.dtype)
        for index, image, region in _region_images(inputs):
            rows, columns = (
                _windows(op, region[1 - axis], region[3 - axis], size[axis], length)
                for axis, length in enumerate(x.shape[1:3])
            )
            for i, j in np.ndindex(*size):
                window = image[slice(*rows[i]), slice(*columns[j])]
                if not window.shape[0] * window.shape[1]:
                    continue
                if op.attr("mode") == "MAX":
                    result[index, i, j] = window.max((0, 1))
                else:
                    own = window[..., i * size[1] + j :: size[0] * size[1]]
                    result[index, i, j] = own.mean((0, 1), np.float64)
        return [result]


def _depth(op: Op, channels: int) -> int:
    if op.attr("mode") == "MAX":
        return channels
    places = op.attr("height") * op.attr("width")
    if channels % places:
        raise ValueError(
            f"{channels} channels are no multiple of {places} places of an output"
        )
    return int(channels // places)


def _rounded(x: Any) -> Any:
    """To the nearest integer, halves away from 0."""
    whole = np.trunc(x)
    return _F32(whole + np.copysign(_F32(abs(x - whole) >= 0.5), x))


def _windows(
    op: Op, low: Any, high: Any, outputs: int, length: int
) -> list[tuple[int, int]]:
    """Begin and end of the elements of each output along an axis."""
    scale, count = _F32(op.attr("scale")), _F32(outputs)
    with np.errstate(over="ignore", invalid="ignore"):
        if op.attr("mode") == "MAX":
            start = _rounded(_F32(low) * scale)
            end = _rounded(_F32(high) * scale)
            # As std::max takes NaN.
            extent = _larger(end - start + _F32(1), _F32(1))
            step = extent / count
            return [
                (
                    _inside(np.floor(_F32(i) * step) + start, length),
                    _inside(np.ceil(_F32(i + 1) * step) + start, length),
                )
                for i in range(outputs)
            ]
        start = _rounded(_F32(low)) * scale
        end = (_rounded(_F32(high)) + _F32(1)) * scale
        step = _larger(end - start, _F32(0.1)) / count
        places = [
            _F32(np.float64(i) * np.float64(step) + np.float64(start))
            for i in range(outputs + 1)
        ]
        return [
            (_inside(np.floor(a), length), _inside(np.ceil(b), length))
            for a, b in zip(places, places[1:])
        ]


def _larger(a: Any, b: Any) -> Any:
    return b if a < b else a


def _inside(x: Any, length: int) -> int:
    if not x > 0:
        return 0
    return int(x) if x < _F32(length) else length


class NonMaxSuppression(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        boxes, scores = op.input(0).shape, op.input(1).shape
        images = boxes[0] if boxes is not None and len(boxes) == 3 else None
        count = boxes[1] if boxes is not None and len(boxes) == 3 else None
        if not compatible(boxes, (None, None, 4)) or not compatible(
            scores, (images, None, count)
        ):
            raise ValueError(
                f"boxes of shape {format_shape(boxes)} and scores of shape "
                f"{format_shape(scores)}; they must be [N, B, 4] and [N, C, B]"
            )
        rows: int | None = None
        if scores is not None and all(isinstance(dim, int) for dim in scores):
            n, c, b = (int(dim) for dim in scores if isinstance(dim, int))
            rows = n * c * min(op.attr("max_boxes"), b)
        return [
            OutputType(DataType.INT32, (rows, 3)),
            OutputType(DataType.INT32, (1,)),
        ]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        boxes, scores = (np.asarray(array, np.float32) for array in inputs)
        images, classes, count = scores.shape
        most = min(op.attr("max_boxes"), count)
        corners = _corners(boxes, op.attr("center_box"))
        rows = [
            (image, kind, box)
            for image in range(images)
            for kind in range(classes)
            for box in _selected(op, corners[image], scores[image, kind], most)
        ]
        selected = np.zeros((images * classes * most, 3), np.int32)
        selected[: len(rows)] = np.reshape(rows, (-1, 3))
        return [selected, np.array([len(rows)], np.int32)]


def _corners(boxes: Array, center_box: bool) -> Array:
    a, b = boxes[..., :2], boxes[..., 2:]
    if center_box:
        half = b / np.float32(2)
        a, b = a - half, a + half
    return np.concatenate([np.minimum(a, b), np.maximum(a, b)], -1)


def _selected(op: Op, boxes: Array, scores: Array, most: int) -> list[int]:
    threshold = np.float32(op.attr("iou_threshold"))
    (above,) = np.nonzero(scores > np.float32(op.attr("score_threshold")))
    selected: list[int] = []
    for box in above[np.argsort(-scores[above], kind="stable")]:
        if len(selected) == most:
            break
        if not any(_overlap(boxes[box], boxes[s]) > threshold for s in selected):
            selected.append(int(box))
    return selected


def _overlap(a: Array, b: Array) -> float:
    """Intersection over union, 0 for boxes without area."""
    size = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    if not size.min() > 0 or not min(areas) > 0:
        return 0.0
    shared = size[0] * size[1]
    return float(shared / (areas[0] + areas[1] - shared))


def _count_regions(op: Op) -> int | None:
    """How many regions there are; None: that is not known.

    Raises:
        ValueError: regions are not [..., 4], or images are not as many.
    """
    regions, images = op.input(1), op.get_input(2)
    count: int | None = None
    if regions.shape is not None:
        if not regions.shape or not compatible(regions.shape[-1:], (4,)):
            raise ValueError(
                f"regions have the shape {format_shape(regions.shape)}; it must "
                "be [..., 4]"
            )
        count = product(regions.shape[:-1])
    if images is not None and images.shape is not None:
        found = product(images.shape)
        if None not in (found, count) and found != count:
            raise ValueError(
                f"images have the shape {format_shape(images.shape)}, but there "
                f"are {count} regions"
            )
    return count


def _region_images(inputs: Sequence[Any]) -> Iterator[tuple[int, Array, Array]]:
    """Index, image [H, W, C] and the four numbers of each region.

    Args:
        inputs: images [N, H, W, C], regions, and the index of the image of each, if
            they are not all of the first one. Those of images that do not exist are
            left out.
    """
    x, regions = np.asarray(inputs[0]), np.reshape(inputs[1], (-1, 4))
    images = np.zeros(len(regions), np.int64)
    if len(inputs) > 2 and inputs[2] is not None:
        images = np.reshape(inputs[2], -1)
    for index, (region, image) in enumerate(zip(regions, images)):
        if 0 <= image < len(x):
            yield index, x[image], region

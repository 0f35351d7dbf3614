# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of object detectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.frame.known import STATIC_HINT
from mace.python.tools.importers.tf_operators.context import (
    HANDLERS,
    Context,
)
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

# Each has operators of its own.
_MOST_IMAGES = 16
_LOWEST = float(np.finfo(np.float32).min)


@HANDLERS.register(
    *("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3"),
    *("NonMaxSuppressionV4", "NonMaxSuppressionV5"),
)
def non_max_suppression(context: Context) -> None:
    """Boxes [N, 4] and scores [N]; all versions are of one class."""
    version = int(context.node.op.removeprefix("NonMaxSuppression").strip("V") or 1)
    if version == 1:
        iou = context.node.number("iou_threshold", 0.5)
    else:
        iou = _number(context, 3, "iou_threshold")
    score = _number(context, 4, "score_threshold") if version > 2 else _LOWEST
    if version == 5 and _number(context, 5, "soft_nms_sigma") != 0:
        raise UnsupportedNodeError("soft_nms_sigma is not 0")
    most = int(_number(context, 2, "max_output_size"))
    boxes, scores = context.input(0), context.input(1)
    inputs = [
        context.step("ExpandDims", [boxes], "boxes", axes=[0]),
        context.step("ExpandDims", [scores], "scores", axes=[0, 1]),
    ]
    attrs = {
        "max_boxes": max(most, 0),
        "iou_threshold": iou,
        "score_threshold": max(score, _LOWEST),
    }
    rows, count = _two(context, "NonMaxSuppression", inputs, attrs)
    padded = version >= 4 and context.node.flag("pad_to_max_output_size")
    if not padded:
        context.builder.counted.add(rows, Counted(count, 0))
    indices = _column(context, rows, 2)
    chosen = None
    if version == 5:
        chosen = context.step("Gather", [scores, indices], "selected_scores", axis=0)
    if padded:
        indices, chosen = _padded(context, indices, chosen, count, most)
    outputs = [indices, chosen] if version == 5 else [indices]
    if version >= 4:
        outputs.append(context.step("Squeeze", [count], "valid", axes=[0]))
    for index, value in enumerate(outputs):
        if value is not None:
            context.pass_on(value, index)


def _two(
    context: Context, op_type: str, inputs: Sequence[Value], attrs: Mapping[str, Any]
) -> list[Value]:
    """The results of an operator that has two."""
    unique = context.builder.graph.unique_name
    names = [unique(f"{context.node.name}/{op_type}{i}") for i in range(2)]
    return context.builder.op(op_type, inputs, names, attrs, source=False)


def _column(context: Context, rows: Value, index: int) -> Value:
    """Of the rows of NonMaxSuppression: image, class and box."""
    return context.cut(rows, 1, index, index + 1, shrink=True)


def _numbers(context: Context, count: int) -> Value:
    return context.constant(np.arange(count, dtype=np.int32), "numbers")


def _padded(
    context: Context, indices: Value, chosen: Value | None, count: Value, most: int
) -> tuple[Value, Value | None]:
    """With zeros behind what was selected, up to the largest number of results."""
    found = indices.shape[0] if indices.shape else None
    if not isinstance(found, int) or found > most:
        raise UnsupportedNodeError(
            f"pad_to_max_output_size with {found} boxes for {most} results", STATIC_HINT
        )
    if chosen is not None:
        inside = context.eltwise("LESS", _numbers(context, found), count)
        chosen = context.step("Where", [inside, chosen, context.number(0)], "scores")
    if found == most:
        return indices, chosen

    def longer(value: Value) -> Value:
        rest = context.constant(np.zeros(most - found, value.dtype.numpy), "rest")
        return context.step("Concat", [value, rest], "padded", axis=0)

    return longer(indices), None if chosen is None else longer(chosen)


@HANDLERS.register("CombinedNonMaxSuppression")
def combined_non_max_suppression(context: Context) -> None:
    """The best boxes of all classes, of each image; behind them zeros."""
    boxes, scores = context.input(0), context.input(1)
    images, count, kinds, _ = context.static_shape(boxes)
    classes = context.static_shape(scores)[2]
    if kinds != 1:
        raise UnsupportedNodeError(f"each class has boxes of its own ({kinds})")
    if not 1 <= images <= _MOST_IMAGES:
        raise UnsupportedNodeError(f"{images} images; 1 to {_MOST_IMAGES} work")
    each, total = (
        int(_number(context, i, f"max_{what}"))
        for i, what in ((2, "output_size_per_class"), (3, "total_size"))
    )
    if context.node.flag("pad_per_class"):
        total = min(total, each * classes)
    if each < 1 or total < 1:
        raise UnsupportedNodeError(f"at most {each} and {total} boxes")
    attrs = {
        "max_boxes": each,
        "iou_threshold": _number(context, 4, "iou_threshold"),
        "score_threshold": max(_number(context, 5, "score_threshold"), _LOWEST),
    }
    found = [
        _best(context, boxes, scores, image, (count, classes, total), attrs)
        for image in range(images)
    ]
    for index, parts in enumerate(zip(*found)):
        whole = context.step("Concat", parts, axis=0) if images > 1 else parts[0]
        context.pass_on(whole, index)


def _best(
    context: Context,
    boxes: Value,
    scores: Value,
    image: int,
    sizes: tuple[int, int, int],
    attrs: Mapping[str, Any],
) -> tuple[Value, Value, Value, Value]:
    """Boxes, scores, classes and number of those of one image."""
    count, classes, total = sizes
    step, eltwise = context.step, context.eltwise
    own = context.cut(boxes, 0, image, image + 1)
    own = step("Reshape", [own], "boxes", shape=[1, count, 4])
    rated = context.cut(scores, 0, image, image + 1)
    rated = step("Transpose", [rated], "by_class", perm=[0, 2, 1])
    rows, number = _two(context, "NonMaxSuppression", [own, rated], attrs)
    # The score of each row, and the lowest number where a row does not count.
    most = classes * min(attrs["max_boxes"], count)
    first = eltwise("MUL", _column(context, rows, 1), count)
    places = eltwise("ADD", first, _column(context, rows, 2))
    flat = step("Reshape", [rated], "flat", shape=[classes * count])
    values = step("Gather", [flat, places], "scores", axis=0)
    counts = eltwise("LESS", _numbers(context, most), number)
    values = step("Where", [counts, values, context.number(_LOWEST)], "counted")
    best = min(total, most)
    order = {"k": best, "axis": 0, "largest": True}
    values, chosen = _two(context, "TopK", [values], order)
    rows = step("Gather", [rows, chosen], "chosen", axis=0)
    number = eltwise("MIN", number, total)
    is_valid = eltwise("LESS", _numbers(context, best), number)
    kinds = context.cast(_column(context, rows, 1), DataType.FLOAT32)
    corners = step("Reshape", [own], "corners", shape=[count, 4])
    corners = step("Gather", [corners, _column(context, rows, 2)], "found", axis=0)
    if context.node.flag("clip_boxes", True):
        corners = eltwise("MIN", eltwise("MAX", corners, 0), 1)
    each = step("ExpandDims", [is_valid], "each", axes=[1])
    zero = context.number(0)
    results = []
    for mask, value in ((each, corners), (is_valid, values), (is_valid, kinds)):
        value = step("Where", [mask, value, zero], "result")
        if best < total:
            rest = [0] * (2 * ((value.rank or 1) - 1))
            value = step("Pad", [value], "padded", pads=[0, total - best, *rest])
        results.append(step("ExpandDims", [value], "of_image", axes=[0]))
    return results[0], results[1], results[2], number


@HANDLERS.register("CropAndResize")
def crop_and_resize(context: Context) -> None:
    """Bilinear samples of regions of images: those of GridSample, and another value
    outside.
    """
    if context.node.string("method", "bilinear") != "bilinear":
        raise UnsupportedNodeError("method is not bilinear")
    image, boxes, indices = (context.input(i) for i in range(3))
    size = context.ints(3, "crop_size")
    shape = image.shape
    if shape is None or len(shape) != 4 or len(size) != 2:
        raise UnsupportedNodeError(f"{image.name} is no image, or crop_size no size")
    # [R, OH, OW] of y and of x, in [-1, 1] inside.
    y = _places(context, boxes, 0, size[0])
    x = _places(context, boxes, 1, size[1])
    y = context.step("ExpandDims", [y], "y", axes=[2])
    x = context.step("ExpandDims", [x], "x", axes=[1])
    zeros = context.constant(np.zeros([1, *size], np.float32), "zeros")
    y_all, x_all = context.eltwise("ADD", y, zeros), context.eltwise("ADD", x, zeros)
    grid = context.step("Stack", [x_all, y_all], "grid", axis=3)
    if shape[0] == 1:
        # One image for all regions, below each other: nothing is copied.
        one = context.step("Reshape", [grid], "below", shape=[1, -1, size[1], 2])
        read = context.step("GridSample", [image, one], "read", align_corners=True)
        channels = shape[3] if isinstance(shape[3], int) else -1
        crops = context.step("Reshape", [read], "crops", shape=[-1, *size, channels])
    else:
        images = context.step("Gather", [image, indices], "images", axis=0)
        crops = context.step("GridSample", [images, grid], "crops", align_corners=True)
    far = [context.eltwise("ABS", places) for places in (y_all, x_all)]
    inside = context.eltwise("LESS_EQUAL", context.eltwise("MAX", *far), 1)
    inside = context.step("ExpandDims", [inside], "mask", axes=[3])
    outside = context.number(context.node.number("extrapolation_value"))
    context.emit("Where", [inside, crops, outside])


def _places(context: Context, boxes: Value, axis: int, count: int) -> Value:
    """[R, count]: from the low border of each box to the high one, or its middle."""
    share = np.linspace(0, 1, count) if count > 1 else np.array([0.5])
    matrix = np.zeros((4, count), np.float32)
    matrix[axis], matrix[axis + 2] = 2 * (1 - share), 2 * share
    shares = context.constant(matrix, "shares")
    twice = context.step("MatMul", [boxes, shares], "twice")
    return context.eltwise("SUB", twice, 1)


def _number(context: Context, index: int, what: str) -> float:
    values = np.asarray(context.values(index, what)).reshape(-1)
    if values.size != 1:
        raise UnsupportedNodeError(f"{what} has {values.size} elements, not 1")
    return float(values[0])

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of object detectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import static

# Each has operators of its own.
_MOST_IMAGES = 16
_LOWEST = float(np.finfo(np.float32).min)


@HANDLERS.register(
    "NonMaxSuppression",
    "NonMaxSuppressionV2",
    "NonMaxSuppressionV3",
    "NonMaxSuppressionV4",
    "NonMaxSuppressionV5",
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
    names = [f"{context.node.name}/{part}" for part in ("rows", "count")]
    unique = context.builder.graph.unique_name
    rows, count = context.builder.op(
        "NonMaxSuppression",
        [
            context.step("ExpandDims", [boxes], "boxes", axes=[0]),
            context.step("ExpandDims", [scores], "scores", axes=[0, 1]),
        ],
        [unique(name) for name in names],
        {
            "max_boxes": max(most, 0),
            "iou_threshold": iou,
            "score_threshold": max(score, _LOWEST),
        },
        source=False,
    )
    padded = version >= 4 and context.node.flag("pad_to_max_output_size")
    if not padded:
        context.builder.counted.add(rows, Counted(count, 0))
    indices = _column(context, rows)
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
            context.results[index] = context.builder.alias(
                value, context.output_name(index)
            )


def _padded(
    context: Context, indices: Value, chosen: Value | None, count: Value, most: int
) -> tuple[Value, Value | None]:
    """With zeros behind what was selected, up to the largest number of results."""
    found = indices.shape[0] if indices.shape else None
    if not isinstance(found, int) or found > most:
        raise UnsupportedNodeError(
            f"pad_to_max_output_size with {found} boxes for {most} results",
            "give fixed input_shapes",
        )
    if chosen is not None:
        numbers = context.constant(np.arange(found, dtype=np.int32), "numbers")
        inside = context.step("Eltwise", [numbers, count], "is_selected", mode="LESS")
        zero = context.constant(np.zeros((), np.float32), "zero")
        chosen = context.step("Where", [inside, chosen, zero], "scores_or_0")
    if found == most:
        return indices, chosen
    rest = np.zeros(most - found)
    indices, *scores = (
        context.step(
            "Concat",
            [value, context.constant(rest.astype(value.dtype.numpy), "rest")],
            "padded",
            axis=0,
        )
        for value in (indices, *([] if chosen is None else [chosen]))
    )
    return indices, scores[0] if scores else None


@HANDLERS.register("CombinedNonMaxSuppression")
def combined_non_max_suppression(context: Context) -> None:
    """The best boxes of all classes, of each image; behind them zeros."""
    boxes, scores = context.input(0), context.input(1)
    shapes = [static(value.shape) for value in (boxes, scores)]
    if any(shape is None for shape in shapes):
        raise UnsupportedNodeError(
            f"the shape of {boxes.name} or {scores.name} is not known before the run",
            "give fixed input_shapes",
        )
    images, count, kinds, _ = shapes[0] or (0, 0, 0, 0)
    classes = (shapes[1] or (0, 0, 0))[2]
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
    for index in range(4):
        values = [results[index] for results in found]
        context.results[index] = context.builder.one(
            "Concat" if images > 1 else "Identity",
            values,
            context.output_name(index),
            {"axis": 0} if images > 1 else {},
        )


def _best(
    context: Context,
    boxes: Value,
    scores: Value,
    image: int,
    sizes: tuple[int, int, int],
    attrs: Mapping[str, object],
) -> tuple[Value, Value, Value, Value]:
    """Boxes, scores, classes and number of those of one image."""
    count, classes, total = sizes

    def step(op_type: str, inputs: Sequence[Value], suffix: str, **own: Any) -> Value:
        return context.step(op_type, inputs, f"{suffix}{image}", **own)

    def several(op_type: str, inputs: Sequence[Value], own: Any) -> list[Value]:
        unique = context.builder.graph.unique_name
        names = [unique(f"{context.node.name}/{op_type}{i}") for i in range(2)]
        return context.builder.op(op_type, inputs, names, own, source=False)

    cut: dict[str, Any] = {"axes": [0], "begins": [image], "ends": [image + 1]}
    cut["strides"] = [1]
    own = step("StridedSlice", [boxes], "image", **cut)
    own = step("Reshape", [own], "boxes", shape=[1, count, 4])
    rated = step("StridedSlice", [scores], "rated", **cut)
    rated = step("Transpose", [rated], "by_class", perm=[0, 2, 1])
    rows, number = several("NonMaxSuppression", [own, rated], attrs)

    def column(rows: Value, index: int) -> Value:
        place = {"begins": [index], "ends": [index + 1], "shrink_axes": [1]}
        return step("StridedSlice", [rows], "column", axes=[1], strides=[1], **place)

    def numbers(length: int) -> Value:
        return context.constant(np.arange(length, dtype=np.int32), "numbers")

    # The score of each row, and the lowest number where a row does not count.
    most = classes * min(int(str(attrs["max_boxes"])), count)
    size = context.constant(np.asarray(count, np.int32), "count")
    places = step("Eltwise", [column(rows, 1), size], "first", mode="MUL")
    places = step("Eltwise", [places, column(rows, 2)], "places", mode="ADD")
    flat = step("Reshape", [rated], "flat", shape=[classes * count])
    values = step("Gather", [flat, places], "scores", axis=0)
    counts = step("Eltwise", [numbers(most), number], "counts", mode="LESS")
    lowest = context.constant(np.asarray(_LOWEST, np.float32), "lowest")
    values = step("Where", [counts, values, lowest], "counted")
    best = min(total, most)
    order: dict[str, Any] = {"k": best, "axis": 0, "largest": True}
    values, chosen = several("TopK", [values], order)
    rows = step("Gather", [rows, chosen], "chosen", axis=0)
    limit = context.constant(np.asarray([total], np.int32), "limit")
    number = step("Eltwise", [number, limit], "number", mode="MIN")
    is_valid = step("Eltwise", [numbers(best), number], "valid", mode="LESS")
    zero = context.constant(np.zeros((), np.float32), "zero")
    kinds = step("Cast", [column(rows, 1)], "kinds", to="FLOAT32")
    corners = step("Reshape", [own], "corners", shape=[count, 4])
    corners = step("Gather", [corners, column(rows, 2)], "found", axis=0)
    if context.node.flag("clip_boxes", True):
        one = context.constant(np.ones((), np.float32), "one")
        corners = step("Eltwise", [corners, zero], "above", mode="MAX")
        corners = step("Eltwise", [corners, one], "below", mode="MIN")
    each = step("ExpandDims", [is_valid], "each", axes=[1])
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
    y_all = context.step("Eltwise", [y, zeros], "all_y", mode="ADD")
    x_all = context.step("Eltwise", [x, zeros], "all_x", mode="ADD")
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
    far = context.step("Eltwise", [y_all], "far_y", mode="ABS")
    far = context.step(
        "Eltwise",
        [far, context.step("Eltwise", [x_all], "far_x", mode="ABS")],
        "far",
        mode="MAX",
    )
    one_value = context.constant(np.array(1, np.float32), "border")
    inside = context.step("Eltwise", [far, one_value], "inside", mode="LESS_EQUAL")
    inside = context.step("ExpandDims", [inside], "mask", axes=[3])
    value = np.array(context.node.number("extrapolation_value"), np.float32)
    context.emit("Where", [inside, crops, context.constant(value, "outside")])


def _places(context: Context, boxes: Value, axis: int, count: int) -> Value:
    """[R, count]: from the low border of each box to the high one, or its middle."""
    share = np.linspace(0, 1, count) if count > 1 else np.array([0.5])
    matrix = np.zeros((4, count), np.float32)
    matrix[axis], matrix[axis + 2] = 2 * (1 - share), 2 * share
    name = "yx"[axis]
    twice = context.step(
        "MatMul", [boxes, context.constant(matrix, f"{name}_shares")], f"twice_{name}"
    )
    one = context.constant(np.array(1, np.float32), f"{name}_one")
    return context.step("Eltwise", [twice, one], f"place_{name}", mode="SUB")


def _column(context: Context, rows: Value) -> Value:
    return context.step(
        "StridedSlice",
        [rows],
        "indices",
        axes=[1],
        begins=[2],
        ends=[3],
        strides=[1],
        shrink_axes=[1],
    )


def _number(context: Context, index: int, what: str) -> float:
    values = np.asarray(context.values(index, what)).reshape(-1)
    if values.size != 1:
        raise UnsupportedNodeError(f"{what} has {values.size} elements, not 1")
    return float(values[0])

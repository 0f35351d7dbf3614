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
from mace.python.tools.ir.graph import Value

# Below all scores.
LOWEST = float(np.finfo(np.float32).min)


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
        iou = context.element(3, "iou_threshold")
    score = context.element(4, "score_threshold") if version > 2 else LOWEST
    if version == 5 and context.element(5, "soft_nms_sigma") != 0:
        raise UnsupportedNodeError("soft_nms_sigma is not 0")
    most = int(context.element(2, "max_output_size"))
    boxes, scores = context.input(0), context.input(1)
    inputs = [
        context.step("ExpandDims", [boxes], "boxes", axes=[0]),
        context.step("ExpandDims", [scores], "scores", axes=[0, 1]),
    ]
    attrs = {
        "max_boxes": max(most, 0),
        "iou_threshold": iou,
        "score_threshold": max(score, LOWEST),
    }
    rows, count = two_results(context, "NonMaxSuppression", inputs, attrs)
    padded = version >= 4 and context.node.flag("pad_to_max_output_size")
    if not padded:
        context.builder.counted.add(rows, Counted(count, 0))
    indices = column_of(context, rows, 2)
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


def two_results(
    context: Context, op_type: str, inputs: Sequence[Value], attrs: Mapping[str, Any]
) -> list[Value]:
    """The results of an operator that has two."""
    unique = context.builder.graph.unique_name
    names = [unique(f"{context.node.name}/{op_type}{i}") for i in range(2)]
    return context.builder.op(op_type, inputs, names, attrs, source=False)


def column_of(context: Context, rows: Value, index: int) -> Value:
    """Of the rows of NonMaxSuppression: image, class and box."""
    return context.cut(rows, 1, index, index + 1, shrink=True)


def numbers_to(context: Context, count: int) -> Value:
    """0, 1, 2 ..."""
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
        inside = context.eltwise("LESS", numbers_to(context, found), count)
        chosen = context.step("Where", [inside, chosen, context.number(0)], "scores")
    if found == most:
        return indices, chosen

    def longer(value: Value) -> Value:
        rest = context.constant(np.zeros(most - found, value.dtype.numpy), "rest")
        return context.step("Concat", [value, rest], "padded", axis=0)

    return longer(indices), None if chosen is None else longer(chosen)


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

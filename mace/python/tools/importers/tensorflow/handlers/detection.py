# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of object detectors."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.tensorflow.context import HANDLERS, Context
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.graph import Value

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
        found = indices.shape[0] if indices.shape else None
        if found != most:
            raise UnsupportedNodeError(
                f"pad_to_max_output_size with {found} boxes for {most} results"
            )
        if chosen is not None:
            raise UnsupportedNodeError("pad_to_max_output_size with scores")
    outputs = [indices, chosen] if version == 5 else [indices]
    if version >= 4:
        outputs.append(context.step("Squeeze", [count], "valid", axes=[0]))
    for index, value in enumerate(outputs):
        if value is not None:
            context.results[index] = context.builder.alias(
                value, context.output_name(index)
            )


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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for NonMaxSuppression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.shapes import compatible, format_shape


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

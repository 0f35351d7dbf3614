# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of object detectors: NonMaxSuppression."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.onnx.node import HANDLERS, Node
from mace.python.tools.ir.counted import Counted

_MOST_BOXES = 2**31 - 1


@HANDLERS.register("NonMaxSuppression")
def _non_max_suppression(node: Node) -> None:
    most = 0
    if node.has_input(2):
        most = int(_number(node, 2, "max_output_boxes_per_class"))
    attrs: dict[str, int | float | bool] = {
        "max_boxes": min(max(most, 0), _MOST_BOXES),
        "iou_threshold": 0.0,
        "center_box": node.flag("center_point_box", False),
    }
    if node.has_input(3):
        attrs["iou_threshold"] = _number(node, 3, "iou_threshold")
    if node.has_input(4):
        attrs["score_threshold"] = _number(node, 4, "score_threshold")
    if not 0 <= attrs["iou_threshold"] <= 1:
        raise UnsupportedNodeError(
            f"iou_threshold is {attrs['iou_threshold']}, not within [0, 1]"
        )
    selected, count = node.make_all(
        "NonMaxSuppression", [node.input(0), node.input(1)], 2, attrs
    )
    node.builder.counted.add(selected, Counted(count, 0))
    node.set_output(0, selected)


def _number(node: Node, index: int, what: str) -> float:
    values = np.asarray(node.constant(index, what)).reshape(-1)
    if values.size != 1:
        raise UnsupportedNodeError(f"{what} has {values.size} elements, not 1")
    return float(values[0])

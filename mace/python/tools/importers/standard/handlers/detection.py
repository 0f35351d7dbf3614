# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of object detectors: NonMaxSuppression and RoiAlign."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.counts import Counts
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.importers.standard.window import NCHW
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.evaluate import ShapeError

_MOST_BOXES = 2**31 - 1


@HANDLERS.register("NonMaxSuppression")
def _non_max_suppression(node: Node) -> None:
    most = 0
    if node.has_input(2):
        most = int(node.constant_number(2, "max_output_boxes_per_class"))
    attrs: dict[str, int | float | bool] = {
        "max_boxes": min(max(most, 0), _MOST_BOXES),
        "iou_threshold": 0.0,
        "center_box": node.flag("center_point_box", False),
    }
    if node.has_input(3):
        attrs["iou_threshold"] = float(node.constant_number(3, "iou_threshold"))
    if node.has_input(4):
        attrs["score_threshold"] = float(node.constant_number(4, "score_threshold"))
    if not 0 <= attrs["iou_threshold"] <= 1:
        raise UnsupportedNodeError(
            f"iou_threshold is {attrs['iou_threshold']}, not within [0, 1]"
        )
    boxes, scores, lengths = node.input(0), node.input(1), Counts(node)
    of_boxes, of_scores = lengths.of(boxes), lengths.of(scores)
    along = None if of_scores is None else Counted(of_scores.count, 1)
    if (of_scores and of_scores.axis != 2) or of_boxes not in (None, along):
        raise ShapeError(
            f"only the run determines how many boxes {boxes.name} and {scores.name} "
            "have, and not by the same number"
        )
    with node.builder.counted.suspended():
        # Scores need to be above a threshold, which no infinite one is.
        inputs = [boxes, lengths.masked(scores, -np.inf)]
        selected, count = node.make_all("NonMaxSuppression", inputs, attrs, 2)
    node.builder.counted.add(selected, Counted(count, 0))
    node.set_output(0, selected)


@HANDLERS.register("RoiAlign")
def _roi_align(node: Node) -> None:
    # Operator set 16 added the choice.
    default = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    coordinates = {"half_pixel": True, "output_half_pixel": False}
    attrs = {
        **NCHW,
        "height": node.integer("output_height", 1),
        "width": node.integer("output_width", 1),
        "mode": node.choice("mode", "avg", {"avg": "AVG", "max": "MAX"}),
        "samples": node.integer("sampling_ratio", 0),
        "scale": node.real("spatial_scale", 1.0),
        "half_pixel": node.choice(
            "coordinate_transformation_mode", default, coordinates
        ),
    }
    node.emit("RoiAlign", [node.input(0), node.input(1), node.input(2)], attrs)

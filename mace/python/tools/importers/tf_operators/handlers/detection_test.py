# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of object detectors, against TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("detection")
check = _FAMILY.check

_BOXES, _SCORES = rand(50, 4, low=0, high=1), rand(50, low=0, high=1)


@pytest.mark.parametrize("most", [5, 100])
@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_non_max_suppression(version: int, most: int) -> None:
    raw = tf.raw_ops

    def select(boxes: Any, scores: Any) -> Any:
        common = {"boxes": boxes, "scores": scores, "max_output_size": most}
        if version == 1:
            return raw.NonMaxSuppression(iou_threshold=0.3, **common)
        common["iou_threshold"] = 0.3
        if version == 2:
            return raw.NonMaxSuppressionV2(**common)
        common["score_threshold"] = 0.4
        if version == 3:
            return raw.NonMaxSuppressionV3(**common)
        if version == 4:
            return tuple(raw.NonMaxSuppressionV4(**common))
        return tuple(raw.NonMaxSuppressionV5(soft_nms_sigma=0.0, **common))

    check(select, _BOXES, _SCORES)


def test_boxes_are_gathered_by_what_was_selected() -> None:
    def select(boxes: Any, scores: Any) -> Any:
        indices = tf.image.non_max_suppression(boxes, scores, 40, 0.2, 0.3)
        return tf.gather(boxes, indices) * 640.0

    check(select, _BOXES, _SCORES)


def test_results_may_be_padded() -> None:
    check(
        lambda boxes, scores: tuple(
            tf.raw_ops.NonMaxSuppressionV4(
                boxes=boxes,
                scores=scores,
                max_output_size=30,
                iou_threshold=0.2,
                score_threshold=0.3,
                pad_to_max_output_size=True,
            )
        ),
        _BOXES,
        _SCORES,
    )


def test_soft_suppression_is_refused() -> None:
    with pytest.raises(UnsupportedNodesError, match="soft_nms_sigma is not 0"):
        check(
            lambda boxes, scores: tf.image.non_max_suppression_with_scores(
                boxes, scores, 5, 0.2, 0.3, soft_nms_sigma=0.5
            ),
            _BOXES,
            _SCORES,
        )


@pytest.mark.parametrize("images", [1, 3])
@pytest.mark.parametrize("size", [[4, 3], [1, 5]])
@pytest.mark.parametrize("value", [0.0, 2.5])
def test_crop_and_resize(value: float, size: list[int], images: int) -> None:
    boxes = np.concatenate(
        [rand(6, 4, low=-0.4, high=1.4), [[0, 0, 1, 1], [1, 1, 0, 0.5]]]
    ).astype(np.float32)
    chosen = np.arange(8) % images
    check(
        lambda x, b: tf.image.crop_and_resize(
            x, b, chosen, size, extrapolation_value=value
        ),
        rand(images, 6, 7, 5),
        boxes,
    )


def test_other_methods_are_refused() -> None:
    with pytest.raises(UnsupportedNodesError, match="method is not bilinear"):
        check(
            lambda x, b: tf.image.crop_and_resize(x, b, [0], [2, 2], "nearest"),
            rand(1, 4, 4, 1),
            rand(1, 4),
        )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

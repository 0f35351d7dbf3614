# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows, contrast, smooth sizes and boxes of images, against TensorFlow."""

from __future__ import annotations

from typing import Any

import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("images_tensorflow")
check = _FAMILY.check


def test_windows() -> None:
    extract = tf.image.extract_patches
    check(
        lambda x: (
            extract(x, [1, 2, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
            extract(x, [1, 3, 3, 1], [1, 2, 1, 1], [1, 2, 1, 1], "SAME"),
        ),
        rand(2, 7, 6, 3),
    )


def test_contrast() -> None:
    check(lambda x: tf.image.adjust_contrast(x, 1.5), rand(2, 5, 4, 3))


@pytest.mark.parametrize("method", ["bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(4, 5), (17, 21), (13, 3)])
def test_smooth_sizes(method: str, size: tuple[int, int]) -> None:
    check(lambda x: tf.image.resize(x, size, method, antialias=True), rand(1, 9, 11, 2))


@pytest.mark.parametrize("images", [1, 2])
@pytest.mark.parametrize(
    ("each", "total", "settings"),
    [(4, 7, {}), (3, 40, {"clip_boxes": False}), (3, 40, {"pad_per_class": True})],
)
def test_the_best_of_all_classes(
    images: int, each: int, total: int, settings: dict[str, Any]
) -> None:
    def select(boxes: Any, scores: Any) -> Any:
        return tuple(
            tf.raw_ops.CombinedNonMaxSuppression(
                boxes=boxes,
                scores=scores,
                max_output_size_per_class=each,
                max_total_size=total,
                iou_threshold=0.3,
                score_threshold=0.4,
                **settings,
            )
        )

    check(
        select,
        rand(images, 30, 1, 4, low=-0.2, high=1.2),
        rand(images, 30, 5, low=0, high=1),
    )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

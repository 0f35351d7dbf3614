# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Resizing of images, and blocks of pixels, against TensorFlow Lite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.importers.tflite.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("images")
check = _FAMILY.check
check_int8 = _FAMILY.check_int8


@pytest.mark.parametrize(
    ("align_corners", "half_pixel_centers"),
    [(False, False), (True, False), (False, True)],
)
@pytest.mark.parametrize("op", ["Bilinear", "NearestNeighbor"])
def test_resize(
    tmp_path: Path, op: str, align_corners: bool, half_pixel_centers: bool
) -> None:
    for size in ([12, 18], [11, 5], [3, 20], [1, 1]):

        def resized(x: Any, size: list[int] = size) -> Any:
            return getattr(tf.raw_ops, f"Resize{op}")(
                images=x,
                size=size,
                align_corners=align_corners,
                half_pixel_centers=half_pixel_centers,
            )

        check(tmp_path, resized, rand(2, 6, 9, 3))
        # The interpreter rounds the positions of integers to 1/1024 pixels.
        steps = 0 if op == "NearestNeighbor" else 2
        check_int8(tmp_path, resized, rand(2, 6, 9, 3), steps=steps)


@pytest.mark.parametrize("block", [2, 3])
def test_blocks(tmp_path: Path, block: int) -> None:
    check(tmp_path, lambda x: tf.nn.space_to_depth(x, block), rand(2, 6, 12, 3))
    check(tmp_path, lambda x: tf.nn.depth_to_space(x, block), rand(2, 3, 4, 36))


def test_batches(tmp_path: Path) -> None:
    def there(x: Any) -> Any:
        return tf.space_to_batch(x, [2, 3], [[1, 1], [0, 3]])

    def back(x: Any) -> Any:
        return tf.batch_to_space(x, [2, 3], [[1, 0], [0, 2]])

    check(tmp_path, there, rand(2, 6, 9, 3))
    check(tmp_path, back, rand(12, 4, 5, 3))
    check_int8(tmp_path, there, rand(2, 6, 9, 3), share=0)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

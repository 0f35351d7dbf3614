# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes of images and blocks of pixels, against TensorFlow."""

from __future__ import annotations

import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("images")
check = _FAMILY.check


@pytest.mark.parametrize(
    ("align_corners", "half_pixel_centers"),
    [(False, False), (True, False), (False, True)],
)
@pytest.mark.parametrize("op", ["Bilinear", "NearestNeighbor", "Bicubic"])
def test_resize(op: str, align_corners: bool, half_pixel_centers: bool) -> None:
    for size in ([12, 18], [11, 5], [3, 20], [1, 1]):
        check(
            lambda x, size=size: getattr(tf.raw_ops, f"Resize{op}")(
                images=x,
                size=size,
                align_corners=align_corners,
                half_pixel_centers=half_pixel_centers,
            ),
            rand(2, 6, 9, 3),
            # TensorFlow looks cubic weights up in a table: 8e-4 of the range of 4.
            tolerance=3.2e-3 if op == "Bicubic" else 2e-5,
        )


@pytest.mark.parametrize("block", [2, 3])
def test_blocks(block: int) -> None:
    check(lambda x: tf.nn.space_to_depth(x, block), rand(2, 6, 12, 3))
    check(lambda x: tf.nn.depth_to_space(x, block), rand(2, 3, 4, 36))


def test_resize_by_a_computed_size() -> None:
    check(
        lambda x: tf.compat.v1.image.resize_bilinear(x, tf.shape(x)[1:3] * 2),
        rand(2, 6, 9, 3),
        dynamic=True,
    )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

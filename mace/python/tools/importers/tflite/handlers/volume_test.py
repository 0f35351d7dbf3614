# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution of volumes, against TensorFlow Lite's interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.importers.tflite.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("volume")


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_conv(padding: str, tmp_path: Path) -> None:
    filters, bias = rand(3, 2, 3, 4, 5), rand(5)
    _FAMILY.check(
        tmp_path,
        lambda x: tf.nn.relu(tf.nn.conv3d(x, filters, [1, 2, 1, 3, 1], padding) + bias),
        rand(2, 6, 7, 8, 4),
        tolerance=1e-4,
    )


@pytest.mark.parametrize(
    ("padding", "sizes"), [("SAME", (8, 3, 11)), ("VALID", (9, 4, 14))]
)
def test_transposed(padding: str, sizes: tuple[int, ...], tmp_path: Path) -> None:
    filters, bias = rand(3, 2, 3, 5, 4), rand(5)
    _FAMILY.check(
        tmp_path,
        lambda x: (
            tf.nn.conv3d_transpose(x, filters, [2, *sizes, 5], [1, 2, 1, 3, 1], padding)
            + bias
        ),
        rand(2, 4, 3, 4, 4),
        tolerance=1e-4,
    )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes, borders and sizes, compared with Keras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.importers.keras.testing import Family, rand

layers = pytest.importorskip("keras").layers
FAMILY = Family("arrange")


@pytest.fixture(scope="module", autouse=True)
def _every_handler_is_compared() -> Iterator[None]:
    yield
    FAMILY.assert_all_tried()


def test_images(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: [
            layers.Flatten()(x),
            layers.Reshape((6, -1))(x),
            layers.Reshape((5, 4, 6))(x),
            layers.Permute((3, 1, 2))(x),
            layers.ZeroPadding2D(1)(x),
            layers.ZeroPadding2D(((1, 0), (2, 3)))(x),
            layers.Cropping2D(1)(x),
            layers.Cropping2D(((1, 0), (0, 2)))(x),
            layers.UpSampling2D((2, 3))(x),
            layers.UpSampling2D(2, interpolation="bilinear")(x),
            layers.Resizing(7, 3)(x),
            layers.Resizing(8, 10, interpolation="nearest")(x),
            layers.CenterCrop(3, 2)(x),
        ],
        rand(2, 5, 6, 4),
        endings=("keras", "h5"),
    )


def test_cubic_sizes(tmp_path: Path) -> None:
    # TensorFlow takes the weights from a table of 1024 steps.
    FAMILY.check(
        tmp_path,
        lambda x: [
            layers.UpSampling2D(2, interpolation="bicubic")(x),
            layers.Resizing(7, 9, interpolation="bicubic")(x),
        ],
        rand(1, 5, 6, 2),
        tolerance=4e-3,
    )


def test_sequences(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x, row: [
            layers.ZeroPadding1D(1)(x),
            layers.ZeroPadding1D((2, 0))(x),
            layers.Cropping1D((1, 2))(x),
            layers.UpSampling1D(3)(x),
            layers.Flatten()(x),
            layers.RepeatVector(3)(row),
        ],
        rand(2, 5, 3),
        rand(2, 4),
    )


def test_volumes(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: [
            layers.ZeroPadding3D(((1, 0), (0, 2), (1, 1)))(x),
            layers.Cropping3D(((1, 0), (0, 2), (1, 1)))(x),
            layers.UpSampling3D((2, 1, 3))(x),
        ],
        rand(2, 3, 4, 5, 2),
    )

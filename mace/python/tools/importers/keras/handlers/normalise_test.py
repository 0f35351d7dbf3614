# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalisation, compared with Keras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.importers.keras.testing import Family, rand

layers = pytest.importorskip("keras").layers
FAMILY = Family("normalise")


@pytest.fixture(scope="module", autouse=True)
def _every_handler_is_compared() -> Iterator[None]:
    yield
    FAMILY.assert_all_tried()


def test_images(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: [
            layers.BatchNormalization()(x),
            layers.BatchNormalization(scale=False, epsilon=0.1)(x),
            layers.BatchNormalization(center=False, axis=1)(x),
            layers.BatchNormalization(trainable=False, axis=2)(x),
            layers.LayerNormalization()(x),
            layers.LayerNormalization(center=False, epsilon=0.1)(x),
            layers.LayerNormalization(scale=False, axis=1)(x),
            layers.LayerNormalization(axis=[1, 2])(x),
            layers.LayerNormalization(axis=[2, 3], scale=False, center=False)(x),
            layers.RMSNormalization()(x),
            layers.UnitNormalization()(x),
            layers.UnitNormalization(axis=[1, 2])(x),
            layers.GroupNormalization(2)(x),
            layers.GroupNormalization(-1, scale=False)(x),
        ],
        rand(2, 3, 5, 4),
        endings=("keras", "h5"),
    )


def test_rows(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: [layers.BatchNormalization()(x), layers.LayerNormalization()(x)],
        rand(2, 6),
    )


def test_spectral_normalization(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: layers.SpectralNormalization(layers.Dense(3))(
            layers.SpectralNormalization(layers.Conv2D(4, 3))(x)
        ),
        rand(2, 6, 5, 4),
        endings=("keras", "h5"),
        tolerance=1e-4,
    )

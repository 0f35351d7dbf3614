# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalisation, compared with Keras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.keras.testing import Family, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("normalise")


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


def _normalization(**settings: Any) -> Any:
    layer = layers.Normalization(**settings)
    layer.adapt(np.arange(72, dtype=np.float32).reshape(2, 3, 4, 3))
    return layer


@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_pixels(tmp_path: Path, ending: str) -> None:
    pixels = rand(2, 3, 4, 3, low=0, high=255).astype(np.uint8)
    x = keras.Input((3, 4, 3), dtype="uint8", name="x0")
    outputs = [
        layers.Rescaling(1 / 255, -0.5)(x),
        layers.Rescaling([0.1, 0.2, 0.3], offset=[0.0, 0.5, 1.0])(x),
        layers.Normalization(mean=[1.0, 2.0, 3.0], variance=[4.0, 1.0, 0.5])(x),
        _normalization()(x),
        _normalization(axis=None)(x),
        _normalization(axis=(1, 3), invert=True)(x),
    ]
    FAMILY.compare(tmp_path, keras.Model(x, outputs), [pixels], endings=[ending])


def test_every_handler_was_compared() -> None:
    FAMILY.assert_all_tried()

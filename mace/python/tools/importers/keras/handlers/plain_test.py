# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers that do nothing in inference, compared with Keras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.keras.testing import Family, imported, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("plain", not_made=["Lambda"])


@pytest.fixture(scope="module", autouse=True)
def _every_handler_is_compared() -> Iterator[None]:
    yield
    FAMILY.assert_all_tried()


def _random_layers() -> list[Any]:
    """Those that change the colours and forms of images in training alone."""
    return [
        layers.AugMix(),
        layers.CutMix(),
        layers.MixUp(),
        layers.RandAugment(),
        layers.RandomColorDegeneration(0.5),
        layers.RandomColorJitter(),
        layers.RandomElasticTransform(),
        layers.RandomErasing(),
        layers.RandomGaussianBlur(),
        layers.RandomGrayscale(),
        layers.RandomHue(0.5),
        layers.RandomInvert(),
        layers.RandomPerspective(),
        layers.RandomPosterization(4),
        layers.RandomSaturation(0.5),
        layers.RandomSharpness(0.5),
        layers.RandomShear(0.2, 0.2),
    ]


def test_dropout_and_the_like(tmp_path: Path) -> None:
    from keras.src.applications.convnext import StochasticDepth

    FAMILY.check(
        tmp_path,
        lambda image, volume: [
            layers.Dropout(0.5)(image),
            layers.SpatialDropout1D(0.5)(layers.Reshape((16, 3))(image)),
            layers.SpatialDropout2D(0.5)(image),
            layers.SpatialDropout3D(0.5)(volume),
            layers.AlphaDropout(0.5)(image),
            layers.GaussianDropout(0.5)(image),
            layers.GaussianNoise(0.5)(image),
            layers.ActivityRegularization(0.5)(image),
            layers.Identity()(image),
            layers.RandomBrightness(0.5)(image),
            layers.RandomContrast(0.5)(image),
            layers.RandomFlip()(image),
            layers.RandomRotation(0.5)(image),
            layers.RandomTranslation(0.5, 0.5)(image),
            layers.RandomZoom(0.5)(image),
            *(make(image) for make in _random_layers()),
            StochasticDepth(0.5, name="depth")(image),
        ],
        np.abs(rand(1, 4, 4, 3)),
        rand(1, 2, 2, 2, 3),
    )


def test_code_is_refused(tmp_path: Path) -> None:
    x = keras.Input((3,), name="x0")
    path = tmp_path / "m.keras"
    keras.Model(x, layers.Lambda(lambda v: v * 2, name="y")(x)).save(path)
    with pytest.raises(UnsupportedNodesError, match=r"Python code.*model\.export"):
        imported(path, [rand(1, 3)], ["y"])

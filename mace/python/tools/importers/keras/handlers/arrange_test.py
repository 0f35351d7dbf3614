# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrangement, joined tensors and layers without effect, compared with Keras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.keras.testing import Family, imported, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("arrange", not_made=["Lambda"])


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


def test_merged_tensors(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x, y, z: [
            layers.Add()([x, y, z]),
            layers.Subtract()([x, y]),
            layers.Multiply()([x, y, z]),
            layers.Maximum()([x, y, z]),
            layers.Minimum()([x, y]),
            layers.Average()([x, y, z]),
            layers.Concatenate()([x, y]),
            layers.Concatenate(axis=1)([x, z]),
            layers.Add()([x, x]),
        ],
        rand(2, 3, 4),
        rand(2, 3, 4) - 0.5,
        rand(2, 3, 4)[::-1].copy(),
        endings=("keras", "h5"),
    )


def test_products_of_axes(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda a, b, c, d: [
            layers.Dot(axes=1)([a, b]),
            layers.Dot(axes=1, normalize=True)([a, b]),
            layers.Dot(axes=(1, 2))([a, c]),
            layers.Dot(axes=(2, 1))([c, a]),
            layers.Dot(axes=2)([c, d]),
            layers.Dot(axes=(2, 2), normalize=True)([c, d]),
            layers.Dot(axes=(1, 2))([layers.Permute((2, 1))(c), d]),
        ],
        rand(2, 4),
        rand(2, 4) + 0.5,
        rand(2, 3, 4),
        rand(2, 5, 4),
        tolerance=5e-5,
    )


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


def test_every_handler_was_compared() -> None:
    FAMILY.assert_all_tried()

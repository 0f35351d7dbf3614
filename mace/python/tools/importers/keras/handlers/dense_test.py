# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products and tables, compared with Keras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.keras.testing import Family, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("dense")


@pytest.fixture(scope="module", autouse=True)
def _every_handler_is_compared() -> Iterator[None]:
    yield
    FAMILY.assert_all_tried()


def test_products(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: [
            layers.Dense(5, activation="relu")(x),
            layers.Dense(5, use_bias=False)(x),
            layers.EinsumDense("abc,cd->abd", (None, 6), bias_axes="d")(x),
            layers.EinsumDense("abc,cde->abde", (None, 2, 3), activation="tanh")(x),
        ],
        rand(2, 3, 4),
        endings=("keras", "h5"),
    )


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_tables(tmp_path: Path, dtype: str) -> None:
    indices = np.array([[0, 6, 3], [2, 2, 1]], dtype)
    FAMILY.check(tmp_path, lambda x: layers.Embedding(7, 4)(x), indices)


def test_tables_in_both_directions(tmp_path: Path) -> None:
    def build(x: Any) -> list[Any]:
        tied = layers.ReversibleEmbedding(7, 4)
        other = layers.ReversibleEmbedding(7, 4, tie_weights=False, logit_soft_cap=2.0)
        return [tied(tied(x), reverse=True), other(other(x), reverse=True)]

    FAMILY.check(tmp_path, build, np.array([[0, 6, 3], [2, 2, 1]], np.int32))


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


def test_layers_of_applications(tmp_path: Path) -> None:
    from keras.src.applications.convnext import LayerScale
    from keras.src.applications.inception_resnet_v2 import CustomScaleLayer

    FAMILY.check(
        tmp_path,
        lambda x, y: [
            LayerScale(0.1, 4, name="scale")(x),
            CustomScaleLayer(0.2, name="sum")([x, y]),
        ],
        rand(2, 3, 3, 4),
        rand(2, 3, 3, 4) + 1,
    )

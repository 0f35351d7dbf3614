# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products and tables, compared with Keras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.keras.testing import Family, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("dense")


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


def test_every_handler_was_compared() -> None:
    FAMILY.assert_all_tried()

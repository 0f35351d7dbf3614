# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products, tables and categories, compared with Keras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.keras.testing import Family, imported, rand

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


def test_categories(tmp_path: Path) -> None:
    places = np.array([[1, 3, 0], [2, 2, 4]], np.int32)
    bounds = [-1.0, 0.0, 0.7]
    FAMILY.check(
        tmp_path,
        lambda i, x, w: [
            layers.CategoryEncoding(5, output_mode="multi_hot")(i),
            layers.CategoryEncoding(5, output_mode="one_hot")(i[:, :1]),
            layers.CategoryEncoding(5, output_mode="count")(i),
            layers.CategoryEncoding(5, output_mode="count")(i, count_weights=w),
            layers.Discretization(bounds)(x),
            layers.Discretization(bounds, output_mode="one_hot")(x[:, :1]),
            layers.Discretization(bounds, output_mode="multi_hot")(x),
            layers.IntegerLookup(vocabulary=[3, 1, 7])(i),
            layers.IntegerLookup(vocabulary=[3, 1, 7], mask_token=0)(i),
            layers.IntegerLookup(vocabulary=[3, 1], output_mode="multi_hot")(i),
        ],
        places,
        rand(2, 4),
        rand(2, 3),
    )


def test_layers_that_are_refused(tmp_path: Path) -> None:
    x = keras.Input((4,), name="x0", dtype="int32")
    path = tmp_path / "m.keras"
    keras.Model(x, layers.Hashing(3, name="y")(x)).save(path)
    with pytest.raises(UnsupportedNodesError, match="it hashes its input"):
        imported(path, [np.zeros((1, 4), np.int32)], ["y"])


def test_every_handler_was_compared() -> None:
    FAMILY.assert_all_tried()

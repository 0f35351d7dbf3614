# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Categories, compared with Keras."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.keras.testing import Family, imported, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("categories_keras")


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

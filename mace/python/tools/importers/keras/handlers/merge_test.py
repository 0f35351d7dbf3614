# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers with several inputs, compared with Keras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.importers.keras.testing import Family, rand

layers = pytest.importorskip("keras").layers
FAMILY = Family("merge")


@pytest.fixture(scope="module", autouse=True)
def _every_handler_is_compared() -> Iterator[None]:
    yield
    FAMILY.assert_all_tried()


def test_arithmetic(tmp_path: Path) -> None:
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


def test_products(tmp_path: Path) -> None:
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

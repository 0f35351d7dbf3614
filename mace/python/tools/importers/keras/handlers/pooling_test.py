# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling, compared with Keras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.importers.keras.testing import Family, rand

layers = pytest.importorskip("keras").layers
FAMILY = Family("pooling")


@pytest.fixture(scope="module", autouse=True)
def _every_handler_is_compared() -> Iterator[None]:
    yield
    FAMILY.assert_all_tried()


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_all_dimensions(tmp_path: Path, dims: int) -> None:
    def build(x: Any) -> list[Any]:
        results = []
        for kind in ("Max", "Average"):
            pool = getattr(layers, f"{kind}Pooling{dims}D")
            over_all = getattr(layers, f"Global{kind}Pooling{dims}D")
            results += [
                pool(2)(x),
                pool(3, strides=2, padding="same")(x),
                pool(2, strides=1)(x),
                over_all()(x),
                over_all(keepdims=True)(x),
            ]
            adaptive = getattr(layers, f"Adaptive{kind}Pooling{dims}D")
            results += [adaptive([3, 2, 4][:dims])(x), adaptive([5, 4, 3][:dims])(x)]
        return results

    FAMILY.check(tmp_path, build, rand(2, *[5, 6, 4][:dims], 3))


def test_the_mean_of_the_steps_that_count(tmp_path: Path) -> None:
    x = rand(2, 5, 3)
    x[0, 1:3] = 0
    x[1, 4] = 0

    def build(y: Any) -> list[Any]:
        masked = layers.Dense(4)(layers.Masking()(y))
        return [
            layers.GlobalAveragePooling1D()(masked),
            layers.GlobalAveragePooling1D(keepdims=True)(masked),
        ]

    FAMILY.check(tmp_path, build, x)

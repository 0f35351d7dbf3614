# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling to a size, compared with Keras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.importers.keras.testing import Family, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("pooling_keras")


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_pooling(tmp_path: Path, dims: int) -> None:
    def build(x: Any) -> list[Any]:
        makers = [
            getattr(layers, f"Adaptive{kind}Pooling{dims}D")
            for kind in ("Max", "Average")
        ]
        sizes = ([3, 2, 4][:dims], [5, 4, 3][:dims])
        return [make(size)(x) for make in makers for size in sizes]

    FAMILY.check(tmp_path, build, rand(2, *[5, 6, 4][:dims], 3))


def test_every_handler_was_compared() -> None:
    FAMILY.assert_all_tried()

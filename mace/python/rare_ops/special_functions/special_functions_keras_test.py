# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of elements, norms and products, compared with Keras."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.keras.testing import Family, rand

keras = pytest.importorskip("keras")
ops = keras.ops
FAMILY = Family("special_functions_keras")


def test_elements(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x, y: [
            *(f(x) for f in (ops.arcsinh, ops.arctan, ops.cosh, ops.sinh, ops.tan)),
            *(f(x / 4) for f in (ops.arccos, ops.arcsin, ops.arctanh)),
            *(f(x) for f in (ops.expm1, ops.exp2, ops.erfc, ops.trunc)),
            *(f(x) for f in (ops.deg2rad, ops.rad2deg)),
            *(f(y) for f in (ops.log1p, ops.log2, ops.log10)),
            ops.arccosh(y + 1),
            ops.cast(ops.isnan(x), "float32"),
            ops.cast(ops.isinf(x), "int32"),
            ops.mod(x, y),
        ],
        rand(2, 3, 4),
        rand(2, 3, 4, low=0.5),
    )


def test_numbers_near_zero(tmp_path: Path) -> None:
    x = np.array([[1e-6, -1e-5, 3e-4, 0, 1e-9]], np.float32)
    FAMILY.check(tmp_path, lambda x: [ops.expm1(x), ops.log1p(x)], x, tolerance=2e-6)


def test_activations(tmp_path: Path) -> None:
    nn = ops.nn
    FAMILY.check(
        tmp_path,
        lambda x: [
            nn.celu(x, alpha=1.5),
            nn.hard_tanh(x),
            nn.tanh_shrink(x),
            nn.hard_shrink(x, threshold=0.7),
            nn.soft_shrink(x, threshold=0.7),
            nn.threshold(x, 0.2, -1.0),
            nn.glu(x),
            nn.glu(x, axis=1),
            ops.norm(x, axis=-1),
            nn.rms_normalization(x, axis=-1),
        ],
        3 * rand(2, 4, 6),
    )


def test_products_of_tensors(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x, y: [
            ops.outer(x, y),
            ops.dot(x, np.arange(12, dtype=np.float32).reshape(4, 3)),
        ],
        rand(2, 3, 4),
        rand(2, 5, 4),
        tolerance=5e-5,
    )


def test_every_handler_was_compared() -> None:
    FAMILY.assert_all_tried()

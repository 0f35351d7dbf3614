# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Exponentials, logarithms, thresholds and sums, compared with OpenCV or formulas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.caffe.testing import Family, layer_text, rand

FAMILY = Family("special_functions_caffe")
X = rand(2, 3, 4, 5)


@pytest.mark.parametrize("param", ["", "exp_param { base: 2 scale: 0.5 shift: 1 }"])
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (3, 4)])
def test_exponentials(tmp_path: Path, param: str, shape: tuple[int, ...]) -> None:
    FAMILY.check(tmp_path, layer_text("Exp", param), {"x": 4 * rand(*shape)})


@pytest.mark.parametrize(
    ("kind", "param", "wanted"),
    [
        ("Exp", "exp_param { base: 1 }", np.ones_like(X)),
        ("Log", "log_param { shift: 3 }", np.log(3 + X)),
        ("Log", "log_param { base: 2 scale: 2 shift: 5 }", np.log2(5 + 2 * X)),
        ("Threshold", "", (X > 0).astype(np.float32)),
        ("Threshold", "threshold_param { threshold: 0.5 }", np.float32(X > 0.5)),
    ],
)
def test_formulas(tmp_path: Path, kind: str, param: str, wanted: np.ndarray) -> None:
    FAMILY.check(tmp_path, layer_text(kind, param), {"x": X}, expected=[wanted])


def test_a_base_that_is_refused(tmp_path: Path) -> None:
    text = layer_text("Log", "log_param { base: -2 }")
    FAMILY.refuses(tmp_path, text, {"x": X}, "base is -2")


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("operation", ["SUM", "ASUM", "SUMSQ", "MEAN"])
def test_reduction(tmp_path: Path, axis: int, operation: str) -> None:
    axes = tuple(range(axis % 4, 4))
    numbers = {"ASUM": np.abs(X), "SUMSQ": X**2}.get(operation, X)
    wanted = numbers.mean(axes) if operation == "MEAN" else numbers.sum(axes)
    for coeff in (1, 0.5):
        param = f"operation: {operation} axis: {axis} coeff: {coeff}"
        text = layer_text("Reduction", f"reduction_param {{ {param} }}")
        FAMILY.check(tmp_path, text, {"x": X}, expected=[np.asarray(wanted * coeff)])


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()

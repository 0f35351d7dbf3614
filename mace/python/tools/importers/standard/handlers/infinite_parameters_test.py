# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Slopes and bounds that are no finite numbers, compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.onnx.testing import check_operator, normal

_INF = float("inf")
_X = np.array([[-2, -0.5, 0, 0.5, 3], [4, -1, -_INF, _INF, np.nan]], np.float32)


@pytest.mark.parametrize("number", [_INF, -_INF, np.nan])
@pytest.mark.parametrize("shape", [(1,), (5,), (2, 5), (2, 1)])
@pytest.mark.parametrize("is_computed", [False, True])
def test_slopes(
    number: float, shape: tuple[int, ...], is_computed: bool, tmp_path: Path
) -> None:
    slope = normal(*shape)
    slope.reshape(-1)[:1] = number
    inputs, constants = {"x": _X}, {"slope": slope}
    if is_computed:
        inputs, constants = {**inputs, **constants}, {}
    with np.errstate(invalid="ignore"):
        check_operator(tmp_path, "PRelu", inputs, ["x", "slope"], constants=constants)


@pytest.mark.parametrize("alpha", [_INF, -_INF])
def test_leaky_relu(alpha: float, tmp_path: Path) -> None:
    x = _X[:, [0, 1, 3, 4]][:1]
    check_operator(tmp_path, "LeakyRelu", {"x": x}, ["x"], alpha=alpha)


@pytest.mark.parametrize(
    "bounds", [(0, _INF), (-_INF, _INF), (-_INF, 1), (-1, _INF), (-_INF, 0)]
)
def test_bounds(bounds: tuple[float, float], tmp_path: Path) -> None:
    low, high = (np.array(bound, np.float32) for bound in bounds)
    constants: dict[str, Any] = {"low": low, "high": high}
    names = ["x", "low", "high"]
    check_operator(tmp_path, "Clip", {"x": _X}, names, constants=constants)

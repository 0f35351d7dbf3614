# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Trilu, EyeLike and Hardmax against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.onnx.testing import (
    assert_same,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)

_FAR = np.iinfo(np.int64).max


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [None, 0, 2, -1, -5, 9, _FAR, -_FAR])
def test_triangles(k: int | None, upper: int, tmp_path: Path) -> None:
    x = normal(2, 3, 4, 5)
    x[0, 0, 0] = [np.inf, -np.inf, np.nan, 1, 2]
    inputs, constants = ["x"], {}
    if k is not None:
        inputs.append("k")
        constants["k"] = np.array(k)
    node = onnx.helper.make_node("Trilu", inputs, ["y"], upper=upper)
    model = make_model([node], {"x": x}, ["y"], constants)
    assert_same(run_mace(model, {"x": x}, tmp_path), run_onnxruntime(model, {"x": x}))


@pytest.mark.parametrize("attrs", [{}, {"k": 1}, {"k": -2, "dtype": 6}, {"k": 99}])
def test_ones_on_a_diagonal(attrs: dict[str, Any], tmp_path: Path) -> None:
    x = normal(4, 6)
    nodes = [
        onnx.helper.make_node("EyeLike", ["x"], ["eye"], **attrs),
        onnx.helper.make_node("Cast", ["eye"], ["f"], to=1),
        onnx.helper.make_node("Add", ["f", "x"], ["y"]),
    ]
    model = make_model(nodes, {"x": x}, ["y"])
    assert_same(run_mace(model, {"x": x}, tmp_path), run_onnxruntime(model, {"x": x}))


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("axis", [None, 0, 1, 2])
def test_the_largest_is_one(axis: int | None, opset: int, tmp_path: Path) -> None:
    x = np.round(normal(3, 4, 5))  # with equal elements
    attrs = {} if axis is None else {"axis": axis}
    node = onnx.helper.make_node("Hardmax", ["x"], ["y"], **attrs)
    model = make_model([node], {"x": x}, ["y"], opset=opset)
    assert_same(run_mace(model, {"x": x}, tmp_path), run_onnxruntime(model, {"x": x}))

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Different and chosen elements, and ones among zeros, compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.onnx.testing import compare, make_model, normal

_RNG = np.random.default_rng(5)
_UNIQUE = ["y", "indices", "inverse", "counts"]


@pytest.mark.parametrize("attrs", [{}, {"k": 1}, {"k": -2, "dtype": 6}, {"k": 99}])
def test_ones_on_a_diagonal(attrs: dict[str, Any], tmp_path: Path) -> None:
    x = normal(4, 6)
    nodes = [
        onnx.helper.make_node("EyeLike", ["x"], ["eye"], **attrs),
        onnx.helper.make_node("Cast", ["eye"], ["f"], to=1),
        onnx.helper.make_node("Add", ["f", "x"], ["y"]),
    ]
    model = make_model(nodes, {"x": x}, ["y"])
    compare(model, {"x": x}, tmp_path)


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("axis", [None, 0, 1, 2])
def test_the_largest_is_one(axis: int | None, opset: int, tmp_path: Path) -> None:
    x = np.round(normal(3, 4, 5))  # with equal elements
    attrs = {} if axis is None else {"axis": axis}
    node = onnx.helper.make_node("Hardmax", ["x"], ["y"], **attrs)
    model = make_model([node], {"x": x}, ["y"], opset=opset)
    compare(model, {"x": x}, tmp_path)


@pytest.mark.parametrize("attributes", [{}, {"axis": 1}, {"axis": -1}, {"axis": 0}])
def test_compress(attributes: dict[str, Any], tmp_path: Path) -> None:
    node = onnx.helper.make_node("Compress", ["x", "c"], ["y"], **attributes)
    inputs, condition = {"x": normal(3, 4, 5)}, np.array([False, True, True])
    compare(make_model([node], inputs, ["y"], {"c": condition}), inputs, tmp_path)
    # A shorter condition than the axis chooses none of the rest.
    for mask in (condition, np.zeros(3, np.bool_)):
        given = {**inputs, "c": mask}
        compare(make_model([node], given, ["y"]), given, tmp_path)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8])
@pytest.mark.parametrize("ordered", [0, 1])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_unique(axis: int | None, ordered: int, dtype: Any, tmp_path: Path) -> None:
    x = _RNG.integers(-1, 2, (6, 2, 3)).astype(dtype)
    x[:, 1] = x[:, 0]
    attributes = {} if axis is None else {"axis": axis}
    node = onnx.helper.make_node("Unique", ["x"], _UNIQUE, sorted=ordered, **attributes)
    compare(make_model([node], {"x": x}, _UNIQUE), {"x": x}, tmp_path)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("axis", [0, 1, 2, 3, -2])
def test_unique_slices_are_sorted_by_all_their_elements(
    axis: int, seed: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    shape = [2, 3, 2, 2]
    shape[axis] = 7
    x = rng.integers(0, 2, shape).astype(np.float32)
    node = onnx.helper.make_node("Unique", ["x"], _UNIQUE, axis=axis)
    compare(make_model([node], {"x": x}, _UNIQUE), {"x": x}, tmp_path)


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5)])
def test_features_of_the_last_axis(shape: tuple[int, ...], tmp_path: Path) -> None:
    inputs = {"x": normal(*shape), "places": np.array([[4, 0, 4]])}
    domain, _, op_type = "ai.onnx.ml.ArrayFeatureExtractor".rpartition(".")
    node = onnx.helper.make_node(op_type, ["x", "places"], ["y"], domain=domain)
    model = make_model([node], inputs, ["y"])
    model.opset_import.append(onnx.helper.make_opsetid(domain, 3))
    compare(model, inputs, tmp_path)

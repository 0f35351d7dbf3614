# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that write to positions, compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    compare,
    make_model,
    normal,
    run_mace,
)
from mace.python.tools.ir.dtypes import Array

_RNG = np.random.default_rng(3)


def _compare(
    op: str, inputs: dict[str, Array], folder: Path, **attributes: Any
) -> None:
    node = onnx.helper.make_node(op, [*inputs], ["y"], **attributes)
    model = make_model([node], inputs, ["y"], opset=18)
    compare(model, inputs, folder)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max"])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_slices(axes: int, reduction: str, dtype: Any, tmp_path: Path) -> None:
    shape = (3, 4, 5)
    # Without a reduction, no position may repeat.
    places = _RNG.permutation(np.moveaxis(np.indices(shape[:axes]), 0, -1))
    indices = places.reshape(-1, axes)[:3]
    if reduction != "none":
        indices = np.concatenate([indices, indices[:1]])
    inputs = {
        "data": _RNG.integers(0, 9, shape).astype(dtype),
        "indices": indices,
        "updates": _RNG.integers(0, 9, (len(indices), *shape[axes:])).astype(dtype),
    }
    _compare("ScatterND", inputs, tmp_path, reduction=reduction)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_elements(axis: int, reduction: str, dtype: Any, tmp_path: Path) -> None:
    shape = (3, 4, 5)
    indices = np.argsort(_RNG.random(shape), axis)
    indices[0] -= shape[axis]
    if reduction != "none":
        indices[:] = np.flip(indices // 2, axis)
    inputs = {
        "data": _RNG.integers(0, 9, shape).astype(dtype),
        "indices": indices,
        "updates": _RNG.integers(0, 9, shape).astype(dtype),
    }
    _compare("ScatterElements", inputs, tmp_path, axis=axis, reduction=reduction)


def test_booleans_are_replaced(tmp_path: Path) -> None:
    inputs = {
        "data": np.array([True, False, True]),
        "indices": np.array([[1], [2]]),
        "updates": np.array([True, False]),
    }
    _compare("ScatterND", inputs, tmp_path)


def test_an_unknown_reduction(tmp_path: Path) -> None:
    inputs = {"d": normal(3), "i": np.array([[1]]), "u": normal(1)}
    node = onnx.helper.make_node("ScatterND", [*inputs], ["y"], reduction="xor")
    model = make_model([node], inputs, ["y"], opset=18)
    with pytest.raises(MaceError, match="reduction is 'xor'"):
        run_mace(model, inputs, tmp_path)


def test_positions_beyond_the_data(tmp_path: Path) -> None:
    inputs = {"d": normal(3), "u": normal(1)}
    node = onnx.helper.make_node("ScatterND", ["d", "i", "u"], ["y"])
    model = make_model([node], inputs, ["y"], {"i": np.array([[3]])})
    with pytest.raises(MaceError, match="index 3 is outside a length of 3"):
        run_mace(model, inputs, tmp_path)

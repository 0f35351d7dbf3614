# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions of integers, which Reduce lacks, compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    make_model,
    run_mace,
    run_onnxruntime,
)

_make = onnx.helper.make_node


def _integers(*shape: int, low: int = -4, high: int = 5) -> Any:
    return np.random.default_rng([7, *shape]).integers(low, high, shape)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("axes", [[0], [-1], [0, 2], [0, 1, 2]])
@pytest.mark.parametrize(
    "op_type", ["ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum"]
)
def test_reduces_integers(
    op_type: str, axes: list[int], keep: int, dtype: Any, tmp_path: Path
) -> None:
    x = _integers(3, 2, 5).astype(dtype)
    nodes = [_make(op_type, ["x", "axes"], ["y"], keepdims=keep)]
    model = make_model(nodes, {"x": x}, ["y"], {"axes": np.array(axes)})
    assert_same(run_mace(model, {"x": x}, tmp_path), run_onnxruntime(model, {"x": x}))


@pytest.mark.parametrize("op_type", ["ReduceMax", "ReduceMin", "ReduceSum", "ReduceL1"])
def test_reduces_many_integers(op_type: str, tmp_path: Path) -> None:
    # Sums that floats cannot hold.
    x = _integers(2, 70, low=-(2**24), high=2**24)
    nodes = [_make(op_type, ["x", "axes"], ["y"], keepdims=0)]
    model = make_model(nodes, {"x": x}, ["y"], {"axes": np.array([1])})
    assert_same(run_mace(model, {"x": x}, tmp_path), run_onnxruntime(model, {"x": x}))


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("op_type", ["ArgMax", "ArgMin"])
def test_extreme_integers(op_type: str, keep: int, last: int, tmp_path: Path) -> None:
    # The last words of CLIP's texts have the largest numbers; two of them are equal as
    # floats.
    x = np.array([[1, 2**24, 2**24 + 1, 3], [5, 7, 7, 5]], np.int32)
    nodes = [
        _make(op_type, ["x"], ["y"], axis=1, keepdims=keep, select_last_index=last)
    ]
    model = make_model(nodes, {"x": x}, ["y"])
    assert_same(run_mace(model, {"x": x}, tmp_path), run_onnxruntime(model, {"x": x}))


def test_refuses_means_of_integers(tmp_path: Path) -> None:
    x = _integers(3, 2)
    model = make_model([_make("ReduceMean", ["x"], ["y"])], {"x": x}, ["y"])
    with pytest.raises(MaceError, match="int32"):
        run_mace(model, {"x": x}, tmp_path)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""NonZero, Unique and Compress, and what follows them, compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array

_make = onnx.helper.make_node
_RNG = np.random.default_rng(5)
_UNIQUE = ["y", "indices", "inverse", "counts"]


def _check(
    tmp_path: Path,
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Array],
    outputs: Sequence[str] = ("y",),
    constants: Mapping[str, Array] | None = None,
) -> list[Array]:
    model = make_model(nodes, inputs, outputs, constants)
    found = run_mace(model, inputs, tmp_path)
    assert_same(found, run_onnxruntime(model, inputs))
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize("shape", [(9,), (3, 4), (2, 3, 4), (2, 0)])
def test_non_zero(shape: tuple[int, ...], dtype: Any, tmp_path: Path) -> None:
    x = _RNG.integers(0, 2, shape).astype(dtype)
    _check(tmp_path, [_make("NonZero", ["x"], ["y"])], {"x": x})


def test_elements_under_a_mask(tmp_path: Path) -> None:
    # x[mask], as PyTorch exports it: rows, elements, and indices of one axis.
    nodes = [
        _make("Greater", ["m", "zero"], ["mask"]),
        _make("NonZero", ["mask"], ["columns"]),
        _make("Transpose", ["columns"], ["rows"]),
        _make("GatherND", ["x", "rows"], ["chosen"]),
        _make("Mul", ["chosen", "two"], ["y"]),
        _make("Split", ["columns"], ["first", "second"], axis=0, num_outputs=2),
        _make("Reshape", ["second", "flat"], ["z"]),
    ]
    inputs = {"x": normal(4, 5, 3), "m": normal(4, 5)}
    constants = {
        "zero": np.array(0, np.float32),
        "two": np.array(2, np.float32),
        "flat": np.array([-1]),
    }
    found, _ = _check(tmp_path, nodes, inputs, ["y", "z"], constants)
    assert 0 < len(found) < 20


@pytest.mark.parametrize("attributes", [{}, {"axis": 1}, {"axis": -1}, {"axis": 0}])
def test_compress(attributes: dict[str, Any], tmp_path: Path) -> None:
    node = _make("Compress", ["x", "c"], ["y"], **attributes)
    inputs, condition = {"x": normal(3, 4, 5)}, np.array([False, True, True])
    _check(tmp_path, [node], inputs, ["y"], {"c": condition})
    # A shorter condition than the axis chooses none of the rest.
    _check(tmp_path, [node], {**inputs, "c": condition})
    _check(tmp_path, [node], {**inputs, "c": np.zeros(3, np.bool_)})


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8])
@pytest.mark.parametrize("ordered", [0, 1])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_unique(axis: int | None, ordered: int, dtype: Any, tmp_path: Path) -> None:
    x = _RNG.integers(-1, 2, (6, 2, 3)).astype(dtype)
    x[:, 1] = x[:, 0]
    attributes = {} if axis is None else {"axis": axis}
    node = _make("Unique", ["x"], _UNIQUE, sorted=ordered, **attributes)
    _check(tmp_path, [node], {"x": x}, _UNIQUE)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("axis", [0, 1, 2, 3, -2])
def test_unique_slices_are_sorted_by_all_their_elements(
    axis: int, seed: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    shape = [2, 3, 2, 2]
    shape[axis] = 7
    x = rng.integers(0, 2, shape).astype(np.float32)
    node = _make("Unique", ["x"], _UNIQUE, axis=axis)
    _check(tmp_path, [node], {"x": x}, _UNIQUE)


def test_what_needs_the_number_of_results_is_refused(tmp_path: Path) -> None:
    inputs = {"x": normal(5)}
    for op_type in ("NonZero", "Unique"):
        nodes = [
            _make(op_type, ["x"], ["f"]),
            _make("Cast", ["f"], ["floats"], to=onnx.TensorProto.FLOAT),
            _make("Softmax", ["floats"], ["y"]),
        ]
        model = make_model(nodes, inputs, ["y"])
        with pytest.raises(MaceError, match="only the run determines"):
            run_mace(model, inputs, tmp_path)


def test_a_scalar_has_no_positions(tmp_path: Path) -> None:
    inputs = {"x": np.array(1, np.float32)}
    model = make_model([_make("NonZero", ["x"], ["y"])], inputs, ["y"])
    with pytest.raises(MaceError, match="x has no dimensions"):
        run_mace(model, inputs, tmp_path)


@pytest.mark.parametrize("op", ["NonZero", "Unique"])
def test_known_elements_are_no_problem(op: str, tmp_path: Path) -> None:
    inputs = {"x": normal(1)}
    constants = {"c": np.array([[1.0, 0, 3], [0, 0, 1]], np.float32)}
    nodes = [
        _make(op, ["c"], ["n"]),
        _make("Cast", ["n"], ["f"], to=1),
        _make("Add", ["f", "x"], ["s"]),
        _make("ReduceSum", ["s"], ["y"], keepdims=0),
    ]
    _check(tmp_path, nodes, inputs, ["y"], constants)

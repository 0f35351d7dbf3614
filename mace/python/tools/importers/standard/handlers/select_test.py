# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that choose elements, compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    compare,
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array

_RNG = np.random.default_rng(3)


def _compare(
    op: str,
    inputs: dict[str, Array],
    constants: dict[str, Array],
    folder: Path,
    outputs: tuple[str, ...] = ("y",),
    **attributes: Any,
) -> None:
    names = [*inputs, *constants]
    node = onnx.helper.make_node(op, names, list(outputs), **attributes)
    model = make_model([node], inputs, outputs, constants)
    compare(model, inputs, folder)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize(("axis", "k"), [(-1, 1), (0, 3), (1, 4), (-1, 0)])
def test_top_k(axis: int, k: int, largest: int, dtype: Any, tmp_path: Path) -> None:
    # With equal elements, of which the first ones are wanted.
    x = (normal(3, 4, 9) * 3).astype(np.int8).astype(dtype)
    _compare(
        "TopK",
        {"x": x},
        {"k": np.array([k])},
        tmp_path,
        ("v", "i"),
        axis=axis,
        largest=largest,
    )


@pytest.mark.parametrize("output", ["v", "i"])
def test_one_result_of_top_k(output: str, tmp_path: Path) -> None:
    node = onnx.helper.make_node("TopK", ["x", "k"], ["v", "i"])
    inputs = {"x": normal(9)}
    model = make_model([node], inputs, [output], {"k": np.array([2])})
    compare(model, inputs, tmp_path)


def test_top_k_of_more_than_there_are(tmp_path: Path) -> None:
    with pytest.raises(MaceError, match="k is 5, but axis 0 has length 3"):
        _compare("TopK", {"x": normal(3)}, {"k": np.array([5])}, tmp_path, ("v", "i"))


def test_a_number_of_elements_that_depends_on_others(tmp_path: Path) -> None:
    inputs = {"x": normal(3), "k": np.array([2])}
    with pytest.raises(MaceError, match="k .* depends on the elements of k"):
        _compare("TopK", inputs, {}, tmp_path, ("v", "i"))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize(("batch", "axes"), [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2)])
def test_gather_nd(batch: int, axes: int, dtype: Any, tmp_path: Path) -> None:
    x = (normal(2, 3, 4) * 3).astype(np.int8).astype(dtype)
    shape = (2, 5, axes) if batch else (2, 3, axes)
    indices = _RNG.integers(-2, 2, shape)
    _compare("GatherND", {"x": x, "i": indices}, {}, tmp_path, batch_dims=batch)


@pytest.mark.parametrize("time", [0, 1])
def test_sequences_are_reversed(time: int, tmp_path: Path) -> None:
    inputs = {"x": normal(4, 4, 3), "n": np.array([1, 4, 2, 3])}
    axes = {"time_axis": time, "batch_axis": 1 - time}
    _compare("ReverseSequence", inputs, {}, tmp_path, ("y",), **axes)


_make = onnx.helper.make_node
_FIND_RNG = np.random.default_rng(5)


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
    x = _FIND_RNG.integers(0, 2, shape).astype(dtype)
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


def _model(x: Array, indices: Array, axis: int) -> onnx.ModelProto:
    node = onnx.helper.make_node("GatherElements", ["x", "i"], ["y"], axis=axis)
    return make_model([node], {"x": x, "i": indices}, ["y"])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_matches_onnxruntime(axis: int, tmp_path: Path) -> None:
    floats = normal(3, 4, 5)
    rng = np.random.default_rng(1)
    shape = [2, 3, 4]
    shape[axis] = 7
    indices = rng.integers(-3, 3, shape)
    for x in (floats, (floats * 9).astype(np.int64), (floats * 9).astype(np.int8)):
        model = _model(x, indices, axis)
        feeds = {"x": x, "i": indices}
        compare(model, feeds, tmp_path)


def test_indices_that_do_not_fit(tmp_path: Path) -> None:
    x = normal(2, 3)
    for indices, reason in (
        (np.zeros((2, 3, 1), np.int64), "the indices have 3 dimensions, params 2"),
        (np.zeros((3, 3), np.int64), "dimension 0 of the indices is 3"),
    ):
        with pytest.raises(UnsupportedNodesError, match=reason):
            import_proto(_model(x, indices, 1), {"x": x, "i": indices}, ["y"], tmp_path)

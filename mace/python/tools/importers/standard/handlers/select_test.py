# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that select elements, compared with onnxruntime."""

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
    assert_same(run_mace(model, inputs, folder), run_onnxruntime(model, inputs))


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
    assert_same(run_mace(model, inputs, tmp_path), run_onnxruntime(model, inputs))


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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Slices against onnxruntime, around both ends of an axis."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    compare,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)

_LOWEST, _HIGHEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_ENDS = (_LOWEST, _LOWEST + 1, -6, -5, -4, -1, 0, 3, 4, 5, _HIGHEST)


@pytest.mark.parametrize("step", [-3, -1, 1, 2])
def test_slices(step: int, tmp_path: Path) -> None:
    x = normal(4, 2)
    # Backwards to the highest number is nothing by the specification, and
    # everything for onnxruntime, which takes that for "the end" in both directions.
    ends = _ENDS[:-1] if step < 0 else _ENDS
    pairs = list(itertools.product(_ENDS, ends))
    constants = {"axis": np.array([0]), "step": np.array([step])}
    nodes = []
    for index, (begin, end) in enumerate(pairs):
        constants[f"b{index}"] = np.array([begin])
        constants[f"e{index}"] = np.array([end])
        inputs = ["x", f"b{index}", f"e{index}", "axis", "step"]
        nodes.append(onnx.helper.make_node("Slice", inputs, [f"y{index}"]))
    names = [node.output[0] for node in nodes]
    model = make_model(nodes, {"x": x}, names, constants)
    found = run_mace(model, {"x": x}, tmp_path)
    expected = run_onnxruntime(model, {"x": x})
    for pair, mine, theirs in zip(pairs, found, expected):
        assert mine.shape == theirs.shape, (pair, step)
    assert_same(found, expected)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("pads", [[0, 1, 2, 0], [0, -1, 0, 3]])
def test_padding_with_what_is_no_number(
    pads: list[int], value: float, tmp_path: Path
) -> None:
    """Masks of attention are padded with -inf."""
    x = normal(2, 3)
    node = onnx.helper.make_node("Pad", ["x", "pads", "value"], ["y"])
    constants = {"pads": np.array(pads), "value": np.array(value, np.float32)}
    model = make_model([node], {"x": x}, ["y"], constants)
    compare(model, {"x": x}, tmp_path)


@pytest.mark.parametrize(
    "pads", [[0, 1, 2, 0], [3, 4, 3, 4], [0, 0, 0, 0], [1, 2, 0, 4]]
)
def test_a_tensor_repeats_around_itself(pads: list[int], tmp_path: Path) -> None:
    inputs = {"x": normal(3, 4)}
    node = onnx.helper.make_node("Pad", ["x", "p"], ["y"], mode="wrap")
    model = make_model([node], inputs, ["y"], {"p": np.array(pads)})
    compare(model, inputs, tmp_path)


def test_a_tensor_repeats_only_once(tmp_path: Path) -> None:
    inputs = {"x": normal(3)}
    node = onnx.helper.make_node("Pad", ["x", "p"], ["y"], mode="wrap")
    model = make_model([node], inputs, ["y"], {"p": np.array([4, 0])})
    with pytest.raises(MaceError, match="adds 4 elements to an axis of 3"):
        run_mace(model, inputs, tmp_path)

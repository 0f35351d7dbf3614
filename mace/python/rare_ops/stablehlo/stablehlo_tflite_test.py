# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of StableHLO, against TensorFlow Lite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.tflite.testing import (
    Family,
    one_operator,
    rand,
    run_file,
)
from mace.python.tools.ir.dtypes import Array

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("stablehlo_tflite")
check_file = _FAMILY.check_file


_KINDS = ("ADD", "MAXIMUM", "MINIMUM", "MULTIPLY")


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_elementwise(kind: str, dtype: Any) -> None:
    pair = [(9 * rand(2, 5)).astype(dtype), (9 * rand(2, 5)[::-1]).astype(dtype)]
    name = np.dtype(dtype).name
    data = one_operator(f"STABLEHLO_{kind}", pair, [((2, 5), name)])
    check_file(data, *pair)


@pytest.mark.parametrize(
    ("low", "high", "inner"),
    [([0, 1], [2, 0], [0, 0]), ([1, 0], [0, 3], [2, 1]), ([-1, 2], [1, -2], [1, 0])],
)
def test_pad(low: list[int], high: list[int], inner: list[int]) -> None:
    x = rand(3, 4)
    shape = [
        before + (length - 1) * (between + 1) + 1 + after
        for length, before, after, between in zip(x.shape, low, high, inner)
    ]
    data = one_operator(
        "STABLEHLO_PAD",
        [x],
        [(shape, "float32")],
        {1: np.array(2.5, np.float32)},
        {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": inner},
        "StablehloPadOptions",
    )
    check_file(data, x)


def _gather(
    x: Array, starts: Array, shape: Sequence[int], options: Mapping[str, Any]
) -> bytes:
    return one_operator(
        "STABLEHLO_GATHER",
        [x, starts],
        [(shape, "float32")],
        {},
        options,
        "StablehloGatherOptions",
    )


def test_gather() -> None:
    """Rows, blocks that would end outside, and places along the first axis."""
    x = rand(4, 5, 3)
    rows = np.array([[1], [3], [0]], np.int32)
    options: dict[str, Any] = {
        "offset_dims": [1, 2],
        "collapsed_slice_dims": [0],
        "start_index_map": [0],
        "index_vector_dim": 1,
        "slice_sizes": [1, 5, 3],
    }
    data = _gather(x, rows, (3, 5, 3), options)
    check_file(data, x, rows)
    blocks = np.array([[[1, 0], [2, 2]], [[3, 3], [0, 9]]], np.int32)
    options = {
        "offset_dims": [1, 3, 4],
        "collapsed_slice_dims": [],
        "start_index_map": [1, 0],
        "index_vector_dim": 2,
        "slice_sizes": [2, 3, 2],
    }
    data = _gather(x, blocks, (2, 2, 2, 3, 2), options)
    check_file(data, x, blocks)
    turned = np.array([[1, 2, 3], [4, 0, 1]], np.int32)
    options = {
        "offset_dims": [1],
        "collapsed_slice_dims": [0, 1],
        "start_index_map": [0, 1],
        "index_vector_dim": 0,
        "slice_sizes": [1, 1, 2],
    }
    data = _gather(x, turned, (3, 2), options)
    check_file(data, x, turned)


@pytest.mark.parametrize("function", range(1, 5))
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_reduce_window(function: int, dtype: Any) -> None:
    x = (5 * rand(6, 7)).astype(dtype)
    constants: dict[int, Array] = {1: np.array(2, dtype)}
    for place, numbers in enumerate(([2, 3], [2, 1], [3, 2]), 2):
        constants[place] = np.array(numbers, np.int64)
    data = one_operator(
        "REDUCE_WINDOW",
        [x],
        [((2, 3), np.dtype(dtype).name)],
        constants,
        {"reduce_function": function},
        "ReduceWindowOptions",
    )
    check_file(data, x)


@pytest.mark.parametrize("function", [5, 6])
def test_reduce_window_of_booleans(function: int) -> None:
    x = rand(6, 7) > 0
    constants: dict[int, Array] = {1: np.array(function == 5)}
    for place, numbers in enumerate(([2, 2], [1, 2], [1, 1]), 2):
        constants[place] = np.array(numbers, np.int64)
    data = one_operator(
        "REDUCE_WINDOW",
        [x],
        [((5, 3), "bool")],
        constants,
        {"reduce_function": function},
        "ReduceWindowOptions",
    )
    check_file(data, x)


def test_others_are_refused_by_name(tmp_path: Path) -> None:
    pair = [rand(2, 5), rand(2, 5)]
    data = one_operator("STABLEHLO_POWER", pair, [((2, 5), "float32")])
    with pytest.raises(MaceError, match="STABLEHLO_POWER"):
        run_file(data, pair, tmp_path / "model.tflite")


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

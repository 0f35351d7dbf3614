# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Spread elements, rows by keys and bits, against TensorFlow Lite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tflite.testing import Family, one_operator, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("arrangements_tflite")
check = _FAMILY.check
check_file = _FAMILY.check_file


@pytest.mark.parametrize("steps", [[1, 3], [2, 2], [1, 1]])
def test_dilate(steps: list[int]) -> None:
    x = rand(3, 4)
    shape = [(n - 1) * step + 1 for n, step in zip(x.shape, steps)]
    constants = {1: np.array(steps, np.int32), 2: np.array(0.5, np.float32)}
    data = one_operator("DILATE", [x], [(shape, "float32")], constants)
    check_file(data, x)


@pytest.mark.parametrize(
    ("places", "shape", "values"),
    [
        ([[0, 1], [2, 2]], [3, 3], [0.5, -2.0]),
        ([1, 3], [5], [0.5, -2.0]),
        ([4], [5], [0.5]),
    ],
)
def test_sparse_to_dense(places: Any, shape: list[int], values: Any) -> None:
    check(
        lambda x: tf.raw_ops.SparseToDense(
            sparse_indices=places,
            output_shape=shape,
            sparse_values=x,
            default_value=0.25,
        ),
        np.array(values, np.float32),
    )


@pytest.mark.parametrize("row", [(), (3,), (2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_hashtable_lookup(row: tuple[int, ...], dtype: str) -> None:
    """Of keys that are there, that are not, and that are asked for twice."""
    wanted = np.array([7, 0, 11, -3, 7, 100], np.int32)
    keys = np.array([-3, 2, 7, 11], np.int32)
    rows = (rand(len(keys), *row) * 9).astype(dtype)
    data = one_operator(
        "HASHTABLE_LOOKUP",
        [wanted],
        [((len(wanted), *row), dtype), ((len(wanted),), "uint8")],
        {1: keys, 2: rows},
    )
    check_file(data, wanted)


@pytest.mark.parametrize(
    "kinds", [("int8", "uint8"), ("uint8", "int8"), ("int32",) * 2]
)
def test_bitcast(kinds: tuple[str, str]) -> None:
    x = (rand(3, 50) * 60).astype(np.int8).astype(kinds[0])
    check(lambda x: tf.bitcast(x, kinds[1]), x)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

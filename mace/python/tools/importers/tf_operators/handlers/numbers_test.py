# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Trigonometry, bits and algebra compared with TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("numbers")


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("acos", -1, 1),
        ("acosh", 1, 50),
        ("asin", -1, 1),
        ("asinh", -50, 50),
        ("atan", -50, 50),
        ("atanh", -0.99, 0.99),
        ("cosh", -5, 5),
        ("sinh", -5, 5),
        ("tan", -1.5, 1.5),
    ],
)
def test_trigonometry(tmp_path: Path, name: str, low: float, high: float) -> None:
    x = np.linspace(low, high, 99, dtype=np.float32)
    function: Any = getattr(tf.math, name)
    _FAMILY.check(tmp_path, function, x)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
@pytest.mark.parametrize(
    "name", ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"]
)
def test_bits(tmp_path: Path, name: str, dtype: Any) -> None:
    info = np.iinfo(dtype)
    x = np.linspace(info.min, info.max, 20).astype(dtype)[:, None]
    y = np.arange(7, dtype=dtype)
    function: Any = getattr(tf.bitwise, name)
    _FAMILY.check(tmp_path, function, x, y)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
def test_inverted_bits(tmp_path: Path, dtype: Any) -> None:
    x = np.array([0, 1, 100, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    _FAMILY.check(tmp_path, tf.bitwise.invert, x)


def test_bits_of_other_integers(tmp_path: Path) -> None:
    with pytest.raises(MaceError, match="int8, uint8, int32 and int64 work"):
        _FAMILY.check(tmp_path, tf.bitwise.invert, np.ones(1, np.uint16))


def test_logic(tmp_path: Path) -> None:
    x, y = np.array([[False], [True]]), np.array([False, True])
    for function in (tf.logical_and, tf.logical_or, tf.math.logical_xor):
        _FAMILY.check(tmp_path, function, x, y)
    _FAMILY.check(tmp_path, tf.logical_not, x)


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 5, 5)])
def test_determinants(tmp_path: Path, shape: tuple[int, ...]) -> None:
    _FAMILY.check(tmp_path, tf.linalg.det, rand(*shape))


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ab,bc->ac", [(2, 3), (3, 4)]),
        ("abcd,abed->abce", [(2, 3, 4, 5), (2, 3, 2, 5)]),
        ("abc,cde->abde", [(2, 3, 4), (4, 5, 2)]),
        ("...ab,bc->...ac", [(6, 2, 3, 4), (4, 5)]),
        ("ab->ba", [(2, 3)]),
        ("ab->b", [(2, 3)]),
    ],
)
def test_equations(
    tmp_path: Path, equation: str, shapes: list[tuple[int, ...]]
) -> None:
    arrays = [rand(*shape) for shape in shapes]
    _FAMILY.check(tmp_path, lambda *x: tf.einsum(equation, *x), *arrays)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

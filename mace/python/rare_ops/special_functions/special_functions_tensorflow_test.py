# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Angles, rests, zeros that win, and bits, against TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")
raw = tf.raw_ops

_FAMILY = Family("special_functions_tensorflow")
check = _FAMILY.check


def test_where_something_is_zero() -> None:
    x = np.array([0, 0, 1, -2, 3], np.float32)
    y = np.array([0, 3, 2, 0.5, 0], np.float32)
    positive = np.array([0, 3, 2, 0.5, 1e-3], np.float32)
    check(lambda x, y: raw.MulNoNan(x=x, y=y), x * np.inf, y * 0)
    for function in (tf.math.xlogy, tf.math.xlog1py, tf.math.xdivy):
        check(function, x, positive)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_rests(dtype: Any) -> None:
    x = np.array([7, -7, 7, -7, 6, 0], dtype)
    y = np.array([3, 3, -3, -3, 2, 5], dtype)
    check(lambda x, y: (raw.Mod(x=x, y=y), raw.TruncateMod(x=x, y=y)), x, y)
    if dtype is np.int32:
        check(lambda x, y: raw.TruncateDiv(x=x, y=y), x, y)


def test_angles() -> None:
    y = np.array([1, 1, -1, -1, 0, 0, 2, -2, 0], np.float32)
    x = np.array([1, -1, 1, -1, 3, -3, 0, 0, 0], np.float32)
    check(tf.math.atan2, y, x)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
@pytest.mark.parametrize(
    "name", ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"]
)
def test_bits(name: str, dtype: Any) -> None:
    info = np.iinfo(dtype)
    x = np.linspace(info.min, info.max, 20).astype(dtype)[:, None]
    y = np.arange(7, dtype=dtype)
    function: Any = getattr(tf.bitwise, name)
    check(function, x, y)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
def test_inverted_bits(dtype: Any) -> None:
    x = np.array([0, 1, 100, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    check(tf.bitwise.invert, x)


def test_bits_of_other_integers() -> None:
    with pytest.raises(MaceError, match="int8, uint8, int32 and int64 work"):
        check(tf.bitwise.invert, np.ones(1, np.uint16))


def test_what_is_nearly_equal() -> None:
    check(
        lambda x, y: raw.ApproximateEqual(x=x, y=y, tolerance=0.3),
        rand(3, 4),
        rand(3, 4) + 0.2,
    )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

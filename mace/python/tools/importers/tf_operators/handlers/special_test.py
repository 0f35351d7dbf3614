# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Composed arithmetic, compared with TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")
raw = tf.raw_ops
_FAMILY = Family("special")


@pytest.fixture(scope="module", autouse=True)
def _every_handler_is_compared() -> Iterator[None]:
    yield
    _FAMILY.assert_all_tried()


SMALL = np.array([[1e-6, -1e-6, 1e-3, -1e-3, 0.0, 0.5, -0.5, 3.0]], np.float32)


def test_near_zero(tmp_path: Path) -> None:
    def model(x: object) -> object:
        # What is near 1e-6 needs more than its absolute error to be right.
        return (tf.math.expm1(x) / 1e-6, tf.math.log1p(tf.abs(x)) / 1e-6)

    _FAMILY.check(tmp_path, model, SMALL)
    _FAMILY.check(tmp_path, tf.math.log1p, np.array([1e6, -0.999, 40.0], np.float32))
    _FAMILY.check(tmp_path, tf.math.expm1, np.array([-50.0, 20.0], np.float32))


def test_where_something_is_zero(tmp_path: Path) -> None:
    x = np.array([0, 0, 1, -2, 3], np.float32)
    y = np.array([0, 3, 2, 0.5, 0], np.float32)
    positive = np.array([0, 3, 2, 0.5, 1e-3], np.float32)
    _FAMILY.check(tmp_path, lambda x, y: raw.DivNoNan(x=x, y=y), x, y)
    _FAMILY.check(tmp_path, lambda x, y: raw.MulNoNan(x=x, y=y), x * np.inf, y * 0)
    for function in (tf.math.xlogy, tf.math.xlog1py, tf.math.xdivy):
        _FAMILY.check(tmp_path, function, x, positive)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_rests(tmp_path: Path, dtype: Any) -> None:
    x = np.array([7, -7, 7, -7, 6, 0], dtype)
    y = np.array([3, 3, -3, -3, 2, 5], dtype)
    _FAMILY.check(
        tmp_path,
        lambda x, y: (raw.Mod(x=x, y=y), raw.TruncateMod(x=x, y=y)),
        x,
        y,
    )
    if dtype is np.int32:
        _FAMILY.check(tmp_path, lambda x, y: raw.TruncateDiv(x=x, y=y), x, y)


def test_angles(tmp_path: Path) -> None:
    y = np.array([1, 1, -1, -1, 0, 0, 2, -2, 0], np.float32)
    x = np.array([1, -1, 1, -1, 3, -3, 0, 0, 0], np.float32)
    _FAMILY.check(tmp_path, tf.math.atan2, y, x)


def test_what_is_a_number(tmp_path: Path) -> None:
    x = np.array([1, np.nan, np.inf, -np.inf, 0], np.float32)
    _FAMILY.check(
        tmp_path,
        lambda x: (
            tf.math.is_nan(x),
            tf.math.is_inf(x),
            tf.math.is_finite(x),
        ),
        x,
    )


def test_others(tmp_path: Path) -> None:
    _FAMILY.check(
        tmp_path,
        lambda x, y: (
            raw.ClipByValue(t=x, clip_value_min=-0.5, clip_value_max=1.0),
            tf.nn.selu(x),
            tf.nn.l2_loss(x),
            tf.math.erfc(x),
            tf.norm(x, axis=1),
            raw.EuclideanNorm(input=x, axis=[0, 1], keep_dims=True),
            raw.ApproximateEqual(x=x, y=y, tolerance=0.3),
            tf.reduce_all(x > -1, axis=1),
            tf.reduce_any(x > 1, axis=[0, 1], keepdims=True),
            tf.reduce_all(x > -1, axis=[]),
        ),
        rand(3, 4),
        rand(3, 4) + 0.2,
    )

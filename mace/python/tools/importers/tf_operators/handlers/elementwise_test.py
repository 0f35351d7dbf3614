# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, comparisons, activations and logic, against TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")
raw = tf.raw_ops

_FAMILY = Family("elementwise")
check = _FAMILY.check


def test_binary() -> None:
    x, y = rand(2, 3, 4), rand(3, 1)
    operations = [
        tf.add,
        tf.subtract,
        tf.multiply,
        tf.divide,
        tf.maximum,
        tf.minimum,
        tf.math.squared_difference,
        tf.math.floordiv,
        tf.math.floormod,
    ]
    check(lambda x, y: [f(x, y) for f in operations], x, y)
    check(lambda x: tf.pow(x, 2.5), np.abs(x))
    check(lambda x, y: tf.raw_ops.AddN(inputs=[x, y, x]), x, x)
    check(lambda x: tf.raw_ops.Add(x=x, y=x), x)
    check(lambda x: tf.raw_ops.Div(x=x, y=3.0), x)


def test_comparisons() -> None:
    x = np.array([1, 2, 3, -1], np.float32)
    y = np.array([1, 3, 2, -1], np.float32)
    operations = [
        tf.equal,
        tf.not_equal,
        tf.less,
        tf.less_equal,
        tf.greater,
        tf.greater_equal,
    ]
    check(lambda x, y: [tf.cast(f(x, y), tf.float32) for f in operations], x, y)


def test_unary() -> None:
    operations = [
        tf.negative,
        tf.abs,
        tf.sqrt,
        tf.math.rsqrt,
        tf.square,
        tf.exp,
        tf.math.log,
        tf.floor,
        tf.math.ceil,
        tf.round,
        tf.sign,
        tf.math.reciprocal,
        tf.math.erf,
        tf.sin,
        tf.cos,
        tf.math.rint,
    ]
    check(lambda x: [f(x) for f in operations], rand(3, 5, low=0.1, high=4))
    check(lambda x: tf.raw_ops.Inv(x=x), rand(3, low=1))


def test_activations() -> None:
    operations = [
        tf.nn.relu,
        tf.nn.relu6,
        tf.nn.leaky_relu,
        tf.nn.elu,
        tf.nn.sigmoid,
        tf.nn.tanh,
        tf.nn.softplus,
        tf.nn.softsign,
        tf.nn.softmax,
        tf.nn.log_softmax,
    ]
    check(lambda x: [f(x) for f in operations], rand(3, 7, low=-8, high=8))


SMALL = np.array([[1e-6, -1e-6, 1e-3, -1e-3, 0.0, 0.5, -0.5, 3.0]], np.float32)


def test_near_zero() -> None:
    def model(x: object) -> object:
        # What is near 1e-6 needs more than its absolute error to be right.
        return (tf.math.expm1(x) / 1e-6, tf.math.log1p(tf.abs(x)) / 1e-6)

    check(model, SMALL)
    check(tf.math.log1p, np.array([1e6, -0.999, 40.0], np.float32))
    check(tf.math.expm1, np.array([-50.0, 20.0], np.float32))


def test_what_is_a_number() -> None:
    x = np.array([1, np.nan, np.inf, -np.inf, 0], np.float32)
    check(lambda x: (tf.math.is_nan(x), tf.math.is_inf(x), tf.math.is_finite(x)), x)


def test_others() -> None:
    check(
        lambda x: (
            raw.ClipByValue(t=x, clip_value_min=-0.5, clip_value_max=1.0),
            tf.nn.selu(x),
            tf.math.erfc(x),
        ),
        rand(3, 4),
    )


def test_zero_divided_by_zero() -> None:
    x = np.array([0, 0, 1, -2, 3], np.float32)
    y = np.array([0, 3, 2, 0.5, 0], np.float32)
    check(lambda x, y: raw.DivNoNan(x=x, y=y), x, y)


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
def test_trigonometry(name: str, low: float, high: float) -> None:
    x = np.linspace(low, high, 99, dtype=np.float32)
    function: Any = getattr(tf.math, name)
    check(function, x)


def test_logic() -> None:
    x, y = np.array([[False], [True]]), np.array([False, True])
    for function in (tf.logical_and, tf.logical_or, tf.math.logical_xor):
        check(function, x, y)
    check(tf.logical_not, x)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

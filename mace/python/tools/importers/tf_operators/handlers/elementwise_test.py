# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators on elements, against TensorFlow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("elementwise")
check = _FAMILY.check


def test_binary(tmp_path: Path) -> None:
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
    check(tmp_path, lambda x, y: [f(x, y) for f in operations], x, y)
    check(tmp_path, lambda x: tf.pow(x, 2.5), np.abs(x))
    check(tmp_path, lambda x, y: tf.raw_ops.AddN(inputs=[x, y, x]), x, x)
    check(tmp_path, lambda x: tf.raw_ops.Add(x=x, y=x), x)
    check(tmp_path, lambda x: tf.raw_ops.Div(x=x, y=3.0), x)


def test_comparisons(tmp_path: Path) -> None:
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
    check(
        tmp_path,
        lambda x, y: [tf.cast(f(x, y), tf.float32) for f in operations],
        x,
        y,
    )


def test_unary(tmp_path: Path) -> None:
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
    check(
        tmp_path,
        lambda x: [f(x) for f in operations],
        rand(3, 5, low=0.1, high=4),
    )
    check(tmp_path, lambda x: tf.raw_ops.Inv(x=x), rand(3, low=1))


def test_activations(tmp_path: Path) -> None:
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
    check(
        tmp_path,
        lambda x: [f(x) for f in operations],
        rand(3, 7, low=-8, high=8),
    )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

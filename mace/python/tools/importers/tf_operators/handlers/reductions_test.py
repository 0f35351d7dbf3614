# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sums and extremes, along axes and so far, against TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")
raw = tf.raw_ops

_FAMILY = Family("reductions")
check = _FAMILY.check


@pytest.mark.parametrize("keep", [False, True])
def test_reductions(keep: bool) -> None:
    operations = [
        tf.reduce_mean,
        tf.reduce_sum,
        tf.reduce_max,
        tf.reduce_min,
        tf.reduce_prod,
    ]
    check(lambda x: [f(x, [0, -1], keep) for f in operations], rand(3, 4, 5))


def test_lengths_and_conditions() -> None:
    check(
        lambda x: (
            tf.nn.l2_loss(x),
            tf.norm(x, axis=1),
            raw.EuclideanNorm(input=x, axis=[0, 1], keep_dims=True),
            tf.reduce_all(x > -1, axis=1),
            tf.reduce_any(x > 1, axis=[0, 1], keepdims=True),
            tf.reduce_all(x > -1, axis=[]),
        ),
        rand(3, 4),
    )


@pytest.mark.parametrize("axis", [0, 2, -1])
def test_arg(axis: int) -> None:
    x = np.round(rand(4, 5, 6, 7))  # has ties
    check(lambda x: tf.argmax(x, axis), x)
    check(lambda x: tf.argmin(x, axis, tf.int32), x)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sums(axis: int, exclusive: bool, reverse: bool) -> None:
    floats = rand(2, 3, 4)
    for x in (floats, (floats * 9).astype(np.int32)):
        check(lambda x: tf.cumsum(x, axis, exclusive, reverse), x)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

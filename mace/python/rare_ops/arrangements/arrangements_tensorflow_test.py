# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reordered and different elements, against TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("arrangements_tensorflow")
check = _FAMILY.check


_RNG = np.random.default_rng(3)


@pytest.mark.parametrize(("time", "batch"), [(0, 1), (1, 0), (2, 0), (1, 2)])
def test_reversed_sequences(time: int, batch: int) -> None:
    lengths = np.array([1, 4, 0, 3], np.int32)
    check(
        lambda x, n: tf.reverse_sequence(x, n, seq_axis=time, batch_axis=batch),
        rand(4, 4, 4, 2),
        lengths,
    )


def test_different_elements() -> None:
    x = _RNG.integers(-3, 3, 12).astype(np.int32)
    check(lambda x: tuple(tf.unique(x)), x.astype(np.float32))
    check(lambda x: tuple(tf.unique_with_counts(x)), x)
    rows = x.reshape(6, 2)
    for axis in ([0], [1]):
        for op in (tf.raw_ops.UniqueV2, tf.raw_ops.UniqueWithCountsV2):
            check(lambda x, op=op, axis=axis: tuple(op(x=x, axis=axis)), rows)
    check(lambda x: tuple(tf.unique(x)), x.astype(np.int8))


def test_inverse_permutations() -> None:
    order = np.array([2, 0, 3, 1], np.int32)
    check(tf.math.invert_permutation, order)


def test_results_known_now_have_their_size() -> None:
    found = tf.constant([0, 3, 3, 1])

    def total(x: Any) -> Any:
        values, _, counts = tf.unique_with_counts(found)
        positions = tf.cast(tf.where(found > 0), tf.float32)
        sums = tf.reduce_sum(values * counts) + tf.shape(values)[0]
        return x + tf.cast(sums, tf.float32) + tf.reduce_sum(positions)

    check(total, rand(2))


def test_numbers() -> None:
    def model(x: object, y: object) -> object:
        a, b = tf.raw_ops.ShapeN(input=[x, y])
        whole = tf.raw_ops.BroadcastArgs(s0=a, s1=b)
        numbers = tf.raw_ops.LinSpace(start=0.0, stop=1.0, num=5)
        return numbers, whole, tf.broadcast_to(x, whole)

    check(model, rand(1, 4), rand(3, 1), dynamic=True, freeze=False)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

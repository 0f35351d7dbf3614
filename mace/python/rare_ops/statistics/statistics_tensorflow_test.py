# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Segments, counts, places and products so far, against TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")
raw = tf.raw_ops

_FAMILY = Family("statistics_tensorflow")
check = _FAMILY.check


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_products(axis: int, exclusive: bool, reverse: bool) -> None:
    floats = rand(2, 1, 7)
    for x in (floats, (floats * 5).astype(np.int32)):
        check(lambda x: tf.math.cumprod(x, axis, exclusive, reverse), x)


_RNG = np.random.default_rng(5)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_segments(dtype: Any) -> None:
    x = (rand(6, 3) * 9).astype(dtype)
    ids = np.array([0, 0, 2, 2, 2, 3], np.int32)
    places = np.array([3, 0, 3, 1, 0, 3], np.int32)
    kinds = ("sum", "prod", "max", "min")
    check(
        lambda x, p: (
            *(getattr(tf.math, f"segment_{kind}")(x, ids) for kind in kinds),
            *(getattr(tf.math, f"unsorted_segment_{kind}")(x, p, 5) for kind in kinds),
        ),
        x,
        places,
    )
    if dtype is np.float32:
        check(lambda x: tf.math.segment_mean(x, ids), x)


def test_segments_of_elements() -> None:
    ids = np.array([[0, 1], [1, 2]], np.int32)
    check(lambda x: tf.math.unsorted_segment_sum(x, tf.constant(ids), 3), rand(2, 2, 4))


def test_counts() -> None:
    x = np.array([1, 4, 1, 0, 9, 1], np.int32)
    none, weights = np.zeros(0, np.float32), rand(6)
    check(
        lambda x, w: (
            raw.Bincount(arr=x, size=6, weights=none.astype(np.int32)),
            raw.Bincount(arr=x, size=6, weights=w),
            raw.DenseBincount(input=x, size=6, weights=none),
            raw.DenseBincount(input=x, size=6, weights=w),
            raw.DenseBincount(
                input=tf.reshape(x, [2, 3]), size=6, weights=tf.reshape(w, [2, 3])
            ),
            raw.DenseBincount(
                input=tf.reshape(x, [2, 3]), size=10, weights=none.astype(np.int32)
            ),
        ),
        x,
        weights,
    )


def test_places() -> None:
    rows = np.sort(_RNG.integers(0, 9, (2, 6)), axis=1).astype(np.float32)
    values = np.array([[3, 9, -1], [0, 4, 5]], np.float32)
    check(
        lambda r, v: (
            tf.searchsorted(r, v),
            tf.searchsorted(r, v, side="right"),
            raw.Bucketize(input=v, boundaries=[0.0, 4.0, 5.0]),
        ),
        rows,
        values,
    )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

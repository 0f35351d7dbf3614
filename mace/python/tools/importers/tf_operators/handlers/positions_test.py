# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Selected, placed and reordered elements, against TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("positions")
check = _FAMILY.check


_RNG = np.random.default_rng(3)


@pytest.mark.parametrize("k", [1, 3, 9])
def test_the_largest(k: int) -> None:
    floats = rand(3, 4, 9)
    # With equal elements, of which the first ones are wanted.
    for x in (floats, (floats * 3).astype(np.int32)):
        check(lambda x: tuple(tf.math.top_k(x, k)), x)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_slices_at_positions(axes: int) -> None:
    indices = _RNG.integers(0, 2, (2, 5, axes)).astype(np.int32)
    check(tf.gather_nd, rand(2, 3, 4), indices)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_sums_of_updates(axes: int) -> None:
    shape = (3, 4, 5)
    indices = _RNG.integers(0, 3, (6, axes)).astype(np.int32)
    updates = rand(6, *shape[axes:])
    add = tf.raw_ops.ScatterNdNonAliasingAdd
    check(
        lambda x, i, u: add(input=x, indices=i, updates=u),
        rand(*shape),
        indices,
        updates,
    )
    for x in (updates, (updates * 9).astype(np.int32)):
        check(lambda i, x: tf.scatter_nd(i, x, shape), indices, x)


@pytest.mark.parametrize(
    "name",
    [
        "tensor_scatter_nd_update",
        "tensor_scatter_nd_add",
        "tensor_scatter_nd_sub",
        "tensor_scatter_nd_max",
        "tensor_scatter_nd_min",
    ],
)
def test_changed_slices(name: str) -> None:
    function: Any = getattr(tf, name)
    indices = np.array([[2, 1], [0, 3]], np.int32)
    check(function, rand(3, 4, 5), indices, rand(2, 5))


def test_the_largest_of_bytes_are_refused() -> None:
    with pytest.raises(MaceError, match="elements of type uint8"):
        check(lambda x: tf.math.top_k(x, 1).values, np.ones(3, np.uint8))


@pytest.mark.parametrize("shape", [(9,), (3, 4), (2, 3, 4)])
def test_positions_that_are_not_0(shape: tuple[int, ...]) -> None:
    check(tf.where, np.maximum(rand(*shape), 0))
    check(lambda x: tf.where(x > 9), rand(*shape))


def test_elements_under_a_mask() -> None:
    def chosen(x: Any, mask: Any) -> Any:
        return tf.boolean_mask(x, mask > 0) * 2.0

    check(chosen, rand(6, 3), rand(6))
    check(chosen, rand(4, 3), rand(4, 3))
    check(lambda x: tf.gather_nd(x, tf.where(x > 0)), rand(3, 4, 2))


def test_what_needs_the_number_of_results_is_refused() -> None:
    with pytest.raises(MaceError, match="only the run determines"):
        check(lambda x: tf.reduce_sum(tf.where(x > 0)), rand(5))
    with pytest.raises(MaceError, match="has no dimensions"):
        check(tf.where, np.array(1.0, np.float32))


def test_choices() -> None:
    x, y = rand(3, 4, 5), rand(4, 1)
    check(lambda x, y: tf.where(x > 0, x, y), x, y)
    check(lambda x: tf.where(x[:, 0, :1] > 0, tf.constant(1.5), x[0, :3]), x)
    rows = rand(3)
    for other in (x, rows):
        check(lambda x, c: tf.raw_ops.Select(condition=c > 0, x=x, y=-x), other, rows)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis: int) -> None:
    indices = np.array([[0, 2, -1], [3, 1, 4]], np.int32)
    check(lambda i: tf.one_hot(i, 4, 2.5, -1.0, axis), indices)
    check(lambda i: tf.one_hot(i, 4, axis=axis, dtype=tf.int32), indices)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

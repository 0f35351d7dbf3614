# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, equations and reductions, against TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")
raw = tf.raw_ops

# TensorFlow's Python interface no longer makes these.
_NOT_MADE = frozenset({"BatchMatMul", "BatchMatMulV3"})
_FAMILY = Family("reductions", _NOT_MADE)
check = _FAMILY.check


@pytest.mark.parametrize("a, b", [(False, False), (True, False), (False, True)])
def test_matmul(a: bool, b: bool) -> None:
    x = rand(5, 4) if a else rand(4, 5)
    y = rand(6, 5) if b else rand(5, 6)
    check(lambda x, y: tf.matmul(x, y, a, b), x, y)
    check(lambda x: tf.matmul(x, y, a, b), x)
    check(
        lambda x, y: tf.matmul(x, y, transpose_b=True), rand(2, 1, 4, 5), rand(3, 6, 5)
    )


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
def test_equations(equation: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [rand(*shape) for shape in shapes]
    check(lambda *x: tf.einsum(equation, *x), *arrays)


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

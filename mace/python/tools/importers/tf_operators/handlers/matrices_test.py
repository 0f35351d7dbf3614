# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and equations, against TensorFlow."""

from __future__ import annotations

import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

# TensorFlow's Python interface no longer makes these.
_NOT_MADE = frozenset({"BatchMatMul", "BatchMatMulV3"})
_FAMILY = Family("matrices", _NOT_MADE)
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


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that arrange and copy tensors, and ask for shapes, against TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")
raw = tf.raw_ops

_FAMILY = Family("arrangement")
check = _FAMILY.check


def test_arrangement() -> None:
    x = rand(2, 3, 4)
    check(lambda x: tf.reshape(x, [4, -1]), x)
    check(lambda x: tf.transpose(x, [2, 0, 1]), x)
    check(lambda x: tf.squeeze(x, [0, 2]), rand(1, 3, 1, 2))
    check(lambda x: tf.squeeze(x), rand(1, 3, 1, 2))
    check(lambda x: tf.expand_dims(x, -1), x)
    check(lambda x: tf.concat([x, x * 2], 1), x)
    check(lambda x: tf.raw_ops.Concat(concat_dim=2, values=[x, x]), x)
    check(lambda x: tf.stack([x, x * 2], 1), x)
    check(lambda x: tf.unstack(x, axis=1), x)
    check(lambda x: tf.split(x, 2, 2), x)
    check(lambda x: tf.split(x, [1, -1], 2), x)
    check(lambda x: tf.gather(x, [2, 0, 2], axis=1), x)
    rows = [[1, 0, 1]] * x.shape[0]
    check(lambda x: tf.gather(x, rows, axis=1, batch_dims=1), x)
    check(lambda x: tf.raw_ops.Gather(params=x, indices=[1, 0]), x)


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "SYMMETRIC"])
def test_pad(mode: str) -> None:
    pads = [[0, 0], [1, 2], [2, 0]]
    x = rand(2, 3, 4)
    check(lambda x: tf.pad(x, pads, mode), x)
    check(lambda x: tf.pad(x, pads, constant_values=-1.5), x)


SLICES: list[Callable[[Any], Any]] = [
    lambda x: x[1:, ::2, -3:-1],
    lambda x: x[..., 1],
    lambda x: x[0, ..., ::-1],
    lambda x: x[:, tf.newaxis, 1, ..., tf.newaxis],
    lambda x: x[-1],
    lambda x: x[::-1, 4:0:-2],
    lambda x: x[1:1],
    lambda x: tf.slice(x, [0, 1, 2], [-1, 2, 1]),
]


@pytest.mark.parametrize("number", range(len(SLICES)))
def test_slices(number: int) -> None:
    check(SLICES[number], rand(3, 5, 4))


def test_reverse() -> None:
    for axes in ([0], [1, -1], []):
        check(lambda x, axes=axes: tf.reverse(x, axes), rand(2, 3, 4))


def test_shape_arithmetic_is_folded() -> None:
    def arithmetic(x: Any) -> list[Any]:
        return [
            tf.reshape(x, [tf.shape(x)[0], tf.size(x) // tf.shape(x)[0]]),
            x + tf.zeros_like(x) + tf.ones_like(x),
            x * tf.cast(tf.raw_ops.Rank(input=x), tf.float32),
            x + tf.fill([tf.shape(x)[2]], 2.0),
            x + tf.cast(tf.range(0, tf.shape(x)[2] * 2, 2), tf.float32),
        ]

    check(arithmetic, rand(2, 3, 4), dynamic=True)


def test_copies() -> None:
    check(
        lambda x, i: (
            tf.tile(x, [2, 1, 3]),
            tf.broadcast_to(x, [2, 3, 4, 5]),
            tf.broadcast_to(i, [4, 2]),
            tf.broadcast_to(i > 2, [4, 2]),
            tf.roll(x, shift=1, axis=2),
            tf.roll(x, shift=[-2, 7], axis=[0, 1]),
            raw.ConjugateTranspose(x=x, perm=[2, 0, 1]),
            raw.Reverse(tensor=x, dims=[True, False, True]),
            raw.Reverse(tensor=x, dims=[False, False, False]),
        ),
        rand(3, 1, 5),
        np.array([1, 4], np.int32),
    )


def test_shapes_of_several() -> None:
    check(
        lambda x, y: tuple(raw.ShapeN(input=[x, y])),
        rand(1, 4),
        rand(3, 1),
        dynamic=True,
        freeze=False,
    )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

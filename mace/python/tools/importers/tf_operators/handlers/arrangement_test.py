# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that arrange, reduce and ask for shapes, against TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("arrangement")
check = _FAMILY.check


def test_arrangement(tmp_path: Path) -> None:
    x = rand(2, 3, 4)
    check(tmp_path, lambda x: tf.reshape(x, [4, -1]), x)
    check(tmp_path, lambda x: tf.transpose(x, [2, 0, 1]), x)
    check(tmp_path, lambda x: tf.squeeze(x, [0, 2]), rand(1, 3, 1, 2))
    check(tmp_path, lambda x: tf.squeeze(x), rand(1, 3, 1, 2))
    check(tmp_path, lambda x: tf.expand_dims(x, -1), x)
    check(tmp_path, lambda x: tf.concat([x, x * 2], 1), x)
    check(tmp_path, lambda x: tf.raw_ops.Concat(concat_dim=2, values=[x, x]), x)
    check(tmp_path, lambda x: tf.stack([x, x * 2], 1), x)
    check(tmp_path, lambda x: tf.unstack(x, axis=1), x)
    check(tmp_path, lambda x: tf.split(x, 2, 2), x)
    check(tmp_path, lambda x: tf.split(x, [1, -1], 2), x)
    check(tmp_path, lambda x: tf.gather(x, [2, 0, 2], axis=1), x)
    rows = [[1, 0, 1]] * x.shape[0]
    check(tmp_path, lambda x: tf.gather(x, rows, axis=1, batch_dims=1), x)
    check(tmp_path, lambda x: tf.raw_ops.Gather(params=x, indices=[1, 0]), x)


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "SYMMETRIC"])
def test_pad(tmp_path: Path, mode: str) -> None:
    pads = [[0, 0], [1, 2], [2, 0]]
    x = rand(2, 3, 4)
    check(tmp_path, lambda x: tf.pad(x, pads, mode), x)
    check(tmp_path, lambda x: tf.pad(x, pads, constant_values=-1.5), x)


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
def test_slices(tmp_path: Path, number: int) -> None:
    check(tmp_path, SLICES[number], rand(3, 5, 4))


@pytest.mark.parametrize("keep", [False, True])
def test_reductions(tmp_path: Path, keep: bool) -> None:
    operations = [
        tf.reduce_mean,
        tf.reduce_sum,
        tf.reduce_max,
        tf.reduce_min,
        tf.reduce_prod,
    ]
    check(
        tmp_path,
        lambda x: [f(x, [0, -1], keep) for f in operations],
        rand(3, 4, 5),
    )


def test_reverse(tmp_path: Path) -> None:
    for axes in ([0], [1, -1], []):
        check(tmp_path, lambda x, axes=axes: tf.reverse(x, axes), rand(2, 3, 4))


@pytest.mark.parametrize("axis", [0, 2, -1])
def test_arg(tmp_path: Path, axis: int) -> None:
    x = np.round(rand(4, 5, 6, 7))  # has ties
    check(tmp_path, lambda x: tf.argmax(x, axis), x)
    check(tmp_path, lambda x: tf.argmin(x, axis, tf.int32), x)


def test_shape_arithmetic_is_folded(tmp_path: Path) -> None:
    def arithmetic(x: Any) -> list[Any]:
        return [
            tf.reshape(x, [tf.shape(x)[0], tf.size(x) // tf.shape(x)[0]]),
            x + tf.zeros_like(x) + tf.ones_like(x),
            x * tf.cast(tf.raw_ops.Rank(input=x), tf.float32),
            x + tf.fill([tf.shape(x)[2]], 2.0),
            x + tf.cast(tf.range(0, tf.shape(x)[2] * 2, 2), tf.float32),
        ]

    check(tmp_path, arithmetic, rand(2, 3, 4), dynamic=True)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

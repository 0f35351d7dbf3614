# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that move, slice, join and repeat, against TensorFlow Lite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tflite.testing import Family, one_operator, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("arrangement")
check = _FAMILY.check
check_int8 = _FAMILY.check_int8

_MOVES: list[Callable[[Any], Any]] = [
    lambda x: tf.reshape(x, [5, -1]),
    lambda x: tf.transpose(x, [2, 0, 1]),
    lambda x: tf.expand_dims(x, 1),
    lambda x: tf.squeeze(tf.expand_dims(x, 1), [1]),
    lambda x: tf.stack([x, x], 1),
    lambda x: tf.concat([x, x], 1),
    lambda x: tf.unstack(x, axis=1)[1:],
    lambda x: tf.split(x, 2, 2),
    lambda x: tf.split(x, [1, 3], 2),
    lambda x: tf.pad(x, [[0, 0], [1, 2], [2, 0]]),
    lambda x: tf.pad(x, [[0, 0], [1, 2], [2, 0]], "REFLECT"),
    lambda x: tf.pad(x, [[0, 0], [1, 2], [2, 0]], "SYMMETRIC"),
    lambda x: tf.pad(x, [[0, 0], [1, 2], [2, 0]], constant_values=-1.5),
    lambda x: tf.tile(x, [1, 2, 3]),
    lambda x: tf.reverse(x, [1]),
    lambda x: x[1:, ::2, -3:-1],
    lambda x: x[..., 1],
    lambda x: x[0, ..., ::-1],
    lambda x: x[:, tf.newaxis, 1, ..., tf.newaxis],
    lambda x: x[-1],
    lambda x: x[::-1, 4:0:-2],
    lambda x: tf.slice(x, [0, 1, 2], [-1, 2, 1]),
]


@pytest.mark.parametrize("number", range(len(_MOVES)))
def test_moves(tmp_path: Path, number: int) -> None:
    check(tmp_path, _MOVES[number], rand(3, 5, 4))


@pytest.mark.parametrize("number", range(len(_MOVES)))
def test_moves_of_integers(tmp_path: Path, number: int) -> None:
    check_int8(tmp_path, _MOVES[number], rand(3, 5, 4), share=0)


def test_concatenation_of_several_scales(tmp_path: Path) -> None:
    def joined(a: Any, b: Any) -> Any:
        return tf.concat([a, b * 0.3], 1)

    check_int8(tmp_path, joined, rand(3, 50), rand(3, 40))


@pytest.mark.parametrize("kind", [np.float32, np.int32, np.bool_])
def test_broadcast(tmp_path: Path, kind: Any) -> None:
    x = rand(3, 1).astype(kind)
    for shape in ([3, 4], [2, 3, 1], [3, 1]):
        data = one_operator(
            "BROADCAST_TO",
            [x],
            [(shape, x.dtype.name)],
            {1: np.array(shape, np.int32)},
            version=2,
        )
        _FAMILY.check_file(tmp_path, data, x)


def test_broadcast_of_shapes(tmp_path: Path) -> None:
    def summed(x: Any) -> Any:
        a, b = tf.constant([3, 1]), tf.constant([2, 1, 4])
        shape = tf.raw_ops.BroadcastArgs(s0=a, s1=b)
        return x + tf.cast(shape, tf.float32)

    check(tmp_path, summed, rand(3))
    a, b = np.array([3, 1], np.int32), np.array([2, 1, 4], np.int32)
    data = one_operator("BROADCAST_ARGS", [], [((3,), "int32")], {0: a, 1: b})
    _FAMILY.check_file(tmp_path, data)


def test_reshape_of_old_files(tmp_path: Path) -> None:
    data = one_operator(
        "RESHAPE",
        [rand(2, 6)],
        [((3, 4), "float32")],
        {},
        {"new_shape": [3, 4]},
        "ReshapeOptions",
    )
    _FAMILY.check_file(tmp_path, data, rand(2, 6))


def test_dimensions_of_one(tmp_path: Path) -> None:
    # The converter makes RESHAPE of them where shapes are known.
    x = rand(2, 6)
    data = one_operator(
        "EXPAND_DIMS", [x], [((2, 1, 6), "float32")], {1: np.array([-2], np.int32)}
    )
    _FAMILY.check_file(tmp_path, data, x)
    x = rand(1, 6, 1)
    for axes, shape in (([], (6,)), ([0], (6, 1)), ([-1], (1, 6))):
        options = {"squeeze_dims": axes}
        data = one_operator(
            "SQUEEZE", [x], [(shape, "float32")], {}, options, "SqueezeOptions"
        )
        _FAMILY.check_file(tmp_path, data, x)


def test_join_of_one(tmp_path: Path) -> None:
    data = one_operator(
        "CONCATENATION",
        [rand(2, 6)],
        [((2, 6), "float32")],
        {},
        {"axis": 1},
        "ConcatenationOptions",
    )
    _FAMILY.check_file(tmp_path, data, rand(2, 6))


@pytest.mark.parametrize("steps", [[1, 3], [2, 2], [1, 1]])
def test_dilate(steps: list[int], tmp_path: Path) -> None:
    x = rand(3, 4)
    shape = [(n - 1) * step + 1 for n, step in zip(x.shape, steps)]
    constants = {1: np.array(steps, np.int32), 2: np.array(0.5, np.float32)}
    data = one_operator("DILATE", [x], [(shape, "float32")], constants)
    _FAMILY.check_file(tmp_path, data, x)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

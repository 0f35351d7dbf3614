# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Found, placed and reduced elements, and random numbers, against TensorFlow Lite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tflite.testing import (
    Family,
    converted,
    one_operator,
    operators_of,
    rand,
    run_file,
)
from mace.python.tools.ir.dtypes import Array

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("positions")
check = _FAMILY.check
check_int8 = _FAMILY.check_int8
check_file = _FAMILY.check_file


def test_top_k() -> None:
    check(lambda x: tf.math.top_k(x, 3), rand(2, 3, 7))
    integers = np.random.default_rng(3).permutation(12).reshape(2, 6).astype(np.int32)
    check(lambda x: tf.math.top_k(x, 6), integers)


def test_scatter_nd() -> None:
    places = np.array([[1], [4], [1]], np.int32)
    check(lambda x: tf.scatter_nd(places, x, [5, 3]), rand(3, 3))
    pairs = np.array([[0, 2], [1, 1]], np.int32)
    check(lambda i, x: tf.scatter_nd(i, x, [2, 3]), pairs, rand(2))


def test_reverse_sequence() -> None:
    lengths = np.array([2, 0, 4], np.int32)
    check(lambda x: tf.reverse_sequence(x, lengths, 1), rand(3, 4, 2))
    check(
        lambda x, n: tf.reverse_sequence(x, n, seq_axis=0, batch_axis=2),
        rand(4, 2, 3),
        lengths,
    )


def test_diagonals() -> None:
    check(lambda x: tf.linalg.diag(x), rand(2, 4))
    check(lambda x, y: tf.linalg.set_diag(x, y), rand(2, 3, 4), rand(2, 3))


def test_segments() -> None:
    check(lambda x: tf.math.segment_sum(x, [0, 0, 1, 2]), rand(4, 3))
    for kind in ("sum", "prod", "max", "min"):
        combine = getattr(tf.math, f"unsorted_segment_{kind}")
        check(lambda x, f=combine: f(x, [0, 2, 1, 2], 3), rand(4, 3))


def test_where_and_unique() -> None:
    check(lambda x: tf.where(x > 0), rand(3, 4))
    values = np.array([3, 1, 3, 2, 1], np.int32)
    check(lambda x: tf.unique(x), values)
    check(lambda x: tf.unique(x), values.astype(np.float32))


def test_buckets() -> None:
    check(
        lambda x: tf.raw_ops.Bucketize(input=x, boundaries=[-0.5, 0.25, 1.0]),
        np.append(rand(2, 5).reshape(-1), np.float32(0.25)),
    )


@pytest.mark.parametrize("most", [3, 6, 9])
@pytest.mark.parametrize("scored", [False, True])
def test_non_max_suppression(scored: bool, most: int) -> None:
    corners = np.sort(rand(6, 2, 2), axis=1).reshape(6, 4)
    raw = tf.raw_ops

    def select(boxes: Any, scores: Any) -> Any:
        common = {
            "boxes": boxes,
            "scores": scores,
            "max_output_size": most,
            "iou_threshold": 0.3,
            "score_threshold": 0.1,
            "pad_to_max_output_size": True,
        }
        if not scored:
            return tuple(raw.NonMaxSuppressionV4(**common))
        return tuple(raw.NonMaxSuppressionV5(soft_nms_sigma=0.0, **common))

    check(select, corners, np.abs(rand(6)))


@pytest.mark.parametrize("start", [[0, 1, 0], [1, 9, 0], [-3, 2, 1]])
@pytest.mark.parametrize("block", [(1, 2, 5), (2, 1, 3), (3, 4, 5)])
def test_dynamic_update_slice(block: tuple[int, ...], start: list[int]) -> None:
    x, update = rand(3, 4, 5), rand(*block) + 5
    places = np.array(start, np.int32)
    data = one_operator(
        "DYNAMIC_UPDATE_SLICE", [x, update, places], [(x.shape, "float32")]
    )
    check_file(data, x, update, places)


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
    check(
        lambda x: [tf.reduce_any(x > 1, 1, keep), tf.reduce_all(x > -1, 1, keep)],
        rand(3, 4, 5),
    )


@pytest.mark.parametrize("reduce", ["mean", "sum", "max", "min"])
def test_reductions_of_integers(reduce: str) -> None:
    function = getattr(tf, f"reduce_{reduce}")
    # The interpreter's mean is up to 0.75 steps from the exact one.
    x = rand(2, 6, 7, 20)
    check_int8(lambda x: function(x, [1, 2]), x, share=0.4)
    check_int8(lambda x: function(x, [1], True), x, share=0.4)


def test_mean_of_16_bits() -> None:
    x = rand(2, 6, 7, 20)
    check_int8(lambda x: tf.reduce_mean(x, [1, 2]), x, integers="16x8")


@pytest.mark.parametrize("axis", [0, 2, -1])
def test_arg(axis: int) -> None:
    def every(x: Any) -> list[Any]:
        return [tf.argmax(x, axis), tf.argmin(x, axis, tf.int32)]

    check(every, np.round(rand(4, 5, 6, 7)))  # has ties
    check_int8(every, np.round(rand(4, 5, 6, 7)), steps=0)


def test_cumsum() -> None:
    for exclusive in (False, True):
        for reverse in (False, True):
            check(
                lambda x, e=exclusive, r=reverse: tf.cumsum(x, 1, e, r), rand(3, 4, 5)
            )


def _drawn(
    function: Callable[[Any], Any], x: Array, operator: str, folder: Path
) -> Array:
    data, path = converted(function, [x]), folder / "m.tflite"
    assert operator in operators_of(data, path)
    _FAMILY.note(operator)
    (found,) = run_file(data, [x], path)
    return found


def test_numbers(tmp_path: Path) -> None:
    x = np.zeros((64, 64), np.float32)
    drawn = _drawn(
        lambda x: x + tf.random.normal((64, 64)), x, "RANDOM_STANDARD_NORMAL", tmp_path
    )
    assert abs(drawn.mean()) < 0.1 and abs(drawn.std() - 1) < 0.1
    drawn = _drawn(
        lambda x: x + tf.random.uniform((64, 64)), x, "RANDOM_UNIFORM", tmp_path
    )
    assert drawn.min() >= 0 and drawn.max() < 1 and abs(drawn.mean() - 0.5) < 0.05


def test_classes(tmp_path: Path) -> None:
    chances = np.array([0.1, 0.7, 0.2], np.float32)
    drawn = _drawn(
        lambda x: tf.random.categorical(x, 2000),
        np.log(chances)[None],
        "MULTINOMIAL",
        tmp_path,
    )
    assert drawn.shape == (1, 2000)
    shares = np.bincount(drawn[0], minlength=3) / 2000
    np.testing.assert_allclose(shares, chances, atol=0.05)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

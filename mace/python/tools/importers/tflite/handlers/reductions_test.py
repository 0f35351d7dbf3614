# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions, sums along an axis, and extremes, against TensorFlow Lite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tflite.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("reductions")
check = _FAMILY.check
check_int8 = _FAMILY.check_int8


@pytest.mark.parametrize("keep", [False, True])
def test_reductions(tmp_path: Path, keep: bool) -> None:
    operations = [
        tf.reduce_mean,
        tf.reduce_sum,
        tf.reduce_max,
        tf.reduce_min,
        tf.reduce_prod,
    ]
    check(tmp_path, lambda x: [f(x, [0, -1], keep) for f in operations], rand(3, 4, 5))
    check(
        tmp_path,
        lambda x: [tf.reduce_any(x > 1, 1, keep), tf.reduce_all(x > -1, 1, keep)],
        rand(3, 4, 5),
    )


@pytest.mark.parametrize("reduce", ["mean", "sum", "max", "min"])
def test_reductions_of_integers(tmp_path: Path, reduce: str) -> None:
    function = getattr(tf, f"reduce_{reduce}")
    # The interpreter's mean is up to 0.75 steps from the exact one.
    x = rand(2, 6, 7, 20)
    check_int8(tmp_path, lambda x: function(x, [1, 2]), x, share=0.4)
    check_int8(tmp_path, lambda x: function(x, [1], True), x, share=0.4)


def test_mean_of_16_bits(tmp_path: Path) -> None:
    x = rand(2, 6, 7, 20)
    check_int8(tmp_path, lambda x: tf.reduce_mean(x, [1, 2]), x, integers="16x8")


@pytest.mark.parametrize("axis", [0, 2, -1])
def test_arg(tmp_path: Path, axis: int) -> None:
    def every(x: Any) -> list[Any]:
        return [tf.argmax(x, axis), tf.argmin(x, axis, tf.int32)]

    check(tmp_path, every, np.round(rand(4, 5, 6, 7)))  # has ties
    check_int8(tmp_path, every, np.round(rand(4, 5, 6, 7)), steps=0)


def test_cumsum(tmp_path: Path) -> None:
    for exclusive in (False, True):
        for reverse in (False, True):
            check(
                tmp_path,
                lambda x, e=exclusive, r=reverse: tf.cumsum(x, 1, e, r),
                rand(3, 4, 5),
            )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

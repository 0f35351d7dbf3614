# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Choices, against TensorFlow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("choose")
check = _FAMILY.check


def test_choices(tmp_path: Path) -> None:
    x, y = rand(3, 4, 5), rand(4, 1)
    check(tmp_path, lambda x, y: tf.where(x > 0, x, y), x, y)
    check(tmp_path, lambda x: tf.where(x[:, 0, :1] > 0, tf.constant(1.5), x[0, :3]), x)
    rows = rand(3)
    for other in (x, rows):
        check(
            tmp_path,
            lambda x, c: tf.raw_ops.Select(condition=c > 0, x=x, y=-x),
            other,
            rows,
        )


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(tmp_path: Path, axis: int) -> None:
    indices = np.array([[0, 2, -1], [3, 1, 4]], np.int32)
    check(tmp_path, lambda i: tf.one_hot(i, 4, 2.5, -1.0, axis), indices)
    check(tmp_path, lambda i: tf.one_hot(i, 4, axis=axis, dtype=tf.int32), indices)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

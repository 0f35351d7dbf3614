# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Found, placed and reversed elements, against TensorFlow Lite."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.tflite.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("positions")
check = _FAMILY.check


def test_top_k(tmp_path: Path) -> None:
    check(tmp_path, lambda x: tf.math.top_k(x, 3), rand(2, 3, 7))
    integers = np.random.default_rng(3).permutation(12).reshape(2, 6).astype(np.int32)
    check(tmp_path, lambda x: tf.math.top_k(x, 6), integers)


def test_scatter_nd(tmp_path: Path) -> None:
    places = np.array([[1], [4], [1]], np.int32)
    check(tmp_path, lambda x: tf.scatter_nd(places, x, [5, 3]), rand(3, 3))
    pairs = np.array([[0, 2], [1, 1]], np.int32)
    check(tmp_path, lambda i, x: tf.scatter_nd(i, x, [2, 3]), pairs, rand(2))


def test_reverse_sequence(tmp_path: Path) -> None:
    lengths = np.array([2, 0, 4], np.int32)
    check(tmp_path, lambda x: tf.reverse_sequence(x, lengths, 1), rand(3, 4, 2))
    check(
        tmp_path,
        lambda x, n: tf.reverse_sequence(x, n, seq_axis=0, batch_axis=2),
        rand(4, 2, 3),
        lengths,
    )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

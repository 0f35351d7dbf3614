# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Copies and numbers of shapes, compared with TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")
raw = tf.raw_ops
_FAMILY = Family("repeat")


@pytest.fixture(scope="module", autouse=True)
def _every_handler_is_compared() -> Iterator[None]:
    yield
    _FAMILY.assert_all_tried()


def test_copies(tmp_path: Path) -> None:
    _FAMILY.check(
        tmp_path,
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


def test_numbers(tmp_path: Path) -> None:
    def model(x: object, y: object) -> object:
        a, b = raw.ShapeN(input=[x, y])
        whole = raw.BroadcastArgs(s0=a, s1=b)
        numbers = raw.LinSpace(start=0.0, stop=1.0, num=5)
        return numbers, whole, tf.broadcast_to(x, whole)

    _FAMILY.check(tmp_path, model, rand(1, 4), rand(3, 1), dynamic=True, freeze=False)

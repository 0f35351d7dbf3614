# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that compute nothing, and constants, against TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

# TensorFlow's Python interface no longer makes these.
_NOT_MADE = frozenset({"PlaceholderWithDefault", "PreventGradient", "Snapshot"})
_FAMILY = Family("plumbing", _NOT_MADE)
check = _FAMILY.check


def test_plumbing(tmp_path: Path) -> None:
    check(
        tmp_path,
        lambda x: [
            tf.stop_gradient(tf.identity(x)) + 1,
            tf.raw_ops.GuaranteeConst(input=x) * 2,
            *tf.identity_n([x, x * 2]),
            tf.debugging.check_numerics(x, "finite"),
            tf.ensure_shape(x, [3]),
        ],
        rand(3),
    )


def test_constants_of_every_type(tmp_path: Path) -> None:
    for dtype in (tf.float16, tf.bfloat16, tf.float64, tf.int64, tf.uint8):
        held = tf.constant([1, 2, 3], dtype)
        check(tmp_path, _adds(held), rand(3))


def _adds(held: Any) -> Callable[[Any], Any]:
    return lambda x: x + tf.cast(held, tf.float32)


def test_filled_tensors(tmp_path: Path) -> None:
    def filled(x: Any) -> list[Any]:
        return [
            x + tf.zeros_like(x) + tf.ones_like(x),
            x + tf.fill([tf.shape(x)[2]], 2.0),
            x + tf.cast(tf.range(0, tf.shape(x)[2] * 2, 2), tf.float32),
        ]

    check(tmp_path, filled, rand(2, 3, 4), dynamic=True)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

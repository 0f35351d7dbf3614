# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Selected elements and filled tensors, against TensorFlow Lite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.tflite.testing import (
    Family,
    import_file,
    one_operator,
    rand,
)

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("choose")
check = _FAMILY.check
check_int8 = _FAMILY.check_int8


def test_select(tmp_path: Path) -> None:
    check(tmp_path, lambda a, b: tf.where(a > b, a, b * 2), rand(3, 4), rand(3, 4))
    check(tmp_path, lambda a, b: tf.where(a > b, a, 1.0), rand(3, 1), rand(4))
    a, b = rand(3, 4), rand(3, 4) + 5
    condition = np.array([True, False, True])
    data = one_operator("SELECT", [condition, a, b], [(a.shape, "float32")])
    _FAMILY.check_file(tmp_path, data, condition, a, b)


def test_gather(tmp_path: Path) -> None:
    check(tmp_path, lambda x: tf.gather(x, [2, 0, 2], axis=1), rand(2, 3, 4))
    indices = np.array([[1, 0], [1, 1]], np.int32)
    check(tmp_path, lambda x, i: tf.gather(x, i, axis=2), rand(2, 3, 4), indices)
    check_int8(tmp_path, lambda x: tf.gather(x, [2, 0], axis=1), rand(2, 3, 4), share=0)


@pytest.mark.parametrize(("axis", "batch"), [(1, 1), (2, 1), (-1, 1), (2, 2)])
def test_gather_in_each_batch(axis: int, batch: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    indices = rng.integers(0, 3, (2, 3, 2)).astype(np.int32)
    check(
        tmp_path,
        lambda x, i: tf.gather(x, i, axis=axis, batch_dims=batch),
        rand(2, 3, 4, 5),
        indices,
    )


def test_gather_nd(tmp_path: Path) -> None:
    x = rand(3, 4, 5)
    fixed = np.array([[[1, 0], [2, 3]]], np.int32)
    check(tmp_path, lambda x: tf.gather_nd(x, fixed), x)
    check(tmp_path, tf.gather_nd, x, fixed)
    check(tmp_path, tf.gather_nd, x, np.array([[1, 0, 4], [2, 3, 0]], np.int32))
    check(tmp_path, tf.gather_nd, x, np.array([[1]], np.int32))


def test_embedding_lookup(tmp_path: Path) -> None:
    ids = np.array([2, 0, 4], np.int32)
    data = one_operator(
        "EMBEDDING_LOOKUP", [ids], [((3, 6), "float32")], {1: rand(5, 6)}
    )
    _FAMILY.check_file(tmp_path, data, ids)


def test_one_hot(tmp_path: Path) -> None:
    indices = np.array([[1, 0], [3, 5]], np.int32)
    for axis in (-1, 0, 1):
        check(tmp_path, lambda i, axis=axis: tf.one_hot(i, 4, 2.0, -1.0, axis), indices)


def test_filled(tmp_path: Path) -> None:
    def every(x: Any) -> list[Any]:
        return [
            x + tf.fill([4], 2.0),
            x + tf.cast(tf.range(0, 8, 2), tf.float32),
            x + tf.cast(tf.shape(x)[0], tf.float32),
        ]

    check(tmp_path, every, rand(3, 4))
    x = rand(3, 4)
    for kind, inputs, shape, out in (
        ("SHAPE", {}, (2,), "int32"),
        ("RANK", {}, (), "int32"),
        ("ZEROS_LIKE", {}, (3, 4), "float32"),
    ):
        table = "ShapeOptions" if kind == "SHAPE" else ""
        options = {"out_type": 2} if table else {}
        data = one_operator(kind, [x], [(shape, out)], inputs, options, table)
        _FAMILY.check_file(tmp_path, data, x)
    numbers = {0: np.array([2, 3], np.int32), 1: np.array(1.5, np.float32)}
    data = one_operator("FILL", [], [((2, 3), "float32")], numbers)
    _FAMILY.check_file(tmp_path, data)
    ends = {i: np.array(n, np.int32) for i, n in enumerate((1, 9, 3))}
    data = one_operator("RANGE", [], [((3,), "int32")], ends)
    _FAMILY.check_file(tmp_path, data)


def test_large_constants_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    shape = {0: np.array([2**30, 2], np.int32), 1: np.array(1.5, np.float32)}
    ends = {i: np.array(n, np.int32) for i, n in enumerate((1, 2**31 - 1, 1))}
    for kind, numbers in (("FILL", shape), ("RANGE", ends)):
        path.write_bytes(one_operator(kind, [], [((1,), "int32")], numbers))
        with pytest.raises(UnsupportedNodesError, match="too large"):
            import_file(path)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

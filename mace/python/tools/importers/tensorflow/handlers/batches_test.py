# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Blocks to batches and back, against TensorFlow."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("batches")
check = _FAMILY.check


def test_batches_of_blocks(tmp_path: Path) -> None:
    image = rand(2, 6, 9, 3)
    check(tmp_path, lambda x: tf.space_to_batch(x, [2, 3], [[0, 0], [0, 0]]), image)
    check(tmp_path, lambda x: tf.space_to_batch(x, [4, 2], [[1, 1], [2, 1]]), image)
    check(tmp_path, lambda x: tf.space_to_batch(x, [3], [[1, 2]]), image)
    batch = rand(12, 3, 4, 5)
    check(tmp_path, lambda x: tf.batch_to_space(x, [2, 3], [[0, 0], [0, 0]]), batch)
    check(tmp_path, lambda x: tf.batch_to_space(x, [3, 2], [[1, 2], [0, 3]]), batch)
    check(tmp_path, lambda x: tf.batch_to_space(x, [4], [[0, 1]]), batch)


def test_blocks_of_one_size(tmp_path: Path) -> None:
    raw = tf.raw_ops
    edges = [[1, 1], [2, 1]]
    check(
        tmp_path,
        lambda x: raw.SpaceToBatch(input=x, paddings=edges, block_size=2),
        rand(2, 6, 9, 3),
    )
    check(
        tmp_path,
        lambda x: raw.BatchToSpace(input=x, crops=edges, block_size=2),
        rand(8, 3, 4, 5),
    )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Found, placed and reversed elements, against TensorFlow Lite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tflite.testing import (
    Family,
    one_operator,
    rand,
)

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


def test_diagonals(tmp_path: Path) -> None:
    check(tmp_path, lambda x: tf.linalg.diag(x), rand(2, 4))
    check(tmp_path, lambda x, y: tf.linalg.set_diag(x, y), rand(2, 3, 4), rand(2, 3))


def test_segments(tmp_path: Path) -> None:
    check(tmp_path, lambda x: tf.math.segment_sum(x, [0, 0, 1, 2]), rand(4, 3))
    for kind in ("sum", "prod", "max", "min"):
        combine = getattr(tf.math, f"unsorted_segment_{kind}")
        check(tmp_path, lambda x, f=combine: f(x, [0, 2, 1, 2], 3), rand(4, 3))


def test_where_and_unique(tmp_path: Path) -> None:
    check(tmp_path, lambda x: tf.where(x > 0), rand(3, 4))
    values = np.array([3, 1, 3, 2, 1], np.int32)
    check(tmp_path, lambda x: tf.unique(x), values)
    check(tmp_path, lambda x: tf.unique(x), values.astype(np.float32))


def test_buckets(tmp_path: Path) -> None:
    check(
        tmp_path,
        lambda x: tf.raw_ops.Bucketize(input=x, boundaries=[-0.5, 0.25, 1.0]),
        np.append(rand(2, 5).reshape(-1), np.float32(0.25)),
    )


@pytest.mark.parametrize("most", [3, 6, 9])
@pytest.mark.parametrize("scored", [False, True])
def test_non_max_suppression(scored: bool, most: int, tmp_path: Path) -> None:
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

    check(tmp_path, select, corners, np.abs(rand(6)))


@pytest.mark.parametrize(
    ("places", "shape", "values"),
    [
        ([[0, 1], [2, 2]], [3, 3], [0.5, -2.0]),
        ([1, 3], [5], [0.5, -2.0]),
        ([4], [5], [0.5]),
    ],
)
def test_sparse_to_dense(
    places: Any, shape: list[int], values: Any, tmp_path: Path
) -> None:
    check(
        tmp_path,
        lambda x: tf.raw_ops.SparseToDense(
            sparse_indices=places,
            output_shape=shape,
            sparse_values=x,
            default_value=0.25,
        ),
        np.array(values, np.float32),
    )


@pytest.mark.parametrize("start", [[0, 1, 0], [1, 9, 0], [-3, 2, 1]])
@pytest.mark.parametrize("block", [(1, 2, 5), (2, 1, 3), (3, 4, 5)])
def test_dynamic_update_slice(
    block: tuple[int, ...], start: list[int], tmp_path: Path
) -> None:
    x, update = rand(3, 4, 5), rand(*block) + 5
    places = np.array(start, np.int32)
    data = one_operator(
        "DYNAMIC_UPDATE_SLICE", [x, update, places], [(x.shape, "float32")]
    )
    _FAMILY.check_file(tmp_path, data, x, update, places)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

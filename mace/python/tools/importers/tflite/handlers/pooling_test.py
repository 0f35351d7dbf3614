# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling and normalisation, against TensorFlow Lite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.importers.tflite.testing import Family, one_operator, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("pooling")
check = _FAMILY.check
check_int8 = _FAMILY.check_int8


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("pool", ["max_pool2d", "avg_pool2d"])
def test_pool(tmp_path: Path, padding: str, pool: str) -> None:
    def pooled(x: Any) -> Any:
        return getattr(tf.nn, pool)(x, [3, 2], [2, 1], padding)

    check(tmp_path, pooled, rand(2, 7, 8, 3))
    # Means of integers are often between two integers.
    share = 0 if pool == "max_pool2d" else 0.2
    check_int8(tmp_path, pooled, rand(2, 7, 8, 3), share=share)


def test_pool_with_activation(tmp_path: Path) -> None:
    check(
        tmp_path,
        lambda x: tf.nn.relu6(tf.nn.avg_pool2d(x, 2, 2, "SAME")),
        rand(1, 6, 6, 3),
    )


def test_l2_pool(tmp_path: Path) -> None:
    x = rand(1, 6, 5, 3)
    options = {
        "padding": 0,
        "stride_w": 2,
        "stride_h": 1,
        "filter_width": 3,
        "filter_height": 2,
    }
    data = one_operator(
        "L2_POOL_2D", [x], [((1, 6, 3, 3), "float32")], {}, options, "Pool2DOptions"
    )
    _FAMILY.check_file(tmp_path, data, x)


def test_normalisation(tmp_path: Path) -> None:
    check(tmp_path, lambda x: tf.math.l2_normalize(x, -1, 1e-12), rand(2, 3, 9))
    x = rand(2, 3, 9)
    data = one_operator(
        "L2_NORMALIZATION", [x], [(x.shape, "float32")], {}, {}, "L2NormOptions"
    )
    _FAMILY.check_file(tmp_path, data, x)
    check(tmp_path, lambda x: tf.nn.lrn(x, 2, 1.5, 0.3, 0.7), rand(1, 3, 3, 9))


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

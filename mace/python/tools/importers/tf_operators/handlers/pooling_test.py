# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling, against TensorFlow."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("pooling")
check = _FAMILY.check


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("pool", ["max_pool2d", "avg_pool2d"])
def test_pool(tmp_path: Path, padding: str, pool: str) -> None:
    check(
        tmp_path,
        lambda x: getattr(tf.nn, pool)(x, [3, 2], [2, 1], padding),
        rand(2, 7, 8, 3),
    )


def test_local_response_norm(tmp_path: Path) -> None:
    check(tmp_path, lambda x: tf.nn.lrn(x, 2, 1.5, 0.3, 0.7), rand(1, 3, 3, 9))


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling of volumes, against TensorFlow."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("volume")
check = _FAMILY.check


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("strides", [[1, 1, 1], [2, 1, 3]])
def test_conv(strides: list[int], padding: str, tmp_path: Path) -> None:
    filters = rand(3, 2, 3, 4, 5)
    check(
        tmp_path,
        lambda x: tf.nn.conv3d(x, filters, [1, *strides, 1], padding),
        rand(2, 6, 7, 8, 4),
        tolerance=1e-4,
    )


@pytest.mark.parametrize(
    ("padding", "sizes"), [("SAME", (8, 3, 11)), ("VALID", (9, 4, 14))]
)
def test_transposed(padding: str, sizes: tuple[int, ...], tmp_path: Path) -> None:
    filters = rand(3, 2, 3, 5, 4)
    check(
        tmp_path,
        lambda x: tf.nn.conv3d_transpose(
            x, filters, [2, *sizes, 5], [1, 2, 1, 3, 1], padding
        ),
        rand(2, 4, 3, 4, 4),
        tolerance=1e-4,
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("pool", ["max_pool3d", "avg_pool3d"])
def test_pool(pool: str, padding: str, tmp_path: Path) -> None:
    check(
        tmp_path,
        lambda x: getattr(tf.nn, pool)(x, [2, 3, 2], [2, 2, 1], padding),
        rand(2, 5, 7, 6, 3),
    )


def test_windows_over_channels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedNodesError, match="over batch or channels"):
        check(
            tmp_path,
            lambda x: tf.nn.max_pool3d(x, [1, 1, 1, 1, 2], [1, 1, 1, 1, 2], "VALID"),
            rand(1, 2, 2, 2, 4),
        )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Cumsum and Cumprod compared with TensorFlow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("cum_sum")


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sums(tmp_path: Path, axis: int, exclusive: bool, reverse: bool) -> None:
    floats = rand(2, 3, 4)
    for x in (floats, (floats * 9).astype(np.int32)):
        _FAMILY.check(tmp_path, lambda x: tf.cumsum(x, axis, exclusive, reverse), x)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_products(tmp_path: Path, axis: int, exclusive: bool, reverse: bool) -> None:
    floats = rand(2, 1, 7)
    for x in (floats, (floats * 5).astype(np.int32)):
        _FAMILY.check(
            tmp_path, lambda x: tf.math.cumprod(x, axis, exclusive, reverse), x
        )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

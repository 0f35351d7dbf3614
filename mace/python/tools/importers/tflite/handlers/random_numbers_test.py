# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers: how they are distributed, and that TensorFlow Lite writes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tflite.testing import (
    Family,
    converted,
    operators_of,
    run_file,
)
from mace.python.tools.ir.dtypes import Array

tf = pytest.importorskip("tensorflow", reason="its converter writes the files")

_FAMILY = Family("random_numbers")


def _drawn(
    function: Callable[[Any], Any], x: Array, operator: str, folder: Path
) -> Array:
    data, path = converted(function, [x]), folder / "m.tflite"
    assert operator in operators_of(data, path)
    _FAMILY.note(operator)
    (found,) = run_file(data, [x], path)
    return found


def test_numbers(tmp_path: Path) -> None:
    x = np.zeros((64, 64), np.float32)
    drawn = _drawn(
        lambda x: x + tf.random.normal((64, 64)), x, "RANDOM_STANDARD_NORMAL", tmp_path
    )
    assert abs(drawn.mean()) < 0.1 and abs(drawn.std() - 1) < 0.1
    drawn = _drawn(
        lambda x: x + tf.random.uniform((64, 64)), x, "RANDOM_UNIFORM", tmp_path
    )
    assert drawn.min() >= 0 and drawn.max() < 1 and abs(drawn.mean() - 0.5) < 0.05


def test_classes(tmp_path: Path) -> None:
    chances = np.array([0.1, 0.7, 0.2], np.float32)
    drawn = _drawn(
        lambda x: tf.random.categorical(x, 2000),
        np.log(chances)[None],
        "MULTINOMIAL",
        tmp_path,
    )
    assert drawn.shape == (1, 2000)
    shares = np.bincount(drawn[0], minlength=3) / 2000
    np.testing.assert_allclose(shares, chances, atol=0.05)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Integers of 64 bits, for which int32 stands: results are exact, or an error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tensorflow.testing import Family

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "mul": lambda x: x * x,
    "add": lambda x: x + x,
    "cumsum": lambda x: tf.cumsum(x),
    "reduce_prod": lambda x: tf.reduce_prod(x),
    "reduce_sum": lambda x: tf.reduce_sum(x * 40000),
    "segments": lambda x: tf.math.unsorted_segment_sum(x * 40000, [0, 0], 1),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_results_fit_or_are_an_error(name: str, tmp_path: Path) -> None:
    function, family = _FUNCTIONS[name], Family("numbers")
    small, large = np.array([3, 40000]), np.array([1 << 30, 1 << 30])
    if name in ("reduce_sum", "segments"):
        large = np.array([50000, 50000])
    family.check(tmp_path, function, small)
    with pytest.raises(OverflowError, match="exceeds 32 bits"):
        family.check(tmp_path, function, large)


@pytest.mark.parametrize("name", ["mul", "add", "reduce_sum"])
def test_int32_wraps_around(name: str, tmp_path: Path) -> None:
    x = np.array([1 << 30, 1 << 30], np.int32)
    Family("numbers").check(tmp_path, _FUNCTIONS[name], x)


def test_logarithms_of_sums_of_infinities(tmp_path: Path) -> None:
    inf = np.inf
    x = np.array([[-inf, -inf], [inf, 1], [-inf, 100], [2, 3]], np.float32)
    Family("numbers").check(tmp_path, lambda x: tf.reduce_logsumexp(x, 1), x)

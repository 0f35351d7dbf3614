# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions near 0 and at the ends of their ranges, beside NumPy's in doubles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.emit import near_zero
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import run_graph

# A few units in the last place.
_CLOSE = 5e-7
_SIZES = np.geomspace(1e-30, 80, 4001).astype(np.float32)


def _compute(make: Callable[..., Any], x: Array) -> Array:
    builder = GraphBuilder("m", "test")
    value = builder.input("x", DataType.FLOAT32, x.shape)
    builder.output(make(builder, value, "node"), "y")
    return run_graph(builder.graph, {"x": x})["y"]


@pytest.mark.parametrize(
    ("make", "exact", "low"),
    [(near_zero.expm1, np.expm1, -80), (near_zero.log1p, np.log1p, -0.999)],
)
def test_all_digits(
    make: Callable[..., Any], exact: Callable[..., Any], low: float
) -> None:
    x = np.concatenate([-_SIZES[::-1], [0], _SIZES]).astype(np.float32)
    x = x[x >= low]
    found = _compute(make, x)
    np.testing.assert_allclose(found, exact(x.astype(np.float64)), _CLOSE)


@pytest.mark.parametrize(
    ("make", "x", "expected"),
    [
        (
            near_zero.expm1,
            [np.inf, -np.inf, np.nan, 1000],
            [np.inf, -1, np.nan, np.inf],
        ),
        (near_zero.log1p, [np.inf, -1, np.nan, -2], [np.inf, -np.inf, np.nan, np.nan]),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_limits(
    make: Callable[..., Any], x: list[float], expected: list[float]
) -> None:
    found = _compute(make, np.array(x, np.float32))
    np.testing.assert_array_equal(found, np.array(expected, np.float32))

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The formula of Random: the test vectors of Philox, and the bits that random_test.cc
wants of the native operator.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import evaluate_op
from mace.python.tools.ir.graph import Graph
from mace.python.tools.ir.op_rules import rules_of

_RULES: Any = sys.modules[type(rules_of("Random")).__module__]


def _numbers(distribution: str) -> Array:
    graph = Graph("numbers", "test")
    x = graph.add_value("x", DataType.FLOAT32, (4000,))
    y = graph.add_value("y", DataType.FLOAT32, (4000,))
    attrs = {"distribution": distribution, "seed": [7, -3]}
    op = graph.add_op("Random", [x], [y], attrs)
    return evaluate_op(op, [np.zeros(4000, np.float32)])[0]


def test_the_vector_of_the_authors() -> None:
    # Of key 0 and counter 0. The importer's test compares other keys with TensorFlow.
    (found,) = _RULES.philox(np.array([0, 0]), 1)
    assert list(found) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize(
    ("distribution", "expected"), [("NORMAL", 3809003973), ("UNIFORM", 1746704108)]
)
def test_the_bits(distribution: str, expected: int) -> None:
    numbers = _numbers(distribution)
    assert numbers.dtype == np.float32
    found = 2166136261
    for bits in numbers.view(np.uint32):
        found = ((found ^ int(bits)) * 16777619) % 2**32
    assert found == expected


def test_normal_numbers_are_those_of_box_and_muller() -> None:
    bits = _RULES.philox(np.array([3, 4]), 50000)
    # The least and the largest numbers, too.
    bits[:2] = [[0, 0, 2**32 - 1, 0], [0, 2**31, 0, 3 * 2**30]]
    radius = np.sqrt(-2 * np.log((bits[:, 0::2] + 1) / 2**32))
    angle = bits[:, 1::2] / 2**32 * 2 * np.pi
    expected = radius[:, :, None] * np.stack([np.cos(angle), np.sin(angle)], 2)
    np.testing.assert_allclose(_RULES.normal(bits), expected, rtol=0, atol=1e-4)
    assert np.abs(_RULES.normal(bits)).max() == pytest.approx(6.6604, abs=1e-4)


def test_runs_differ() -> None:
    first, second = (_RULES.philox(np.array([1, 2]), 1000, run) for run in (0, 1))
    assert not (first == second).any()

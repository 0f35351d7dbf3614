# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that the kernels named by an operator's rules are those that it may use."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.op_rules import WINOGRAD, rules_of
from test.conformance.native import native

# Enough channels and pixels for Winograd's method to be chosen if it is possible.
_CHANNELS, _SIZE = 64, 56


@pytest.mark.parametrize(
    ("kernel", "strides", "dilations", "groups"),
    itertools.product(
        [(3, 3), (1, 1), (5, 5), (3, 1), (1, 3)],
        [(1, 1), (2, 2), (1, 2)],
        [(1, 1), (2, 2), (1, 2)],
        [1, 2],
    ),
)
def test_winograd_is_named_where_convolutions_take_it(
    kernel: tuple[int, int],
    strides: tuple[int, int],
    dilations: tuple[int, int],
    groups: int,
) -> None:
    builder = GraphBuilder("m", "test")
    shape = (1, _SIZE, _SIZE, _CHANNELS)
    x = builder.input("x", DataType.FLOAT32, shape, DataFormat.NHWC)
    filters = np.ones((_CHANNELS, *kernel, _CHANNELS // groups), np.float32)
    attrs = {"strides": strides, "dilations": dilations, "groups": groups}
    y = builder.one("Conv2D", [x, builder.constant("w", filters)], "y", attrs)
    builder.output(y, "y", DataFormat.NHWC)
    op = y.producer
    assert op is not None
    feeds = {"x": np.zeros((1, _CHANNELS, _SIZE, _SIZE), np.float32)}
    taken = native("host").kernels(builder.graph, feeds)[op.name]
    named = WINOGRAD in rules_of("Conv2D").kernels(op)
    assert ("winograd" in taken) == named, taken

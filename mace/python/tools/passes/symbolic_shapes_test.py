# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes computed at run time that are known but for the batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.ir import DataType, GraphBuilder, Value
from mace.python.tools.passes.testing import rewrite, types


def _ints(b: GraphBuilder, *numbers: int) -> Value:
    return b.constant("k", np.array(numbers))


def _dim(b: GraphBuilder, x: Value, axis: int) -> Value:
    """One dimension, as TensorFlow takes it."""
    attrs = {"axes": [0], "begins": [axis], "ends": [axis + 1], "strides": [1]}
    shape = b.one("Shape", [x])
    return b.one("StridedSlice", [shape], None, {**attrs, "shrink_axes": [0]})


def _stacked(b: GraphBuilder, x: Value) -> Value:
    return b.one("Stack", [_dim(b, x, 0), b.constant("k", np.int32(12))])


def _concatenated(b: GraphBuilder, x: Value) -> Value:
    n = b.one("Gather", [b.one("Shape", [x]), _ints(b, 0)])
    n = b.one("Cast", [n], None, {"to": "INT32"})
    return b.one("Concat", [n, _ints(b, -1)], None, {"axis": 0})


def _multiplied(b: GraphBuilder, x: Value) -> Value:
    rest = b.one("Eltwise", [_dim(b, x, 1), _dim(b, x, 2)], None, {"mode": "MUL"})
    n = b.one("ExpandDims", [_dim(b, x, 0)], None, {"axes": [0]})
    rest = b.one("Reshape", [rest], None, {"shape": [1]})
    return b.one("Concat", [n, rest], None, {"axis": 0})


@pytest.mark.parametrize("chain", [_stacked, _concatenated, _multiplied])
def test_flattening_of_any_batch(chain: Any) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (None, 3, 4))
        b.output(b.one("Reshape", [x, chain(b, x)]), "y")

    graph = rewrite(build)
    assert types(graph) == {"Reshape": 1}
    assert graph.outputs[0].shape == ("x:0", 12)


def test_batch_that_moves_is_inferred() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (None, 3, 4))
        turned = b.one("Gather", [b.one("Shape", [x]), _ints(b, 1, 2, 0)])
        b.output(b.one("Reshape", [x, turned]), "y")

    graph = rewrite(build)
    assert types(graph) == {"Reshape": 1}
    assert graph.ops[0].attr("shape") == (3, 4, -1)


def test_two_unknown_dimensions_stay_computed() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (None, None, 4))
        turned = b.one("Gather", [b.one("Shape", [x]), _ints(b, 1, 2, 0)])
        b.output(b.one("Reshape", [x, turned]), "y")

    assert types(rewrite(build)) == {"Shape": 1, "Gather": 1, "Reshape": 1}


def test_arithmetic_on_the_batch_is_followed() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (None, 6))
        shape = b.one("Shape", [x])
        half = b.one("Eltwise", [shape, _ints(b, 2, 0)], None, {"mode": "ADD"})
        half = b.one("Eltwise", [half, _ints(b, 2, 0)], None, {"mode": "SUB"})
        b.output(b.one("Reshape", [x, half]), "y")

    graph = rewrite(build)
    assert types(graph) == {"Reshape": 1}
    assert graph.ops[0].attr("shape") == (0, 6)


def test_a_product_of_open_dimensions_is_inferred() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (None, None, 4, 6))
        shape = b.one("Shape", [x])
        first, second = (b.one("Gather", [shape, _ints(b, i)]) for i in (0, 1))
        rows = b.one("Eltwise", [first, second], None, {"mode": "MUL"})
        target = b.one("Concat", [rows, _ints(b, 24)], None, {"axis": 0})
        b.output(b.one("Reshape", [x, target]), "y")

    graph = rewrite(build)
    assert types(graph) == {"Reshape": 1}
    assert graph.outputs[0].shape == ("x:0*x:1", 24)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix products of which ranges of columns are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mace.python.tools.ir import DataType, GraphBuilder, Value
from mace.python.tools.passes.manager import optimize
from mace.python.tools.passes.testing import random, rewrite, types

_PART = 32


def _product(
    b: GraphBuilder, rng: np.random.Generator, outs: int = 3 * _PART, bias: bool = True
) -> Value:
    x = b.input("x", DataType.FLOAT32, (2, 5, 8))
    inputs = [x, b.constant("w", random(rng, outs, 8))]
    if bias:
        inputs.append(b.constant("b", random(rng, outs)))
    attrs = {"activation": "RELU"}
    return b.one("FullyConnected", inputs, None, attrs, "product")


def _slice(b: GraphBuilder, x: Value, axis: int, begin: int, end: int) -> Value:
    attrs = {"axes": [axis], "begins": [begin], "ends": [end], "strides": [1]}
    return b.one("StridedSlice", [x], None, attrs, "slice")


def _read(b: GraphBuilder, values: Sequence[Value]) -> None:
    """Makes each an input of something that no pass removes."""
    for i, value in enumerate(values):
        y = b.one("Softmax", [value], None, {"axis": -1}, "softmax")
        b.output(y, f"y{i}")


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("sizes", [[], [_PART, 2 * _PART]])
def test_split(bias: bool, sizes: list[int]) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        attrs = {"axis": -1, "sizes": sizes}
        names = [f"part{i}" for i in range(len(sizes) or 3)]
        _read(b, b.op("Split", [_product(b, rng, bias=bias)], names, attrs))

    graph = rewrite(build)
    count = len(sizes) or 3
    assert types(graph) == {"FullyConnected": count, "Softmax": count}
    assert all(
        op.attr("activation") == "RELU"
        for op in graph.ops
        if op.type == "FullyConnected"
    )


def test_slices_of_reshaped_columns() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _product(b, rng)
        y = b.one("Reshape", [y], None, {"shape": [2, 5, 3, 4, 8]}, "heads")
        _read(b, [_slice(b, y, 2, i, i + 1) for i in (0, 2, -2)])

    graph = rewrite(build)
    assert types(graph) == {"FullyConnected": 3, "Reshape": 3, "Softmax": 3}


def _other_axis(b: GraphBuilder, rng: np.random.Generator) -> list[Value]:
    y = _product(b, rng)
    return [_slice(b, y, 1, 0, 2), _slice(b, y, 1, 2, 5)]


def _inner_columns(b: GraphBuilder, rng: np.random.Generator) -> list[Value]:
    y = b.one("Reshape", [_product(b, rng)], None, {"shape": [2, 5, 3, 32]}, "r")
    return [_slice(b, y, 3, 0, 16), _slice(b, y, 3, 16, 32)]


def _read_as_a_whole_too(b: GraphBuilder, rng: np.random.Generator) -> list[Value]:
    y = _product(b, rng)
    return [y, _slice(b, y, 2, 0, _PART)]


def _overlapping(b: GraphBuilder, rng: np.random.Generator) -> list[Value]:
    y = _product(b, rng)
    return [_slice(b, y, 2, 0, 2 * _PART), _slice(b, y, 2, _PART, 3 * _PART)]


def _partial_panels(b: GraphBuilder, rng: np.random.Generator) -> list[Value]:
    y = _product(b, rng, 30)
    return [_slice(b, y, 2, 0, 15), _slice(b, y, 2, 15, 30)]


@pytest.mark.parametrize(
    "parts",
    [
        _other_axis,
        _inner_columns,
        _read_as_a_whole_too,
        _overlapping,
        _partial_panels,
    ],
)
def test_others_stay(parts: Any) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        _read(b, parts(b, rng))

    assert types(rewrite(build))["FullyConnected"] == 1


def test_a_product_of_unknown_rank_stays() -> None:
    b, rng = GraphBuilder("test", "test"), np.random.default_rng(0)
    x = b.input("x", DataType.FLOAT32, (2, 8))
    shape = b.input("shape", DataType.INT32, (None,))
    x = b.one("Reshape", [x, shape], None, {"shape": []}, "any")
    assert x.shape is None
    product = b.one(
        "FullyConnected", [x, b.constant("w", random(rng, 4, 8))], "product"
    )
    flat = b.one("Reshape", [product], None, {"shape": [2, 4]}, "flat")
    half = b.constant("half", np.array(0.5, np.float32))
    _read(b, [b.one("Eltwise", [flat, half], None, {"mode": "MUL"}, "scaled")])
    optimize(b.graph)
    assert types(b.graph)["FullyConnected"] == types(b.graph)["Eltwise"] == 1

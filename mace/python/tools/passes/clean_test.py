# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, shapes and roundings that change nothing or are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.ir import DataType, Graph, GraphBuilder, Value
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.passes.manager import choose
from mace.python.tools.passes.testing import Build, rewrite, types

_SHAPE = (2, 3, 4)


def _without_neutral(
    mode: str,
    constant: Array,
    first: bool = False,
    activation: str = "NONE",
    shape: tuple[int, ...] = _SHAPE,
) -> Graph:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        dtype = DataType.of(constant.dtype)
        x = b.one("Eltwise", [b.input("x", dtype, shape)], None, {"mode": "ABS"}, "x")
        other = b.constant("k", constant)
        operands = [other, x] if first else [x, other]
        attrs = {"mode": mode, "activation": activation}
        b.output(b.one("Eltwise", operands, None, attrs, "y"), "y")

    return rewrite(build, choose(["remove_neutral"]))


def _constant_of(number: float, *shape: int) -> Array:
    return np.full(shape, number, np.float32)


@pytest.mark.parametrize(
    ("mode", "number"), [("MUL", 1), ("DIV", 1), ("POW", 1), ("ADD", 0), ("SUB", 0)]
)
@pytest.mark.parametrize("shape", [(), (1,), (4,), (1, 3, 4), _SHAPE])
def test_is_removed(mode: str, number: float, shape: tuple[int, ...]) -> None:
    assert types(_without_neutral(mode, _constant_of(number, *shape))) == {"Eltwise": 1}


@pytest.mark.parametrize(("mode", "number"), [("MUL", 1), ("ADD", 0)])
def test_the_constant_may_come_first(mode: str, number: float) -> None:
    assert types(_without_neutral(mode, _constant_of(number), first=True)) == {
        "Eltwise": 1
    }
    integer = np.asarray(number, np.int32)
    assert types(_without_neutral(mode, integer, first=True)) == {"Eltwise": 1}


@pytest.mark.parametrize("mode", ["SUB", "DIV", "POW"])
def test_the_first_operand_of_others_stays(mode: str) -> None:
    number = 0 if mode == "SUB" else 1
    assert types(_without_neutral(mode, _constant_of(number), first=True)) == {
        "Eltwise": 2
    }


def test_what_changes_something_stays() -> None:
    ones = _constant_of(1, 4)
    ones[2] = 1.001
    for graph in (
        _without_neutral("MUL", ones),
        _without_neutral("MUL", _constant_of(0)),
        _without_neutral("ADD", _constant_of(1)),
        _without_neutral("MAX", _constant_of(0)),
        # It widens its result.
        _without_neutral("MUL", _constant_of(1, 4), shape=(2, 3, 1)),
        _without_neutral("ADD", _constant_of(0, 1, 1, 1, 1)),
        _without_neutral("MUL", _constant_of(1), activation="RELU"),
    ):
        assert types(graph) == {"Eltwise": 2}


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


def _merged(build: Build) -> Graph:
    """The graph after this pass alone: others have more to say of two roundings."""
    return rewrite(build, choose(["merge_roundings"]))


def _rounded(b: GraphBuilder, x: Value, name: str, scale: float, zero: int) -> Value:
    parameters = [
        b.constant(f"{name}/scale", np.array(scale, np.float32)),
        b.constant(f"{name}/zero", np.array(zero, np.uint8)),
    ]
    q = b.one("Quantize", [x, *parameters], None, {"to": "UINT8"}, name)
    return b.one("Dequantize", [q, *parameters], None, None, f"{name}/real")


@pytest.mark.parametrize(("scale", "zero"), [(0.05, 120), (0.05, 121), (0.06, 120)])
def test_roundings_for_two_readers(scale: float, zero: int) -> None:
    def build(b: GraphBuilder, _: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (3, 4))
        parts = [_rounded(b, x, "p", 0.05, 120), _rounded(b, x, "q", scale, zero)]
        b.output(b.one("Eltwise", parts, None, {"mode": "POW"}, "power"), "y")

    same = (scale, zero) == (0.05, 120)
    assert types(_merged(build))["Quantize"] == (1 if same else 2)


@pytest.mark.parametrize(("scale", "zero"), [(0.05, 120), (0.05, 121), (0.06, 120)])
def test_a_rounding_of_rounded_numbers(scale: float, zero: int) -> None:
    def build(b: GraphBuilder, _: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (3, 4))
        y = _rounded(b, _rounded(b, x, "p", 0.05, 120), "q", scale, zero)
        b.output(b.one("Eltwise", [y], None, {"mode": "EXP"}, "exp"), "y")

    same = (scale, zero) == (0.05, 120)
    assert types(_merged(build))["Quantize"] == (1 if same else 2)


@pytest.mark.parametrize("scale", [0.05, 0.06])
def test_a_shuffle_of_channels_whose_parts_are_rounded(scale: float) -> None:
    def build(b: GraphBuilder, _: np.random.Generator) -> None:
        x = _rounded(b, b.input("x", DataType.FLOAT32, (1, 4, 5, 6)), "p", 0.05, 120)
        shapes = [np.array(s, np.int32) for s in ((1, 4, 5, 2, 3), (1, 4, 5, 6))]
        first, last = (b.constant(f"shape{i}", s) for i, s in enumerate(shapes))
        y = b.one("Reshape", [x, first], None, None, "divide")
        y = _rounded(b, y, "q", scale, 120)
        y = b.one("Transpose", [y], None, {"perm": (0, 1, 2, 4, 3)}, "turn")
        y = _rounded(b, y, "r", scale, 120)
        b.output(b.one("Reshape", [y, last], None, None, "join"), "y")

    names = ["merge_roundings", "channel_shuffle", "channels_last"]
    found = types(rewrite(build, choose(names)))
    assert found["ChannelShuffle"] == (1 if scale == 0.05 else 0)
    assert found["Quantize"] == (1 if scale == 0.05 else 2)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Transposes that move, meet and stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.ir import DataFormat, DataType, Dim, GraphBuilder, Value
from mace.python.tools.passes.testing import random, rewrite, types

_LAST, _FIRST = [0, 2, 3, 1], [0, 3, 1, 2]


def _turn(b: GraphBuilder, x: Value, perm: list[int]) -> Value:
    return b.one("Transpose", [x], None, {"perm": perm}, "turn")


@pytest.mark.parametrize(
    ("op_type", "attrs"),
    [
        ("Activation", {"activation": "TANH"}),
        ("Eltwise", {"mode": "EXP"}),
        ("Cast", {"to": "INT32"}),
        ("Softmax", {"axis": 1}),
        ("Softmax", {"axis": -1}),
        ("ArgMax", {"axis": 1}),
        ("Pad", {"pads": [0, 0, 1, 2, 0, 3, 4, 0], "mode": "EDGE"}),
        ("Reduce", {"mode": "MAX", "axes": [1, -1]}),
        (
            "StridedSlice",
            {"axes": [3, 1], "begins": [1, 0], "ends": [9, 2], "strides": [2, 1]},
        ),
    ],
)
def test_transpose_passes_through(op_type: str, attrs: dict[str, Any]) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (2, 3, 4, 5))
        y = b.one(op_type, [_turn(b, x, _FIRST)], None, attrs, "op")
        b.output(_turn(b, y, _LAST), "y")

    assert types(rewrite(build)) == {op_type: 1}


@pytest.mark.parametrize("scales", [1, 5])
def test_transpose_passes_through_quantization(scales: int) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (2, 3, 4, 5))
        scale = b.constant("s", np.linspace(0.1, 0.2, scales, dtype=np.float32))
        attrs = {"to": "INT8", "axis": 1}
        q = b.one("Quantize", [_turn(b, x, _FIRST), scale], None, attrs, "q")
        y = b.one("Dequantize", [q, scale], None, {"axis": 1}, "op")
        b.output(_turn(b, y, _LAST), "y")

    assert types(rewrite(build)) == {"Quantize": 1, "Dequantize": 1}


@pytest.mark.parametrize(
    ("op_type", "attrs", "back"),
    [
        ("Reduce", {"mode": "SUM", "axes": [1], "keep_dims": False}, [0, 1, 2]),
        ("Reduce", {"mode": "SUM", "axes": [2], "keep_dims": False}, [0, 2, 1]),
        ("Squeeze", {"axes": [2]}, [0, 2, 1]),
        (
            "StridedSlice",
            {
                "axes": [1],
                "begins": [1],
                "ends": [2],
                "strides": [1],
                "shrink_axes": [1],
            },
            [0, 1, 2],
        ),
        ("Gather", {"axis": 3}, [0, 2, 3, 1]),
    ],
)
def test_transpose_passes_operators_that_drop_axes(
    op_type: str, attrs: dict[str, Any], back: list[int]
) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (2, 1, 4, 5))
        inputs = [_turn(b, x, _FIRST)]
        if op_type == "Gather":
            inputs.append(b.constant("i", np.array([2, 0, 3])))
        y = b.one(op_type, inputs, None, attrs, "op")
        b.output(_turn(b, y, back), "y")

    assert types(rewrite(build))["Transpose"] == 0


@pytest.mark.parametrize(
    ("source", "perm", "target", "back"),
    [
        # The tokens of an image, and back.
        ((2, 4, 6, 3), _FIRST, (2, 3, 24), [0, 2, 1]),
        ((2, 24, 3), [0, 2, 1], (2, 3, 4, 6), _LAST),
        ((1, 4, 6, 3), _FIRST, (3, 24), [1, 0]),
        ((2, 4, 1, 3), _FIRST, (2, 3, 1, 2, 2), [0, 3, 4, 1, 2]),
        # Batch and channels part, and heads.
        ((2, 5, 6), [0, 2, 1], (1, 2, 2, 3, 5), [0, 1, 4, 2, 3]),
        (("n", 4, 6, 3), _FIRST, (-1, 3, 24), [0, 2, 1]),
        ((1, 24, 6), [0, 2, 1], (1, 6, 4, 6), _LAST),
    ],
)
def test_transpose_passes_reshapes_of_neighbours(
    source: tuple[Dim, ...], perm: list[int], target: tuple[int, ...], back: list[int]
) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, source)
        attrs = {"shape": list(target)}
        y = b.one("Reshape", [_turn(b, x, perm)], None, attrs, "op")
        b.output(_turn(b, y, back), "y")

    assert types(rewrite(build)) == {"Reshape": 1}


@pytest.mark.parametrize(
    ("source", "target"),
    [
        # Channels last, flattened channels first.
        ((2, 4, 6, 3), (2, 72)),
        ((2, 4, 6, 3), (6, 24)),
        ((2, 4, 6, 3), (2, 12, 6)),
        ((2, 4, 6, 3), (2, 9, 8)),
    ],
)
def test_transpose_stays_before_other_reshapes(
    source: tuple[int, ...], target: tuple[int, ...]
) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, source)
        attrs = {"shape": list(target)}
        b.output(b.one("Reshape", [_turn(b, x, _FIRST)], None, attrs, "op"), "y")

    result = rewrite(build)
    assert [op.type for op in result.ops] == ["Transpose", "Reshape"]


@pytest.mark.parametrize("shape", [(), (1,), (5,), (4, 1), (3, 1, 1), (1, 3, 4, 1)])
@pytest.mark.parametrize("constant_first", [False, True])
def test_constants_turn_along(shape: tuple[int, ...], constant_first: bool) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _turn(b, b.input("x", DataType.FLOAT32, (2, 4, 5, 3)), _FIRST)
        k = b.constant("k", random(rng, *shape))
        inputs = [k, x] if constant_first else [x, k]
        y = b.one("Eltwise", inputs, None, {"mode": "SUB"}, "sub")
        b.output(_turn(b, y, _LAST), "y")

    assert types(rewrite(build))["Transpose"] == 0


def test_transposes_of_both_operands_meet() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (2, 4, 5, 3))
        z = b.input("z", DataType.FLOAT32, (2, 4, 5, 3))
        inputs = [_turn(b, x, _FIRST), _turn(b, z, _FIRST)]
        y = b.one("Concat", inputs, None, {"axis": -3}, "cat")
        b.output(_turn(b, y, _LAST), "y")

    graph = rewrite(build)
    assert types(graph) == {"Concat": 1}
    assert graph.ops[0].attr("axis") == 3


def test_small_operand_turns_for_the_sake_of_the_large() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (2, 4, 5, 3))
        gate = b.input("g", DataType.FLOAT32, (2, 3, 1, 1))
        inputs = [_turn(b, x, _FIRST), gate]
        y = b.one("Eltwise", inputs, None, {"mode": "MUL"}, "gate")
        b.output(_turn(b, y, _LAST), "y")

    # [2, 3, 1, 1] to [2, 1, 1, 3] moves nothing.
    assert types(rewrite(build)) == {"Eltwise": 1, "Reshape": 1}


def test_operands_of_one_size_do_not_pass_the_transpose_round() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (2, 4, 5, 3))
        z = b.input("z", DataType.FLOAT32, (2, 3, 4, 5))
        inputs = [_turn(b, x, _FIRST), z]
        b.output(b.one("Eltwise", inputs, None, {"mode": "ADD"}, "sum"), "y")

    assert types(rewrite(build)) == {"Transpose": 1, "Eltwise": 1}


def test_what_cannot_cancel_stays_and_is_right() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (2, 4, 3, 5), DataFormat.NCHW)
        w = b.constant("w", random(rng, 6, 1, 1, 4))
        y = b.one("Conv2D", [x, w], None, {"data_format": "NCHW"}, "conv")
        y = b.one("Reshape", [y], None, {"shape": [2, 3, 2, 15]}, "rows")
        b.output(y, "y")

    assert types(rewrite(build)) == {"Conv2D": 1, "Transpose": 1, "Reshape": 1}


def test_prelu_of_channels_first_turns_with_its_slopes() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (2, 4, 3, 5), DataFormat.NCHW)
        slope = b.constant("s", random(rng, 4))
        attrs = {"activation": "PRELU", "data_format": "NCHW"}
        b.output(
            b.one("Activation", [x, slope], None, attrs, "p"), "y", DataFormat.NCHW
        )

    assert types(rewrite(build)) == {"Activation": 1}


@pytest.mark.parametrize("rank", [2, 3, 4, 5])
def test_normalisation_of_any_rank(rank: int) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (2, 3, 4, 5, 2)[:rank])
        parameters = [b.constant(n, random(rng, 3)) for n in "so"]
        attrs = {"data_format": "NCHW"}
        b.output(b.one("BatchNorm", [x, *parameters], None, attrs, "bn"), "y")

    assert types(rewrite(build))["BatchNorm"] == 1


def test_user_format_none_keeps_the_order_of_the_framework() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (2, 3, 4, 5), DataFormat.NONE)
        w = b.constant("w", random(rng, 6, 1, 1, 3))
        y = b.one("Conv2D", [x, w], None, {"data_format": "NCHW"}, "conv")
        b.output(y, "y", DataFormat.NONE)

    graph = rewrite(build)
    assert graph.inputs[0].shape == (2, 3, 4, 5)
    assert types(graph) == {"Transpose": 2, "Conv2D": 1}

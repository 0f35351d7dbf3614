# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Passes that find one operator in several, and those that clean up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mace.python.tools.ir import DataFormat, DataType, GraphBuilder, Value
from mace.python.tools.passes.clean import SimplifyPowers
from mace.python.tools.passes.testing import Build, random, rewrite, types


def _input(b: GraphBuilder, *shape: int | None) -> Value:
    return b.input("x", DataType.FLOAT32, shape or (2, 3, 5, 4))


def _number(b: GraphBuilder, value: float) -> Value:
    return b.constant("k", np.float32(value))


def _eltwise(b: GraphBuilder, mode: str, *inputs: Value) -> Value:
    return b.one("Eltwise", inputs, None, {"mode": mode}, mode.lower())


def _act(b: GraphBuilder, x: Value, activation: str, **attrs: Any) -> Value:
    attrs = {f"activation_{name}": value for name, value in attrs.items()}
    return b.one("Activation", [x], None, {"activation": activation, **attrs}, "act")


def _relu6_plus_3(b: GraphBuilder, x: Value) -> Value:
    return _act(b, _eltwise(b, "ADD", x, _number(b, 3)), "RELUX", limit=6.0)


def _swish(b: GraphBuilder, x: Value) -> Value:
    return _eltwise(b, "MUL", _act(b, x, "SIGMOID"), x)


def _swish_of_keras(b: GraphBuilder, x: Value) -> Value:
    scaled = _eltwise(b, "MUL", _number(b, 1), x)
    return _eltwise(b, "MUL", x, _act(b, scaled, "SIGMOID"))


def _hard_swish_gate(b: GraphBuilder, x: Value) -> Value:
    gate = _eltwise(b, "MUL", _relu6_plus_3(b, x), _number(b, 1 / 6))
    return _eltwise(b, "MUL", x, gate)


def _hard_swish_late(b: GraphBuilder, x: Value) -> Value:
    product = _eltwise(b, "MUL", x, _relu6_plus_3(b, x))
    return _eltwise(b, "DIV", product, _number(b, 6))


def _hard_swish_sigmoid(b: GraphBuilder, x: Value) -> Value:
    gate = _act(b, x, "HARD_SIGMOID", alpha=1 / 6, beta=0.5)
    return _eltwise(b, "MUL", x, gate)


def _hard_swish_clip(b: GraphBuilder, x: Value) -> Value:
    shifted = _eltwise(b, "ADD", _number(b, 3), x)
    clipped = _eltwise(
        b, "MIN", _eltwise(b, "MAX", shifted, _number(b, 0)), _number(b, 6)
    )
    return _eltwise(b, "MUL", x, _eltwise(b, "DIV", clipped, _number(b, 6)))


def _erf(b: GraphBuilder, x: Value) -> Value:
    scaled = _eltwise(b, "DIV", x, _number(b, math.sqrt(2)))
    return _eltwise(b, "ADD", _eltwise(b, "ERF", scaled), _number(b, 1))


def _gelu_half_last(b: GraphBuilder, x: Value) -> Value:
    return _eltwise(b, "MUL", _eltwise(b, "MUL", x, _erf(b, x)), _number(b, 0.5))


def _gelu_half_first(b: GraphBuilder, x: Value) -> Value:
    half = _eltwise(b, "MUL", _number(b, 0.5), x)
    return _eltwise(b, "MUL", half, _erf(b, x))


def _gelu_half_gate(b: GraphBuilder, x: Value) -> Value:
    gate = _eltwise(b, "MUL", _erf(b, x), _number(b, 0.5))
    return _eltwise(b, "MUL", gate, x)


_ROOT = math.sqrt(2 / math.pi)


def _gelu_tanh_of(b: GraphBuilder, x: Value, inner: Value) -> Value:
    gate = _eltwise(b, "ADD", _act(b, inner, "TANH"), _number(b, 1))
    return _eltwise(b, "MUL", _eltwise(b, "MUL", _number(b, 0.5), x), gate)


def _gelu_tanh_power(b: GraphBuilder, x: Value, factor: float = 0.044715) -> Value:
    cube = _eltwise(b, "MUL", _eltwise(b, "POW", x, _number(b, 3)), _number(b, factor))
    total = _eltwise(b, "ADD", x, cube)
    return _gelu_tanh_of(b, x, _eltwise(b, "MUL", total, _number(b, _ROOT)))


def _gelu_tanh_product(b: GraphBuilder, x: Value) -> Value:
    square = _eltwise(b, "MUL", x, x)
    cube = _eltwise(b, "MUL", _number(b, 0.044715), _eltwise(b, "MUL", square, x))
    total = _eltwise(b, "ADD", cube, x)
    return _gelu_tanh_of(b, x, _eltwise(b, "MUL", _number(b, _ROOT), total))


def _gelu_tanh_factored(b: GraphBuilder, x: Value) -> Value:
    square = _eltwise(b, "POW", x, _number(b, 2))
    factor = _eltwise(b, "MUL", square, _number(b, 0.044715))
    factor = _eltwise(b, "ADD", factor, _number(b, 1))
    total = _eltwise(b, "MUL", factor, x)
    return _gelu_tanh_of(b, x, _eltwise(b, "MUL", total, _number(b, _ROOT)))


def _gelu_tanh_factor_inside(b: GraphBuilder, x: Value) -> Value:
    scaled = _eltwise(b, "MUL", x, _number(b, 0.044715))
    cube = _eltwise(b, "MUL", scaled, _eltwise(b, "MUL", x, x))
    total = _eltwise(b, "ADD", x, cube)
    return _gelu_tanh_of(b, x, _eltwise(b, "MUL", total, _number(b, _ROOT)))


def _softsign(b: GraphBuilder, x: Value) -> Value:
    return _eltwise(b, "DIV", x, _softsign_below(b, x))


def _softsign_below(b: GraphBuilder, x: Value, shift: float = 1.0) -> Value:
    return _eltwise(b, "ADD", _number(b, shift), _eltwise(b, "ABS", x))


def _clip(b: GraphBuilder, x: Value) -> Value:
    return _eltwise(b, "MIN", _eltwise(b, "MAX", x, _number(b, 0)), _number(b, 2.5))


def _clip_other_order(b: GraphBuilder, x: Value) -> Value:
    return _eltwise(b, "MAX", _number(b, 0), _eltwise(b, "MIN", x, _number(b, 2.5)))


@pytest.mark.parametrize(
    ("pattern", "activation"),
    [
        (_swish, "SWISH"),
        (_swish_of_keras, "SWISH"),
        (_hard_swish_gate, "HARD_SWISH"),
        (_hard_swish_late, "HARD_SWISH"),
        (_hard_swish_sigmoid, "HARD_SWISH"),
        (_hard_swish_clip, "HARD_SWISH"),
        (_gelu_half_last, "GELU"),
        (_gelu_half_first, "GELU"),
        (_gelu_half_gate, "GELU"),
        (_gelu_tanh_power, "GELU_TANH"),
        (_gelu_tanh_product, "GELU_TANH"),
        (_gelu_tanh_factored, "GELU_TANH"),
        (_gelu_tanh_factor_inside, "GELU_TANH"),
        (_softsign, "SOFTSIGN"),
        (_clip, "RELUX"),
        (_clip_other_order, "RELUX"),
    ],
)
def test_written_out_activation_is_recognised(pattern: Any, activation: str) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        b.output(pattern(b, _input(b)), "y")

    graph = rewrite(build)
    assert types(graph) == {"Activation": 1}
    assert graph.ops[0].attr("activation") == activation


def test_another_factor_of_the_cube_is_no_gelu() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        b.output(_gelu_tanh_power(b, _input(b), 0.05), "y")

    assert "GELU_TANH" not in {op.attrs.get("activation") for op in rewrite(build).ops}


@pytest.mark.parametrize(
    ("exponent", "modes"), [(2, ["SQUARE"]), (3, ["SQUARE", "MUL"]), (2.5, ["POW"])]
)
def test_power_by_a_small_number_is_a_product(
    exponent: float, modes: list[str]
) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        b.output(_eltwise(b, "POW", _input(b), _number(b, exponent)), "y")

    assert [op.attr("mode") for op in rewrite(build).ops] == modes


def test_powers_of_wide_integers_stay_wide() -> None:
    for kind, exponent in (("MUL", None), ("POW", 2), ("POW", 3)):
        builder = GraphBuilder("m", "test")
        x = builder.input("x", DataType.INT64, (2,))
        other = x
        if exponent is not None:
            other = builder.constant("k", np.array([exponent]))
        builder.output(builder.one("Eltwise", [x, other], attrs={"mode": kind}), "y")
        assert SimplifyPowers().run(builder.graph) == 1
        ops = builder.graph.ops
        assert ops and all(op.attr("wide") for op in ops)
        assert "POW" not in {op.attr("mode") for op in ops}


def test_power_that_widens_its_result_stays() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        exponent = b.constant("k", np.full((1, 1, 1, 1, 1), 2, np.float32))
        b.output(_eltwise(b, "POW", _input(b), exponent), "y")

    assert [op.attr("mode") for op in rewrite(build).ops] == ["POW"]


def _softsign_of_two(b: GraphBuilder, x: Value) -> Value:
    return _eltwise(b, "DIV", x, _softsign_below(b, x, 2.0))


def _softsign_upside_down(b: GraphBuilder, x: Value) -> Value:
    return _eltwise(b, "DIV", _softsign_below(b, x), x)


def _softsign_of_another(b: GraphBuilder, x: Value) -> Value:
    return _eltwise(b, "DIV", _act(b, x, "TANH"), _softsign_below(b, x))


@pytest.mark.parametrize(
    "pattern", [_softsign_of_two, _softsign_upside_down, _softsign_of_another]
)
def test_other_quotients_are_no_softsign(pattern: Any) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        b.output(pattern(b, _input(b)), "y")

    graph = rewrite(build)
    activations = [op for op in graph.ops if op.type == "Activation"]
    assert all(op.attr("activation") != "SOFTSIGN" for op in activations)


@pytest.mark.parametrize("numbers", [(3.0, 5.0), (2.0, 6.0)])
def test_other_numbers_are_no_hard_swish(numbers: tuple[float, float]) -> None:
    shift, divisor = numbers

    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b)
        shifted = _eltwise(b, "ADD", x, _number(b, shift))
        gate = _act(b, shifted, "RELUX", limit=6.0)
        product = _eltwise(b, "MUL", x, gate)
        b.output(_eltwise(b, "DIV", product, _number(b, divisor)), "y")

    assert "HARD_SWISH" not in {op.attrs.get("activation") for op in rewrite(build).ops}


def test_gate_of_another_tensor_is_no_swish() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b)
        other = b.input("z", DataType.FLOAT32, (2, 3, 5, 4))
        b.output(_eltwise(b, "MUL", _act(b, other, "SIGMOID"), x), "y")

    assert types(rewrite(build)) == {"Activation": 1, "Eltwise": 1}


def _shuffle(groups: int, perm: tuple[int, ...], first: bool) -> Build:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        if first:
            x = b.input("x", DataType.FLOAT32, (2, 12, 3, 5), DataFormat.NCHW)
            inner = (2, groups, 12 // groups, 3, 5)
        else:
            x = b.input("x", DataType.FLOAT32, (2, 3, 5, 12), DataFormat.NHWC)
            inner = (2, 3, 5, groups, 12 // groups)
        y = b.one("Reshape", [x], None, {"shape": inner}, "a")
        y = b.one("Transpose", [y], None, {"perm": perm}, "b")
        y = b.one("Reshape", [y], None, {"shape": x.shape}, "c")
        b.output(y, "y", b.graph.formats["x"])

    return build


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize(
    ("perm", "first"), [((0, 2, 1, 3, 4), True), ((0, 1, 2, 4, 3), False)]
)
def test_channel_shuffle_is_recognised(
    groups: int, perm: tuple[int, ...], first: bool
) -> None:
    graph = rewrite(_shuffle(groups, perm, first))
    assert types(graph) == {"ChannelShuffle": 1}
    assert graph.ops[0].attr("groups") == groups


def test_shuffle_of_rows_is_no_channel_shuffle() -> None:
    graph = rewrite(_shuffle(3, (0, 1, 3, 2, 4), True))
    assert types(graph)["ChannelShuffle"] == 0


@pytest.mark.parametrize("spatial", [(3, 5), (1, 1)])
def test_flattening_needs_no_transpose_before_fully_connected(
    spatial: tuple[int, int],
) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (None, 4, *spatial), DataFormat.NCHW)
        y = b.one("Reshape", [x], None, {"shape": [0, -1]}, "flat")
        w = b.constant("w", random(rng, 4 * spatial[0] * spatial[1], 6))
        b.output(b.one("MatMul", [y, w], None, None, "fc"), "y")

    assert types(rewrite(build)) == {"Reshape": 1, "FullyConnected": 1}


@pytest.mark.parametrize("shape", [(0, 6), (4, 0)])
def test_nothing_to_pack_is_no_fully_connected(shape: tuple[int, int]) -> None:
    """The runtime refuses weights without elements."""

    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (3, shape[0]), DataFormat.NONE)
        w = b.constant("w", random(rng, *shape))
        b.output(b.one("MatMul", [x, w], None, None, "fc"), "y")

    assert types(rewrite(build)) == {"MatMul": 1}


def test_flattening_that_others_read_keeps_its_order() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (2, 4, 3, 5), DataFormat.NCHW)
        y = b.one("Reshape", [x], None, {"shape": [0, -1]}, "flat")
        w = b.constant("w", random(rng, 60, 6))
        b.output(b.one("MatMul", [y, w], None, None, "fc"), "y")
        b.output(y, "flat_out")

    assert types(rewrite(build))["Transpose"] == 1


def test_reshapes_join_and_vanish() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b, None, 1, 4, 3)
        y = b.one("Squeeze", [x], None, {"axes": [1]}, "squeeze")
        y = b.one("ExpandDims", [y], None, {"axes": [-1]}, "expand")
        y = b.one("Reshape", [y], None, {"shape": [0, 12]}, "reshape")
        y = b.one("Reshape", [y], None, {"shape": [0, 1, 4, 3]}, "back")
        b.output(_act(b, y, "RELU"), "y")

    assert types(rewrite(build)) == {"Activation": 1}


def test_transpose_that_moves_nothing_is_a_reshape() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = b.one(
            "Transpose", [_input(b, 2, 1, 1, 4)], None, {"perm": [0, 3, 1, 2]}, "t"
        )
        b.output(y, "y")

    assert types(rewrite(build)) == {"Reshape": 1}


def test_operators_that_do_nothing_go() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.alias(_input(b), "dropout")
        x = b.one("Pad", [x], None, {"pads": [0] * 8}, "pad")
        x = b.one("Cast", [x], None, {"to": "FLOAT32"}, "cast")
        x = b.one("Concat", [x], None, {"axis": 1}, "concat")
        x = b.one("Transpose", [x], None, {"perm": [0, 1, 2, 3]}, "transpose")
        attrs = {"axes": [1], "begins": [0], "ends": [99], "strides": [1]}
        x = b.one("StridedSlice", [x], None, attrs, "slice")
        x = b.one("Pooling", [x], None, {"kernels": [1, 1]}, "pool")
        b.output(b.alias(_act(b, x, "TANH"), "end"), "y")

    graph = rewrite(build)
    assert types(graph) == {"Activation": 1}
    assert graph.outputs[0].name == "y"


def test_reversal_is_not_nothing() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        attrs = {"axes": [1], "begins": [-1], "ends": [-(2**31)], "strides": [-1]}
        b.output(b.one("StridedSlice", [_input(b)], None, attrs, "reverse"), "y")

    assert types(rewrite(build)) == {"StridedSlice": 1}


def test_input_that_is_an_output_is_copied() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b)
        b.output(b.alias(x, "a"), "y")
        b.output(x, "z")

    graph = rewrite(build)
    assert [v.name for v in graph.outputs] == ["y", "z"]
    assert set(types(graph)) == {"Identity"}


def test_constant_output_is_kept() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        b.output(_act(b, _input(b), "RELU"), "y")
        b.output(b.constant("c", random(rng, 3)), "k")

    assert types(rewrite(build)) == {"Activation": 1, "Identity": 1}


def test_shape_arithmetic_becomes_an_attribute() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b)
        n = b.one("Gather", [b.one("Shape", [x]), b.constant("i", np.array([0]))])
        shape = b.one("Concat", [n, b.constant("r", np.array([-1]))], None, {"axis": 0})
        b.output(b.one("Reshape", [x, shape], None, None, "reshape"), "y")

    graph = rewrite(build)
    assert types(graph) == {"Reshape": 1}
    assert graph.ops[0].attr("shape") == (2, -1)


def test_equal_operators_become_one() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b)
        a, c = _act(b, x, "TANH"), _act(b, x, "TANH")
        b.output(_eltwise(b, "SUB", a, _eltwise(b, "EXP", c)), "y")

    assert types(rewrite(build)) == {"Activation": 1, "Eltwise": 2}


@pytest.mark.parametrize("shape", [[0, 4], [0, 4, 1, 1]])
def test_reduction_drops_its_axes_itself(shape: list[int]) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (None, 4, 3, 5), DataFormat.NCHW)
        y = b.one("Reduce", [x], None, {"mode": "MEAN", "axes": [2, 3]}, "mean")
        b.output(b.one("Reshape", [y], None, {"shape": shape}, "flat"), "y")

    left = {"Reduce": 1} if len(shape) == 2 else {"Reduce": 1, "Reshape": 1}
    assert types(rewrite(build)) == left

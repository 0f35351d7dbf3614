# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Passes that fold into or fuse with convolution and its relatives.

Each is tested as part of the pipeline, since that is the only way it runs; a
test says which operators must be left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mace.python.tools.ir import DataType, GraphBuilder, Op, Value
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.passes.testing import Build, random, rewrite, types


def _input(builder: GraphBuilder, *shape: int) -> Value:
    return builder.input("x", DataType.FLOAT32, shape or (2, 7, 6, 4))


def _conv(
    builder: GraphBuilder,
    rng: np.random.Generator,
    x: Value,
    out: int = 6,
    kernel: int = 3,
    bias: bool = False,
    **attrs: Any,
) -> Value:
    assert x.shape is not None and isinstance(x.shape[-1], int)
    depth = x.shape[-1] // attrs.get("groups", 1)
    inputs = [x, builder.constant("w", random(rng, out, kernel, kernel, depth))]
    if bias:
        inputs.append(builder.constant("b", random(rng, out)))
    return builder.one("Conv2D", inputs, None, attrs, "conv")


def _bn(builder: GraphBuilder, rng: np.random.Generator, x: Value) -> Value:
    assert x.shape is not None
    parameters = [builder.constant(n, random(rng, int(x.shape[-1] or 0))) for n in "so"]
    return builder.one("BatchNorm", [x, *parameters], None, None, "bn")


def _eltwise(builder: GraphBuilder, mode: str, *inputs: Value) -> Value:
    return builder.one("Eltwise", inputs, None, {"mode": mode}, mode.lower())


def _act(builder: GraphBuilder, x: Value, activation: str, limit: float = 0.0) -> Value:
    attrs = {"activation": activation, "activation_limit": limit}
    return builder.one("Activation", [x], None, attrs, "act")


def _only(build: Build, op_type: str) -> Op:
    graph = rewrite(build)
    assert types(graph) == {op_type: 1}
    return graph.ops[0]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
def test_normalisation_and_scale_chain_folds_into_convolution(
    bias: bool, groups: int
) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _bn(b, rng, _conv(b, rng, _input(b), bias=bias, groups=groups))
        y = _eltwise(b, "MUL", y, b.constant("m", random(rng, 1, 1, 1, 6)))
        y = _eltwise(b, "ADD", b.constant("a", random(rng, 6)), y)
        y = _eltwise(b, "SUB", b.constant("c", random(rng, 1)), y)
        y = _eltwise(b, "DIV", y, b.constant("d", random(rng, 6) + 9))
        b.output(_act(b, y, "RELU"), "y")

    assert _only(build, "Conv2D").attr("activation") == "RELU"


def test_normalisation_folds_into_depthwise_convolution_with_multiplier() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        filters = b.constant("w", random(rng, 3, 3, 4, 2))
        y = b.one("DepthwiseConv2d", [_input(b), filters], None, None, "dw")
        b.output(_act(b, _bn(b, rng, y), "RELUX", 6.0), "y")

    assert _only(build, "DepthwiseConv2d").attr("activation_limit") == 6.0


def test_group_convolution_of_single_channels_becomes_depthwise() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        b.output(_conv(b, rng, _input(b), out=8, bias=True, groups=4), "y")

    assert _only(build, "DepthwiseConv2d").input(1).shape == (3, 3, 4, 2)


def test_constant_that_varies_over_the_image_is_no_bias() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _conv(b, rng, _input(b), padding="SAME")
        b.output(_eltwise(b, "ADD", y, b.constant("a", random(rng, 7, 6, 1))), "y")

    assert types(rewrite(build)) == {"Conv2D": 1, "Eltwise": 1}


def test_nothing_folds_through_a_value_that_others_read() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _conv(b, rng, _input(b))
        b.output(_bn(b, rng, y), "normal")
        b.output(_act(b, y, "TANH"), "tanh")

    assert types(rewrite(build)) == {"Conv2D": 1, "BatchNorm": 1, "Activation": 1}


def test_nothing_folds_into_a_model_output() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _conv(b, rng, _input(b))
        b.output(_act(b, y, "RELU"), "z")
        b.output(y, "y")

    assert types(rewrite(build)) == {"Conv2D": 1, "Activation": 1}


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize("kind", ["conv", "group", "depthwise", "fc"])
def test_normalisation_before_folds_only_where_nothing_is_padded(
    padding: str, kind: str
) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _bn(b, rng, _input(b))
        if kind == "fc":
            y = b.one("MatMul", [x, b.constant("w", random(rng, 4, 3))])
        elif kind == "depthwise":
            y = _conv(b, rng, x, out=4, groups=4, padding=padding)
        else:
            groups = 2 if kind == "group" else 1
            y = _conv(b, rng, x, bias=True, groups=groups, padding=padding)
        b.output(y, "y")

    count = types(rewrite(build))["BatchNorm"]
    assert count == int(padding == "SAME" and kind != "fc")


def test_scale_before_folds_even_with_padding() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _eltwise(b, "MUL", _input(b), b.constant("m", random(rng, 4)))
        b.output(_conv(b, rng, x, padding="SAME"), "y")

    _only(build, "Conv2D")


def test_affine_chain_without_convolution_is_one_normalisation() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _act(b, _input(b), "RELU")
        y = _eltwise(b, "MUL", x, b.constant("m", random(rng, 4)))
        y = _eltwise(b, "ADD", y, b.constant("a", random(rng, 4)))
        b.output(_act(b, y, "RELU"), "y")

    assert types(rewrite(build)) == {"Activation": 1, "BatchNorm": 1}


def test_residual_block_is_two_convolutions() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b)
        y = _conv(b, rng, x, out=4, padding="SAME")
        y = _act(b, _bn(b, rng, y), "RELU")
        y = _bn(b, rng, _conv(b, rng, y, out=4, padding="SAME"))
        b.output(_act(b, _eltwise(b, "ADD", x, y), "RELU"), "y")

    graph = rewrite(build)
    assert types(graph) == {"Conv2D": 2}
    assert graph.ops[1].input(3) is graph.inputs[0]


def test_residual_of_a_matrix_product() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b, 2, 70, 8)
        w = b.constant("w", random(rng, 8, 8))
        y = b.one("MatMul", [x, w], None, None, "matmul")
        y = _eltwise(b, "ADD", y, b.constant("b", random(rng, 8)))
        b.output(_eltwise(b, "ADD", y, x), "y")

    op = _only(build, "FullyConnected")
    assert op.get_input(2) is not None and op.get_input(3) is op.input(0)


def test_residual_of_a_matrix_product_of_few_rows_stays_a_sum() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b, 2, 5, 8)
        w = b.constant("w", random(rng, 8, 8))
        y = b.one("MatMul", [x, w], None, None, "matmul")
        b.output(_eltwise(b, "ADD", y, x), "y")

    assert types(rewrite(build)) == {"FullyConnected": 1, "Eltwise": 1}


def test_residual_of_a_reshaped_matrix_product() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b, 1, 140, 8)
        y = b.one("Reshape", [x], None, {"shape": [140, 8]}, "rows")
        y = b.one("MatMul", [y, b.constant("w", random(rng, 8, 8))], None, None, "mm")
        y = b.one("Reshape", [y], None, {"shape": [1, 140, 8]}, "back")
        b.output(_eltwise(b, "ADD", x, y), "y")

    graph = rewrite(build)
    assert types(graph) == {"FullyConnected": 1, "Reshape": 2}


def test_residual_of_two_convolutions_joins_the_later() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b)
        shortcut = _conv(b, rng, x, kernel=1, bias=True)
        y = _act(b, _conv(b, rng, x, kernel=1), "RELU")
        y = _conv(b, rng, y, kernel=1)
        b.output(_eltwise(b, "ADD", y, shortcut), "y")

    graph = rewrite(build)
    assert types(graph) == {"Conv2D": 3}
    assert graph.ops[-1].get_input(3) is not None


def test_residual_that_broadcasts_stays_a_sum() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b)
        attrs = {"mode": "MEAN", "axes": [1, 2]}
        mean = b.one("Reduce", [x], None, attrs, "mean")
        y = _conv(b, rng, x, out=4, padding="SAME")
        b.output(_eltwise(b, "ADD", y, mean), "y")

    assert types(rewrite(build))["Eltwise"] == 1


def test_activation_fuses_through_a_reshape() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _conv(b, rng, _input(b))
        y = b.one("Reshape", [y], None, {"shape": [2, 20, 6]}, "reshape")
        b.output(_act(b, y, "GELU"), "y")

    graph = rewrite(build)
    assert types(graph) == {"Conv2D": 1, "Reshape": 1}
    assert graph.ops[0].attr("activation") == "GELU"


def test_activation_with_slopes_stays() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _conv(b, rng, _input(b))
        slopes = b.constant("slope", random(rng, 6))
        b.output(b.one("Activation", [y, slopes], None, {"activation": "PRELU"}), "y")

    assert types(rewrite(build)) == {"Conv2D": 1, "Activation": 1}


@pytest.mark.parametrize(
    ("op", "attrs", "value", "relu", "left"),
    [
        ("conv", {}, 0.0, False, 0),
        ("conv", {}, 1.0, False, 1),
        ("conv", {"padding": "SAME"}, 0.0, False, 0),
        ("depthwise", {"padding": "EXPLICIT", "pads": [1, 0, 0, 2]}, 0.0, False, 0),
        ("pool", {"mode": "MAX"}, 0.0, True, 0),
        ("pool", {"mode": "MAX"}, 0.0, False, 1),
        ("pool", {"mode": "MAX"}, -3.4028234e38, False, 0),
        ("pool", {"mode": "AVG"}, 0.0, False, 0),
        ("pool", {"mode": "AVG", "padding": "SAME"}, 0.0, False, 1),
        ("pool", {"mode": "AVG", "ceil_mode": True, "strides": [2, 2]}, 0.0, False, 1),
    ],
)
def test_padding_moves_into_the_window_where_it_means_the_same(
    op: str, attrs: dict[str, Any], value: float, relu: bool, left: int
) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b)
        if relu:
            x = _act(b, x, "RELU")
        pads = [0, 0, 1, 0, 2, 1, 0, 0]
        x = b.one("Pad", [x], None, {"pads": pads, "value": value}, "pad")
        if op == "pool":
            y = b.one("Pooling", [x], None, {"kernels": [3, 3], **attrs}, "pool")
        elif op == "depthwise":
            y = _conv(b, rng, x, out=4, groups=4, **attrs)
        else:
            y = _conv(b, rng, x, **attrs)
        b.output(y, "y")

    assert types(rewrite(build))["Pad"] == left


def test_padding_of_channels_stays() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.one("Pad", [_input(b)], None, {"pads": [0, 0, 0, 0, 0, 0, 0, 2]}, "pad")
        b.output(_conv(b, rng, x), "y")

    assert types(rewrite(build)) == {"Pad": 1, "Conv2D": 1}


@pytest.mark.parametrize(
    ("attrs", "reduced"),
    [
        ({"kernels": [7, 6]}, True),
        ({"kernels": [7, 6], "mode": "AVG"}, True),
        (
            {
                "kernels": [8, 6],
                "mode": "AVG",
                "padding": "EXPLICIT",
                "pads": [0, 0, 1, 0],
            },
            True,
        ),
        (
            {
                "kernels": [8, 6],
                "mode": "AVG",
                "padding": "EXPLICIT",
                "pads": [0, 0, 1, 0],
                "count_include_pad": True,
            },
            False,
        ),
        ({"kernels": [5, 6], "strides": [3, 1]}, False),
        ({"kernels": [4, 6], "dilations": [2, 1]}, False),
    ],
)
def test_pooling_of_the_whole_image_is_a_reduction(
    attrs: dict[str, Any], reduced: bool
) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        b.output(b.one("Pooling", [_input(b)], None, attrs, "pool"), "y")

    assert types(rewrite(build))["Reduce"] == int(reduced)


@pytest.mark.parametrize("transpose", [False, True])
def test_product_with_constant_is_fully_connected(transpose: bool) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        shape = (5, 4) if transpose else (4, 5)
        w = b.constant("w", random(rng, *shape))
        attrs = {"transpose_b": transpose}
        y = b.one("MatMul", [_input(b, 3, 2, 4), w], None, attrs, "fc")
        y = _eltwise(b, "ADD", y, b.constant("b", random(rng, 5)))
        b.output(_act(b, y, "RELU"), "y")

    assert _only(build, "FullyConnected").attr("activation") == "RELU"


def test_product_of_computed_matrices_stays() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b, 3, 4, 4)
        b.output(b.one("MatMul", [x, x], None, {"transpose_a": True}, "mm"), "y")

    assert types(rewrite(build)) == {"MatMul": 1}


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize(
    ("perm", "left"), [([0, 1, 3, 2], 0), ([0, 2, 3, 1], 1), ([0, 2, 1, 3], 1)]
)
def test_product_reads_its_second_matrix_transposed(
    perm: list[int], left: int, flag: bool
) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b, 4, 4, 4, 4)
        y = b.one("Transpose", [x], None, {"perm": perm}, "turn")
        b.output(b.one("MatMul", [x, y], None, {"transpose_b": flag}, "mm"), "y")

    graph = rewrite(build)
    assert types(graph) == {"MatMul": 1, **({"Transpose": left} if left else {})}
    (product,) = (op for op in graph.ops if op.type == "MatMul")
    turned = perm[2] == 3
    assert product.attr("transpose_b") is (flag != turned)


def test_first_matrix_is_transposed_by_itself() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b, 3, 4, 4)
        y = b.one("Transpose", [x], None, {"perm": [0, 2, 1]}, "turn")
        b.output(b.one("MatMul", [y, x], None, None, "mm"), "y")

    assert types(rewrite(build)) == {"MatMul": 1, "Transpose": 1}


def test_transposed_matrix_with_another_reader_stays() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b, 3, 4, 4)
        y = b.one("Transpose", [x], None, {"perm": [0, 2, 1]}, "turn")
        b.output(b.one("MatMul", [x, y], None, None, "mm"), "y")
        b.output(y, "z")

    assert types(rewrite(build)) == {"MatMul": 1, "Transpose": 1}


def _dense(b: GraphBuilder, rng: np.random.Generator, x: Value) -> Value:
    inputs = [x, b.constant("w", random(rng, 12, 8)), b.constant("b", random(rng, 12))]
    return b.one("FullyConnected", inputs, None, None, "product")


def _heads(b: GraphBuilder, x: Value) -> Value:
    x = b.one("Reshape", [x], None, {"shape": [2, 5, 3, 4]}, "split")
    return b.one("Transpose", [x], None, {"perm": [0, 2, 1, 3]}, "heads")


def _sequence(b: GraphBuilder) -> Value:
    return b.input(b.graph.unique_name("x"), DataType.FLOAT32, (2, 5, 8))


def _scaled(b: GraphBuilder, x: Value, factor: Array | None = None) -> Value:
    operands = [x, b.constant("s", np.float32(0.42) if factor is None else factor)]
    return b.one("Eltwise", operands, None, {"mode": "MUL"}, "scaled")


def test_a_factor_folds_through_reshape_and_transpose() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _scaled(b, _heads(b, _dense(b, rng, _sequence(b))))
        b.output(b.one("Softmax", [y], None, None, "softmax"), "y")

    assert "Eltwise" not in types(rewrite(build))


def test_a_factor_folds_into_an_operand_of_a_product() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        q, k = (_heads(b, _dense(b, rng, _sequence(b))) for _ in range(2))
        scores = b.one("MatMul", [q, k], None, {"transpose_b": True}, "scores")
        b.output(b.one("Softmax", [_scaled(b, scores)], None, None, "softmax"), "y")

    assert "Eltwise" not in types(rewrite(build))


def _read_twice(b: GraphBuilder, rng: np.random.Generator) -> None:
    heads = _heads(b, _dense(b, rng, _sequence(b)))
    b.output(b.one("Softmax", [_scaled(b, heads)], None, None, "softmax"), "y")
    b.output(b.one("Softmax", [heads], None, None, "softmax"), "z")


def _after_an_activation(b: GraphBuilder, rng: np.random.Generator) -> None:
    y = _dense(b, rng, _sequence(b))
    y = b.one("Activation", [y], None, {"activation": "RELU"}, "relu")
    b.output(b.one("Softmax", [_scaled(b, _heads(b, y))], None, None, "softmax"), "y")


def _by_position(b: GraphBuilder, rng: np.random.Generator) -> None:
    y = _scaled(b, _heads(b, _dense(b, rng, _sequence(b))), random(rng, 4))
    b.output(b.one("Softmax", [y], None, None, "softmax"), "y")


def test_a_product_without_elements() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _sequence(b)
        y = b.one("MatMul", [x, b.constant("w", random(rng, 8, 0))], None, None, "none")
        b.output(b.one("Concat", [_scaled(b, y), x], None, {"axis": 2}, "y"), "y")

    rewrite(build)


@pytest.mark.parametrize("build", [_read_twice, _after_an_activation, _by_position])
def test_other_factors_stay(
    build: Callable[[GraphBuilder, np.random.Generator], None],
) -> None:
    assert types(rewrite(build))["Eltwise"] == 1


def _deconv(
    b: GraphBuilder, rng: np.random.Generator, groups: int = 1, **attrs: Any
) -> Value:
    x = b.input("x", DataType.FLOAT32, (2, 5, 6, 4))
    inputs = [
        x,
        b.constant("w", random(rng, 8, 3, 4, 4 // groups)),
        b.constant("b", random(rng, 8)),
    ]
    return b.one("Deconv2D", inputs, None, {"groups": groups, **attrs}, "up")


def _only_after(op_type: str, normalised: bool = False, **attrs: Any) -> Op:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _deconv(b, rng, **attrs)
        if normalised:
            more = [b.constant(n, random(rng, 8)) for n in "so"]
            y = b.one("BatchNorm", [y, *more], None, None, "bn")
            y = b.one("Activation", [y], None, {"activation": "RELU"}, "act")
        b.output(y, "y")

    graph = rewrite(build)
    assert types(graph) == {op_type: 1}
    return graph.ops[0]


@pytest.mark.parametrize("groups", [1, 2])
def test_normalisation_and_activation_are_folded(groups: int) -> None:
    op = _only_after("Deconv2D", normalised=True, groups=groups, strides=[2, 3])
    assert op.attr("activation") == "RELU"


def test_groups_of_single_channels_become_depthwise() -> None:
    attrs = {"groups": 4, "strides": [2, 2], "pads": [1, 0, 1, 2]}
    op = _only_after("DepthwiseDeconv2d", normalised=True, **attrs)
    assert op.input(1).shape == (3, 4, 4, 2)


@pytest.mark.parametrize("dilation", [1, 2])
def test_stride_one_is_a_convolution(dilation: int) -> None:
    pads, added = [1, 0, 2, 1], [1, 0]
    op = _only_after(
        "Conv2D", pads=pads, output_padding=added, dilations=[dilation, dilation]
    )
    assert list(op.attr("pads")) == [
        2 * dilation - 1,
        3 * dilation,
        2 * dilation - 2 + 1,
        3 * dilation - 1,
    ]
    assert _only_after("DepthwiseConv2d", groups=4).input(1).shape == (3, 4, 4, 2)


def test_stride_one_that_begins_inside_the_image_stays() -> None:
    _only_after("Deconv2D", pads=[3, 0, 0, 0])

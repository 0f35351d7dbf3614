# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators between Dequantize and Quantize compute in integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mace.python.tools.ir import DataType, Graph, GraphBuilder, Value
from mace.python.tools.ir.evaluate import fold_op
from mace.python.tools.ir.quantized_ops import is_quantized
from mace.python.tools.passes.testing import random, rewrite, types

_X_SCALE, _Y_SCALE = 0.02, 0.05


def _quantized(b: GraphBuilder, x: Value, scale: float, zero: int, name: str) -> Value:
    parameters = [b.constant(f"{name}/scale", np.array([scale], np.float32))]
    parameters.append(b.constant(f"{name}/zero", np.array([zero], np.uint8)))
    return b.one("Quantize", [x, *parameters], None, {"to": "UINT8"}, name)


def _dequantized(b: GraphBuilder, q: Value, scale: float, zero: int) -> Value:
    parameters = [b.constant(f"{q.name}/scale2", np.array([scale], np.float32))]
    parameters.append(b.constant(f"{q.name}/zero2", np.array([zero], np.uint8)))
    return b.one("Dequantize", [q, *parameters], None, None, f"{q.name}/real")


class _Layer:
    """Input, convolution, output, as quantizers write them."""

    def __init__(self) -> None:
        self.weight_scales = np.linspace(0.004, 0.009, 6, dtype=np.float32)
        self.weight_zero = 0
        self.bias_integers = True
        self.activation = "NONE"
        self.read_twice = False
        self.scaled = False
        self.normalised = False

    def __call__(self, b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (1, 5, 4, 3))
        x = _dequantized(b, _quantized(b, x, _X_SCALE, 130, "q"), _X_SCALE, 130)
        numbers = rng.integers(-100, 101, (6, 3, 3, 3))
        given = [
            b.constant("w", numbers.astype(np.int8)),
            b.constant("ws", self.weight_scales),
            b.constant("wz", np.full(6, self.weight_zero, np.int8)),
        ]
        w = b.one("Dequantize", given, None, {"axis": 0}, "weights")
        if self.scaled:
            w = b.one(
                "Eltwise",
                [w, b.constant("two", np.array([2], np.float32))],
                None,
                {"mode": "MUL"},
                "twice",
            )
        if self.bias_integers:
            of_sums = np.float32(_X_SCALE) * self.weight_scales
            parts = [b.constant("i", rng.integers(-500, 500, 6).astype(np.int32))]
            parts.append(b.constant("is", of_sums))
            bias = b.one("Dequantize", parts, None, {"axis": 0}, "bias")
        else:
            bias = b.constant("bias", random(rng, 6))
        b.graph.sort()
        for value in (w, bias):
            if value.producer is not None:
                fold(b, value)
        y = b.one("Conv2D", [x, w, bias], None, {"padding": "SAME"}, "conv")
        if self.normalised:
            factors = np.array([1, 2, -0.5, 0, 1.5, -3], np.float32)
            offsets = b.constant("offsets", random(rng, 6) * 0.1)
            scaled = [y, b.constant("factors", factors), offsets]
            y = b.one("BatchNorm", scaled, None, None, "norm")
        if self.activation != "NONE":
            attrs = {"activation": self.activation, "activation_limit": 1.0}
            y = b.one("Activation", [y], None, attrs, "act")
        if self.read_twice:
            b.output(b.one("Activation", [y], None, {"activation": "TANH"}, "t"), "t")
        q = _quantized(b, y, _Y_SCALE, 120, "yq")
        b.output(_dequantized(b, q, _Y_SCALE, 120), "y")


def fold(b: GraphBuilder, value: Value) -> None:
    """Makes the value a constant, as the importer does."""
    assert value.producer is not None
    for before in value.producer.inputs:
        if before is not None and before.producer is not None:
            fold(b, before)
    assert fold_op(b.graph, value.producer)


def _integers(layer: _Layer) -> bool:
    graph = rewrite(layer)
    conv = next(op for op in graph.ops if op.type == "Conv2D")
    return conv.output.dtype is DataType.UINT8


@pytest.mark.parametrize("activation", ["NONE", "RELU", "RELUX"])
def test_convolution(activation: str) -> None:
    layer = _Layer()
    layer.activation = activation
    graph = rewrite(layer)
    assert types(graph) == {"Quantize": 1, "Conv2D": 1, "Dequantize": 1}
    conv = next(op for op in graph.ops if op.type == "Conv2D")
    assert [v and v.dtype for v in conv.inputs] == [
        DataType.UINT8,
        DataType.INT8,
        DataType.INT32,
    ]
    weights = conv.input(1).quantization
    assert weights is not None and weights.scales == tuple(layer.weight_scales.tolist())
    assert conv.attr("activation") == activation


def test_normalisation_moves_into_the_scales() -> None:
    layer = _Layer()
    # The numbers are -100 to 100, so that they can be negated.
    layer.normalised, layer.bias_integers = True, False
    graph = rewrite(layer)
    conv = next(op for op in graph.ops if op.type == "Conv2D")
    assert conv.output.dtype is DataType.UINT8
    weights = conv.input(1).quantization
    assert weights is not None
    of_factors = layer.weight_scales * np.array([1, 2, 0.5, 1, 1.5, 3])
    np.testing.assert_allclose(weights.scales, of_factors, rtol=1e-6)


def test_bias_in_floats_is_rounded_to_the_sums() -> None:
    layer = _Layer()
    layer.bias_integers = False
    assert _integers(layer)


def test_what_is_no_quantized_operator_stays() -> None:
    layer = _Layer()
    layer.activation = "TANH"
    assert not _integers(layer)
    layer = _Layer()
    layer.read_twice = True
    assert not _integers(layer)
    # Weights that were multiplied are no such integers any more.
    layer = _Layer()
    layer.scaled = True
    assert not _integers(layer)
    # Without their zero point, they do not fit into 8 bits.
    layer = _Layer()
    layer.weight_zero = 100
    assert not _integers(layer)


@pytest.mark.parametrize("same_scale", [True, False])
def test_elements_are_moved_as_integers(same_scale: bool) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (1, 5, 4, 3))
        y = _dequantized(b, _quantized(b, x, _X_SCALE, 130, "q"), _X_SCALE, 130)
        y = b.one("Reshape", [y], None, {"shape": [20, 3]}, "flat")
        scale = _X_SCALE if same_scale else _Y_SCALE
        b.output(_quantized(b, y, scale, 130, "y"), "y")

    graph = rewrite(build)
    (flat,) = (op for op in graph.ops if op.type == "Reshape")
    assert flat.output.dtype is DataType.UINT8
    assert types(graph)["LookupTable"] == (0 if same_scale else 1)
    assert "Dequantize" not in types(graph)


def _input(b: GraphBuilder) -> Value:
    x = b.input("x", DataType.FLOAT32, (1, 5, 4, 6))
    return _dequantized(b, _quantized(b, x, _X_SCALE, 130, "q"), _X_SCALE, 130)


def _activation(b: GraphBuilder, x: Value, kind: str, **attrs: float) -> Value:
    return b.one("Activation", [x], None, {"activation": kind, **attrs}, f"{kind}/y")


def _eltwise(b: GraphBuilder, mode: str, *operands: Value) -> Value:
    return b.one("Eltwise", operands, None, {"mode": mode}, f"{mode}/y")


@pytest.mark.parametrize("kind", ["RELU", "TANH", "HARD_SWISH", "SOFTPLUS"])
def test_activations_are_tables(kind: str) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _quantized(b, _activation(b, _input(b), kind), _Y_SCALE, 20, "y")
        b.output(_dequantized(b, y, _Y_SCALE, 20), "y")

    graph = rewrite(build)
    assert types(graph) == {"Quantize": 1, "LookupTable": 1, "Dequantize": 1}


def test_an_expression_of_one_tensor_is_one_table() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b)
        gate = _quantized(b, _activation(b, x, "SIGMOID"), 1 / 256, 0, "gate")
        product = _eltwise(b, "MUL", x, _dequantized(b, gate, 1 / 256, 0))
        half = b.constant("half", np.array([0.5], np.float32))
        b.output(_quantized(b, _eltwise(b, "POW", product, half), 0.01, 3, "y"), "y")

    assert types(rewrite(build)) == {"Quantize": 1, "LookupTable": 1}


def test_a_step_that_others_read_stays() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b)
        gate = _quantized(b, _activation(b, x, "SIGMOID"), 1 / 256, 0, "gate")
        product = _eltwise(b, "MUL", x, _dequantized(b, gate, 1 / 256, 0))
        b.output(_quantized(b, product, 0.01, 3, "y"), "y")
        b.output(gate, "gate")

    assert types(rewrite(build)) == {"Quantize": 1, "LookupTable": 2}


@pytest.mark.parametrize("channels", [1, 6])
def test_slopes_are_a_table_for_each_channel(channels: int) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        slope = b.constant("slope", random(rng, channels))
        attrs = {"activation": "PRELU"}
        y = b.one("Activation", [_input(b), slope], None, attrs, "prelu")
        b.output(_quantized(b, y, _Y_SCALE, 120, "y"), "y")

    graph = rewrite(build)
    assert types(graph) == {"Quantize": 1, "LookupTable": 1}
    table = next(op for op in graph.ops if op.type == "LookupTable").input(1)
    assert table.shape == ((256,) if channels == 1 else (6, 256))


def test_what_is_no_function_of_one_element_is_no_table() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        # The constant makes the result larger than the tensor.
        rows = b.constant("rows", random(rng, 3, 1, 1, 1, 1))
        y = _eltwise(b, "DIV", _input(b), rows)
        b.output(_quantized(b, y, _Y_SCALE, 120, "y"), "y")

    assert "LookupTable" not in types(rewrite(build))


def test_the_same_scale_again_is_nothing() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _quantized(b, _input(b), _X_SCALE, 130, "again")
        b.output(_dequantized(b, y, _X_SCALE, 130), "y")

    assert types(rewrite(build)) == {"Quantize": 1, "Dequantize": 1}


_Shape = tuple[int, ...]


def _product_of_two(
    b: GraphBuilder, a_shape: _Shape, b_shape: _Shape, **attrs: bool
) -> None:
    """Both operands are computed and have scales of their own."""
    operands = []
    for name, shape, scale, zero in (
        ("a", a_shape, 0.02, 130),
        ("c", b_shape, 0.03, 90),
    ):
        x = b.input(name, DataType.FLOAT32, shape)
        q = _quantized(b, x, scale, zero, f"{name}/q")
        operands.append(_dequantized(b, q, scale, zero))
    product = b.one("MatMul", operands, None, attrs, "product")
    y = _quantized(b, product, 0.2, 120, "y")
    b.output(_dequantized(b, y, 0.2, 120), "z")


@pytest.mark.parametrize(
    ("a_shape", "b_shape", "attrs"),
    [
        ((2, 5, 7), (2, 7, 4), {}),
        ((3, 5, 7), (4, 7), {"transpose_b": True}),
        ((7, 5), (2, 7, 4), {"transpose_a": True}),
    ],
)
def test_products_of_two_computed_tensors(
    a_shape: _Shape, b_shape: _Shape, attrs: dict[str, bool]
) -> None:
    graph = rewrite(lambda b, rng: _product_of_two(b, a_shape, b_shape, **attrs))
    assert types(graph) == {"Quantize": 2, "MatMul": 1, "Dequantize": 1}
    (product,) = (op for op in graph.ops if op.type == "MatMul")
    assert {v.dtype for v in product.inputs if v} == {DataType.UINT8}
    assert product.output.dtype is DataType.UINT8


@pytest.mark.parametrize("multiplier", [1, 3])
@pytest.mark.parametrize("activation", ["RELUX", "TANH"])
def test_depthwise_with_several_outputs(multiplier: int, activation: str) -> None:
    outputs = 6 * multiplier
    scales = np.linspace(0.004, 0.009, outputs, dtype=np.float32)

    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b)
        numbers = rng.integers(-100, 101, (outputs, 3, 3, 1)).astype(np.int8)
        given = [b.constant("w", numbers), b.constant("ws", scales)]
        w = b.one("Dequantize", given, None, {"axis": 0}, "weights")
        parts = [
            b.constant("i", rng.integers(-500, 500, outputs).astype(np.int32)),
            b.constant("is", np.float32(_X_SCALE) * scales),
        ]
        bias = b.one("Dequantize", parts, None, {"axis": 0}, "bias")
        b.graph.sort()
        for value in (w, bias):
            if value.producer is not None:
                fold(b, value)
        attrs = {
            "padding": "SAME",
            "groups": 6,
            "activation": activation,
            "activation_limit": 1.5,
        }
        y = b.one("Conv2D", [x, w, bias], None, attrs, "conv")
        y = _quantized(b, y, 0.02, 120, "y")
        b.output(_dequantized(b, y, 0.02, 120), "z")

    graph = rewrite(build)
    (conv,) = (op for op in graph.ops if "Conv" in op.type)
    limited = activation == "RELUX"
    grouped = limited and multiplier > 1
    assert conv.type == ("Conv2D" if grouped else "DepthwiseConv2d")
    assert conv.output.dtype is (DataType.UINT8 if limited else DataType.FLOAT32)
    if grouped:
        assert conv.attr("groups") == 6
        weights = conv.input(1).quantization
        assert weights is not None and weights.scales == tuple(scales.tolist())


_FloatLayer = Callable[[GraphBuilder, Value], Value]
_SCALE, _ZERO = 0.05, 120


def _rounded_to(b: GraphBuilder, x: Value, name: str, to: type = np.uint8) -> Value:
    parameters = [
        b.constant(f"{name}/scale", np.array(_SCALE, np.float32)),
        b.constant(f"{name}/zero", np.array(_ZERO, to)),
    ]
    q = b.one("Quantize", [x, *parameters], None, {"to": to.__name__.upper()}, name)
    return b.one("Dequantize", [q, *parameters], None, None, f"{name}/real")


def _graph(layer: _FloatLayer, read_twice: bool = False) -> Graph:
    """Rounding, the layer, a product, and rounding."""

    def build(b: GraphBuilder, _: np.random.Generator) -> None:
        x = _rounded_to(b, b.input("x", DataType.FLOAT32, (1, 6, 4, 3)), "q")
        y = layer(b, x)
        z = b.one("Eltwise", [y, y], None, {"mode": "ADD"}, "twice")
        if read_twice:
            b.output(y, "y")
        b.output(_rounded_to(b, z, "p"), "z")

    return rewrite(build)


def _pool(b: GraphBuilder, x: Value) -> Value:
    attrs = {"mode": "MAX", "kernels": [3, 3], "strides": [2, 2], "padding": "SAME"}
    return b.one("Pooling", [x], None, attrs, "pool")


def _flat(b: GraphBuilder, x: Value) -> Value:
    y = _pool(b, x)
    y = b.one("Transpose", [y], None, {"perm": [0, 2, 1, 3]}, "turned")
    return b.one("Reshape", [y], None, {"shape": [0, -1]}, "flat")


@pytest.mark.parametrize("layer", [_pool, _flat])
def test_chosen_and_moved_elements_stay_integers(layer: _FloatLayer) -> None:
    graph = _graph(layer)
    assert types(graph)["Quantize"] == types(graph)["Dequantize"] == 1
    assert [op.output.dtype for op in graph.ops][-1] is DataType.FLOAT32
    assert all(op.output.dtype is DataType.UINT8 for op in graph.ops[:-1])


def test_what_else_reads_them_gets_floats() -> None:
    graph = _graph(_pool, read_twice=True)
    (pool,) = (op for op in graph.ops if op.type == "Pooling")
    # An output of the model is not moved behind the rounding.
    assert not is_quantized(pool)


def _average(b: GraphBuilder, x: Value) -> Value:
    attrs = {"mode": "AVG", "kernels": [3, 3], "strides": [2, 2], "padding": "SAME"}
    return b.one("Pooling", [x], None, attrs, "pool")


def test_averages_are_no_elements() -> None:
    (pool,) = (op for op in _graph(_average).ops if op.type == "Pooling")
    assert not is_quantized(pool)


def _mean(b: GraphBuilder, x: Value) -> Value:
    attrs = {"mode": "MEAN", "axes": [1, 2], "keep_dims": False}
    return _rounded_to(b, b.one("Reduce", [x], None, attrs, "mean"), "m")


def test_means_of_images() -> None:
    graph = _graph(_mean)
    assert types(graph)["Quantize"] == types(graph)["Dequantize"] == 1
    assert all(op.output.dtype is DataType.UINT8 for op in graph.ops[:-1])

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products with constant matrices."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnxruntime.quantization import QuantType, quantize_dynamic

from mace.python.tools.importers.onnx.testing import (
    import_proto,
    make_model,
    run_onnxruntime,
)
from mace.python.tools.ir import DataType, Graph, GraphBuilder, Value
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.passes import products
from mace.python.tools.passes.manager import optimize
from mace.python.tools.passes.testing import random, rewrite, types

_KINDS: list[dict[str, Any]] = [
    {"weight_type": QuantType.QInt8},
    {"weight_type": QuantType.QInt8, "per_channel": True},
    {"weight_type": QuantType.QUInt8},
    {"weight_type": QuantType.QUInt8, "per_channel": True},
]


def _normal(*shape: int) -> Array:
    rng = np.random.default_rng([5, *shape])
    return rng.standard_normal(shape).astype(np.float32)


def _encoder() -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A layer of a transformer, with one head."""
    nodes: list[onnx.NodeProto] = []
    weights: dict[str, Array] = {}

    def make(op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        nodes.append(onnx.helper.make_node(op, inputs, [output], output, **attributes))
        return output

    def dense(x: str, name: str, depth: int, outputs: int) -> str:
        weights[f"w_{name}"] = _normal(depth, outputs) / np.float32(np.sqrt(depth))
        weights[f"b_{name}"] = _normal(outputs) / 4
        product = make("MatMul", [x, f"w_{name}"], f"{name}_product")
        return make("Add", [product, f"b_{name}"], name)

    query, key, value = (dense("x", name, 48, 48) for name in ("q", "k", "v"))
    turned = make("Transpose", [key], "turned", perm=[0, 2, 1])
    scores = make("MatMul", [query, turned], "scores")
    attention = make("Softmax", [scores], "attention", axis=-1)
    mixed = make("MatMul", [attention, value], "mixed")
    first = make("Add", [dense(mixed, "o", 48, 48), "x"], "first")
    hidden = make("Relu", [dense(first, "up", 48, 96)], "hidden")
    make("Add", [dense(hidden, "down", 96, 48), first], "y")
    inputs = {"x": _normal(2, 7, 48)}
    model = make_model(nodes, inputs, ["y"], weights)
    model.graph.output[0].type.CopyFrom(
        onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, (2, 7, 48))
    )
    return model, inputs


def _quantized(model: onnx.ModelProto, folder: Path, **how: Any) -> onnx.ModelProto:
    onnx.save(model, folder / "float.onnx")
    logging.disable(logging.WARNING)
    try:
        quantize_dynamic(folder / "float.onnx", folder / "dynamic.onnx", **how)
    finally:
        logging.disable(logging.NOTSET)
    return onnx.load(folder / "dynamic.onnx")


def _converted(
    model: onnx.ModelProto, inputs: dict[str, Array], folder: Path
) -> tuple[Graph, Counter[str]]:
    graph = import_proto(model, inputs, ["y"], folder)
    optimize(graph)
    return graph, types(graph)


@pytest.mark.parametrize("how", _KINDS, ids=str)
def test_each_product_is_one_operator(how: dict[str, Any], tmp_path: Path) -> None:
    model, inputs = _encoder()
    quantized = _quantized(model, tmp_path, **how)
    graph, found = _converted(quantized, inputs, tmp_path)
    # Biases and the activation are parts of them.
    assert found["DynamicQuantizeMatMul"] == 6
    assert not {"MatMulInteger", "Quantize", "Cast", "Reduce"} & found.keys()
    assert found["Eltwise"] == 2  # the residuals
    assert found["Activation"] == 0
    assert all(
        op.attr("range") == "TENSOR" and op.get_input(4) is not None
        for op in graph.ops
        if op.type == "DynamicQuantizeMatMul"
    )
    wanted = run_onnxruntime(quantized, inputs)[0]
    found_y = run_graph(graph, inputs)["y"]
    # The order of float32 sums between the layers decides some roundings to 8 bits.
    np.testing.assert_allclose(found_y, wanted, atol=1e-5 * np.abs(wanted).max())


def _model_of_product(
    zero: str = "z", scale: str = "s", outputs: tuple[str, ...] = ("y",)
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """One product with what quantizes it.

    Args:
        zero, scale: names of the zero point and the scale that it is given.
        outputs: of the model.
    """
    make = onnx.helper.make_node
    nodes = [
        make("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        make("MatMulInteger", ["q", "w", zero], ["sums"]),
        make("Cast", ["sums"], ["floats"], to=onnx.TensorProto.FLOAT),
        make("Mul", [scale, "sw"], ["scales"]),
        make("Mul", ["floats", "scales"], ["y"]),
    ]
    rng = np.random.default_rng(6)
    weights: dict[str, Array] = {
        "w": rng.integers(-127, 128, (40, 33)).astype(np.int8),
        "sw": np.abs(_normal(33)) / 100,
        "other": np.array(0.02, np.float32),
        "none": np.array(0, np.uint8),
    }
    inputs = {"x": _normal(5, 40) - np.float32(0.5)}
    return make_model(nodes, inputs, list(outputs), weights), inputs


def test_a_product_alone(tmp_path: Path) -> None:
    model, inputs = _model_of_product()
    graph, found = _converted(model, inputs, tmp_path)
    assert found == {"DynamicQuantizeMatMul": 1}
    wanted = run_onnxruntime(model, inputs)[0]
    np.testing.assert_allclose(run_graph(graph, inputs)["y"], wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "changes", [{"zero": "none"}, {"scale": "other"}, {"outputs": ("y", "floats")}]
)
def test_what_is_something_else_stays(changes: dict[str, Any], tmp_path: Path) -> None:
    model, inputs = _model_of_product(**changes)
    graph = import_proto(model, inputs, changes.get("outputs", ["y"]), tmp_path)
    optimize(graph)
    found = types(graph)
    assert found["DynamicQuantizeMatMul"] == 0
    assert found["MatMulInteger"] == 1
    wanted = run_onnxruntime(model, inputs)[0]
    np.testing.assert_allclose(
        run_graph(graph, inputs)["y"], wanted, rtol=1e-5, atol=1e-6
    )


_PART = 32


def _columns(
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
        _read(b, b.op("Split", [_columns(b, rng, bias=bias)], names, attrs))

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
        y = _columns(b, rng)
        y = b.one("Reshape", [y], None, {"shape": [2, 5, 3, 4, 8]}, "heads")
        _read(b, [_slice(b, y, 2, i, i + 1) for i in (0, 2, -2)])

    graph = rewrite(build)
    assert types(graph) == {"FullyConnected": 3, "Reshape": 3, "Softmax": 3}


def _other_axis(b: GraphBuilder, rng: np.random.Generator) -> list[Value]:
    y = _columns(b, rng)
    return [_slice(b, y, 1, 0, 2), _slice(b, y, 1, 2, 5)]


def _inner_columns(b: GraphBuilder, rng: np.random.Generator) -> list[Value]:
    y = b.one("Reshape", [_columns(b, rng)], None, {"shape": [2, 5, 3, 32]}, "r")
    return [_slice(b, y, 3, 0, 16), _slice(b, y, 3, 16, 32)]


def _read_as_a_whole_too(b: GraphBuilder, rng: np.random.Generator) -> list[Value]:
    y = _columns(b, rng)
    return [y, _slice(b, y, 2, 0, _PART)]


def _overlapping(b: GraphBuilder, rng: np.random.Generator) -> list[Value]:
    y = _columns(b, rng)
    return [_slice(b, y, 2, 0, 2 * _PART), _slice(b, y, 2, _PART, 3 * _PART)]


def _partial_panels(b: GraphBuilder, rng: np.random.Generator) -> list[Value]:
    y = _columns(b, rng, 30)
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


def _input(b: GraphBuilder, *shape: int) -> Value:
    return b.input("x", DataType.FLOAT32, shape)


def _layer(
    b: GraphBuilder,
    rng: np.random.Generator,
    x: Value,
    outs: int,
    bias: bool = True,
    kernel: int = 1,
) -> Value:
    """A Conv2D of an image, else a FullyConnected."""
    assert x.shape is not None
    image = len(x.shape) == 4
    depth = int(x.shape[-1] or 0)
    shape = (outs, kernel, kernel, depth) if image else (outs, depth)
    inputs = [x, b.constant("w", random(rng, *shape))]
    if bias:
        inputs.append(b.constant("b", random(rng, outs)))
    return b.one("Conv2D" if image else "FullyConnected", inputs, None, None, "product")


def _reshape(b: GraphBuilder, x: Value, *shape: int) -> Value:
    return b.one("Reshape", [x], None, {"shape": shape}, "reshape")


@pytest.mark.parametrize("shape", [(2, 6, 8), (2, 2, 3, 8)])
@pytest.mark.parametrize("first_bias", [False, True])
@pytest.mark.parametrize("second_bias", [False, True])
def test_wide_middle_is_merged(
    shape: tuple[int, ...], first_bias: bool, second_bias: bool
) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _layer(b, rng, _input(b, *shape), 24, first_bias)
        b.output(_layer(b, rng, y, 12, second_bias), "y")

    graph = rewrite(build)
    assert len(graph.ops) == 1
    assert graph.ops[0].input(1).shape in ((12, 8), (12, 1, 1, 8))
    assert (graph.ops[0].get_input(2) is not None) == (first_bias or second_bias)


def test_parts_of_a_product(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "_PART", 10)
    test_wide_middle_is_merged((2, 6, 8), True, True)


def test_a_reshape_between_stays() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _layer(b, rng, _input(b, 1, 6, 8), 24)
        b.output(_layer(b, rng, _reshape(b, y, 1, 2, 3, 24), 12), "y")

    assert types(rewrite(build)) == {"Reshape": 1, "Conv2D": 1}


def test_a_reshape_of_channels_prevents_merging() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _layer(b, rng, _input(b, 1, 6, 8), 24)
        b.output(_layer(b, rng, _reshape(b, y, 1, 12, 12), 12), "y")

    assert types(rewrite(build)) == {"Reshape": 1, "FullyConnected": 2}


def test_a_bottleneck_stays() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _layer(b, rng, _input(b, 2, 6, 16), 4)
        b.output(_layer(b, rng, y, 16), "y")

    assert types(rewrite(build)) == {"FullyConnected": 2}


def test_an_activation_or_a_larger_kernel_prevents_merging() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _layer(b, rng, _input(b, 1, 4, 4, 8), 24)
        y = b.one("Activation", [y], None, {"activation": "RELU"}, "relu")
        y = _layer(b, rng, _layer(b, rng, y, 24, kernel=3), 8)
        b.output(y, "y")

    assert types(rewrite(build)) == {"Conv2D": 3}


def test_a_middle_with_other_readers_stays() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        middle = _layer(b, rng, _input(b, 2, 6, 8), 24)
        b.output(middle, "z")
        b.output(_layer(b, rng, middle, 12), "y")

    assert types(rewrite(build)) == {"FullyConnected": 2}


_SIZE = 12
_CHANNELS = 64


def _image(b: GraphBuilder, size: int, channels: int = _CHANNELS) -> Value:
    name = b.graph.unique_name("x")
    return b.input(name, DataType.FLOAT32, (1, size, size, channels))


def _enlarged(b: GraphBuilder, x: Value, mode: str = "LINEAR") -> Value:
    attrs = {"mode": mode, "size": [_SIZE, _SIZE]}
    return b.one("Resize", [x], None, attrs, "resize")


def _convolved(
    b: GraphBuilder,
    rng: np.random.Generator,
    images: list[Value],
    kernel: int = 1,
    **attrs: Any,
) -> Value:
    x = b.one("Concat", images, None, {"axis": 3}, "join")
    assert x.shape is not None and isinstance(x.shape[-1], int)
    filters = b.constant("w", random(rng, _CHANNELS, kernel, kernel, x.shape[-1]))
    bias = b.constant("b", random(rng, _CHANNELS))
    y = b.one("Conv2D", [x, filters, bias], None, attrs, "conv")
    return b.one("Activation", [y], None, {"activation": "RELU"}, "relu")


def _sizes(graph: Graph) -> list[Any]:
    """The heights of what convolutions compute."""
    return sorted(
        op.output.shape[1]
        for op in graph.ops
        if op.type == "Conv2D" and op.output.shape
    )


@pytest.mark.parametrize("mode", ["NEAREST", "LINEAR", "CUBIC"])
def test_enlarged_images_are_convolved_first(mode: str) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        images = [
            _enlarged(b, _image(b, 3), mode),
            _image(b, _SIZE),
            _enlarged(b, _image(b, 6), mode),
        ]
        b.output(_convolved(b, rng, images), "y")

    graph = rewrite(build)
    assert types(graph) == {"Conv2D": 3, "Resize": 2, "Eltwise": 1}
    assert _sizes(graph) == [3, 6, _SIZE]
    last = graph.outputs[0].producer
    assert last is not None and last.attr("activation") == "RELU"


def test_the_other_inputs_stay_joined() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        images = [_image(b, _SIZE), _enlarged(b, _image(b, 1)), _image(b, _SIZE, 5)]
        b.output(_convolved(b, rng, images), "y")

    graph = rewrite(build)
    assert types(graph) == {"Conv2D": 2, "Resize": 1, "Concat": 1}
    assert _sizes(graph) == [1, _SIZE]


@pytest.mark.parametrize(
    "kernel, attrs", [(3, {"padding": "SAME"}), (1, {"strides": [2, 2]})]
)
def test_other_convolutions_stay(kernel: int, attrs: dict[str, Any]) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        images = [_image(b, _SIZE), _enlarged(b, _image(b, 3))]
        b.output(_convolved(b, rng, images, kernel, **attrs), "y")

    assert types(rewrite(build)) == {"Conv2D": 1, "Resize": 1, "Concat": 1}


def test_few_channels_and_reduced_images_stay() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        images = [
            _image(b, _SIZE),
            _enlarged(b, _image(b, 3, 4)),
            _enlarged(b, _image(b, 2 * _SIZE)),
        ]
        b.output(_convolved(b, rng, images), "y")

    assert types(rewrite(build)) == {"Conv2D": 1, "Resize": 2, "Concat": 1}


def test_an_enlarged_image_with_other_readers_stays() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        large = _enlarged(b, _image(b, 3))
        b.output(_convolved(b, rng, [_image(b, _SIZE), large]), "y")
        b.output(b.one("Activation", [large], None, {"activation": "TANH"}, "t"), "z")

    assert types(rewrite(build))["Concat"] == 1

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products that the run quantizes, as ONNX Runtime's quantizer writes them."""

from __future__ import annotations

import logging
from collections import Counter
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
from mace.python.tools.ir import Graph
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.passes import optimize
from mace.python.tools.passes.testing import types

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


def _product(
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
    model, inputs = _product()
    graph, found = _converted(model, inputs, tmp_path)
    assert found == {"DynamicQuantizeMatMul": 1}
    wanted = run_onnxruntime(model, inputs)[0]
    np.testing.assert_allclose(run_graph(graph, inputs)["y"], wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "changes", [{"zero": "none"}, {"scale": "other"}, {"outputs": ("y", "floats")}]
)
def test_what_is_something_else_stays(changes: dict[str, Any], tmp_path: Path) -> None:
    model, inputs = _product(**changes)
    graph = import_proto(model, inputs, changes.get("outputs", ["y"]), tmp_path)
    optimize(graph)
    found = types(graph)
    assert found["DynamicQuantizeMatMul"] == 0
    assert found["MatMulInteger"] == 1
    wanted = run_onnxruntime(model, inputs)[0]
    np.testing.assert_allclose(
        run_graph(graph, inputs)["y"], wanted, rtol=1e-5, atol=1e-6
    )

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Encoders of transformers that ONNX Runtime's quantizer wrote, beside ONNX Runtime.

Attention multiplies two computed tensors; all of an encoder but LayerNorm computes in
integers.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import ArrayLike
from onnx import NodeProto, TensorProto, helper, numpy_helper

from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.ir import Graph
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize
from test.conformance.native import ABIS, native, require_emulator
from test.conformance.onnx.quantizer import (
    cut,
    prepare,
    quantize,
    rounded_by_onnxruntime,
)

_SEED = 31
_TOKENS, _WIDTH, _HEADS = 22, 48, 3
_SHAPE = (1, _TOKENS, _WIDTH)
_OF_HEADS = (1, _TOKENS, _HEADS, _WIDTH // _HEADS)
_SAMPLES = 4
# The part of results that differ, for which the exact one is close to the middle
# between two integers; ONNX Runtime computes all but products in float32. It rounds the
# exponentials of Softmax, so that some of its results are the second closest integers.
_CLOSE = {"Softmax": 0.06, "Eltwise": 1e-3, "LookupTable": 1e-3}
_CLOSE_PRODUCTS = 1e-4


class _Encoder:
    """Layers of a transformer, in floats."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(_SEED)
        self._nodes: list[NodeProto] = []
        self._constants: dict[str, Array] = {}

    def constant(self, name: str, values: ArrayLike) -> str:
        self._constants[name] = np.asarray(values)
        return name

    def add(self, kind: str, inputs: list[str], output: str, **attrs: Any) -> str:
        self._nodes.append(
            helper.make_node(kind, inputs, [output], name=output, **attrs)
        )
        return output

    def linear(self, x: str, y: str, depth: int, width: int) -> str:
        weights = self._rng.standard_normal((depth, width)) / np.sqrt(depth)
        bias = self._rng.standard_normal(width) * 0.1
        self.constant(f"{y}/w", weights.astype(np.float32))
        self.constant(f"{y}/b", bias.astype(np.float32))
        product = self.add("MatMul", [x, f"{y}/w"], f"{y}/product")
        return self.add("Add", [f"{y}/b", product], y)

    def normalise(self, x: str, y: str) -> str:
        scale = self._rng.uniform(0.5, 1.5, _WIDTH).astype(np.float32)
        offset = self._rng.uniform(-0.2, 0.2, _WIDTH).astype(np.float32)
        given = [x, self.constant(f"{y}/g", scale), self.constant(f"{y}/o", offset)]
        return self.add("LayerNormalization", given, y, axis=-1, epsilon=1e-5)

    def gelu(self, x: str, y: str) -> str:
        root = self.constant(f"{y}/root", np.float32(np.sqrt(2)))
        one = self.constant(f"{y}/one", np.float32(1))
        half = self.constant(f"{y}/half", np.float32(0.5))
        part = self.add("Div", [x, root], f"{y}/div")
        part = self.add("Erf", [part], f"{y}/erf")
        part = self.add("Add", [part, one], f"{y}/add")
        part = self.add("Mul", [x, part], f"{y}/mul")
        return self.add("Mul", [part, half], y)

    def _heads(self, x: str, y: str, perm: list[int]) -> str:
        shape = self.constant(f"{y}/shape", np.array(_OF_HEADS, np.int64))
        parts = self.add(
            "Reshape", [self.linear(x, f"{y}/x", _WIDTH, _WIDTH), shape], f"{y}/parts"
        )
        return self.add("Transpose", [parts], y, perm=perm)

    def _scaled(self, x: str, y: str) -> str:
        root = self.constant(f"{y}/root", np.float32(_OF_HEADS[-1] ** -0.25))
        return self.add("Mul", [x, root], y)

    def attention(self, x: str, y: str, scales_operands: bool) -> str:
        """Scaled before the products, as PyTorch exports it, or behind them, with a
        mask, as BERT does.
        """
        queries = self._heads(x, f"{y}/q", [0, 2, 1, 3])
        keys = self._heads(x, f"{y}/k", [0, 2, 3, 1])
        values = self._heads(x, f"{y}/v", [0, 2, 1, 3])
        if scales_operands:
            queries = self._scaled(queries, f"{y}/qs")
            keys = self._scaled(keys, f"{y}/ks")
            scores = self.add("MatMul", [queries, keys], f"{y}/qk")
        else:
            scores = self.add("MatMul", [queries, keys], f"{y}/qk")
            root = self.constant(f"{y}/root", np.float32(np.sqrt(_OF_HEADS[-1])))
            scores = self.add("Div", [scores, root], f"{y}/scaled")
            mask = np.zeros((1, 1, 1, _TOKENS), np.float32)
            mask[..., -5:] = -3.0
            mask_name = self.constant(f"{y}/mask", mask)
            scores = self.add("Add", [scores, mask_name], f"{y}/masked")
        weights = self.add("Softmax", [scores], f"{y}/softmax", axis=-1)
        mixed = self.add("MatMul", [weights, values], f"{y}/mixed")
        mixed = self.add("Transpose", [mixed], f"{y}/tokens", perm=[0, 2, 1, 3])
        shape = self.constant(f"{y}/shape", np.array(_SHAPE, np.int64))
        mixed = self.add("Reshape", [mixed, shape], f"{y}/flat")
        return self.linear(mixed, y, _WIDTH, _WIDTH)

    def block(self, x: str, y: str, scales_operands: bool) -> str:
        part = self.normalise(x, f"{y}/norm1")
        part = self.attention(part, f"{y}/attention", scales_operands)
        x = self.add("Add", [part, x], f"{y}/sum1")
        part = self.normalise(x, f"{y}/norm2")
        part = self.gelu(
            self.linear(part, f"{y}/wide", _WIDTH, 4 * _WIDTH), f"{y}/gelu"
        )
        part = self.linear(part, f"{y}/narrow", 4 * _WIDTH, _WIDTH)
        return self.add("Add", [part, x], y)

    def quantized(self, folder: Path, activations: str) -> tuple[Path, Graph]:
        """The network from x to y, as ONNX Runtime's quantizer writes it."""
        pytest.importorskip("onnxruntime", reason="its quantizer writes the networks")
        graph = helper.make_graph(
            self._nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, _SHAPE)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(v, k) for k, v in self._constants.items()],
        )
        opset = [helper.make_opsetid("", 17)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=8)
        onnx.save(onnx.shape_inference.infer_shapes(model), folder / "float.onnx")
        prepare(folder / "float.onnx", folder / "prepared.onnx")
        path = folder / "quantized.onnx"
        samples = (_tokens(_SEED + 1 + index) for index in range(_SAMPLES))
        quantize(folder / "prepared.onnx", path, "x", samples, activations=activations)
        spec = InputSpec("x", _SHAPE, DataType.FLOAT32, DataFormat.NONE)
        made = import_model(ImportRequest("m", path, (spec,), (OutputSpec("y"),)))
        optimize(made)
        return path, made


def _tokens(seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(_SHAPE).astype(np.float32)


def _in_floats(graph: Graph) -> set[str]:
    return {
        op.type
        for op in graph.ops
        if op.output.dtype is DataType.FLOAT32 and op.type != "Dequantize"
    }


def _counts(graph: Graph) -> Counter[str]:
    return Counter(op.type for op in graph.ops)


# ONNX Runtime cannot open the model of int8 with scaled operands: "Attempt to replace
# the existing tensor", while it optimises equal constants.
@pytest.mark.parametrize(
    ("scales_operands", "activations"),
    [(False, "QUInt8"), (False, "QInt8"), (True, "QUInt8")],
)
def test_every_layer(scales_operands: bool, activations: str, tmp_path: Path) -> None:
    encoder = _Encoder()
    encoder.block("x", "y", scales_operands)
    path, graph = encoder.quantized(tmp_path, activations)
    assert _in_floats(graph) == {"LayerNorm"}
    counts = _counts(graph)
    assert counts["MatMul"] == 2
    # GELU, and factors.
    assert counts["LookupTable"] == (3 if scales_operands else 2)
    feeds = {"x": _tokens(_SEED)}
    known = rounded_by_onnxruntime(path, feeds, tmp_path)
    given, wanted = cut(graph, known)
    found = native("host")(graph, {**feeds, **given})
    compared: Counter[str] = Counter()
    close: Counter[str] = Counter()
    for value, numbers in wanted.items():
        distance = np.abs(found[value.name].astype(int) - numbers.astype(int))
        assert distance.max(initial=0) <= 1, value.name
        assert value.producer is not None
        compared[value.producer.type] += distance.size
        close[value.producer.type] += int(np.count_nonzero(distance))
    assert {"MatMul", "FullyConnected", "Softmax", "LookupTable"} <= set(compared)
    for kind, size in compared.items():
        assert close[kind] <= _CLOSE.get(kind, _CLOSE_PRODUCTS) * size, kind


@pytest.mark.parametrize("activations", ["QUInt8", "QInt8"])
@pytest.mark.parametrize("scales_operands", [False, True])
def test_attention_on_every_processor(
    scales_operands: bool, activations: str, tmp_path: Path
) -> None:
    encoder = _Encoder()
    encoder.attention("x", "y", scales_operands)
    _, graph = encoder.quantized(tmp_path, activations)
    # Of the input, in front of the first Quantize.
    assert _in_floats(graph) == {"Reshape"}
    feeds = {"x": _tokens(_SEED)}
    # The formulas of the converter's rules, to the bit.
    wanted = run_graph(graph, feeds)["y"]
    for abi in ABIS:
        require_emulator(abi)
        np.testing.assert_array_equal(native(abi)(graph, feeds)["y"], wanted, abi)

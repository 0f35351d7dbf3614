# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks that ONNX Runtime's quantizer wrote (QDQ), on this computer and on ARM.

The reference is ONNX Runtime, from which results may differ by one step of the
output's scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from mace.python.tools.importers.base import ImportRequest, InputSpec, OutputSpec
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.ir import Graph
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.layout import NCHW_TO_NHWC, NHWC_TO_NCHW
from mace.python.tools.ir.quantized_ops import is_quantized
from mace.python.tools.passes.manager import optimize
from test.conformance.native import ABIS, native, require_emulator
from test.conformance.onnx.reference import run_onnxruntime

_SEED = 11
_SHAPE = (1, 3, 20, 18)
_SAMPLES = 6


class _Network:
    """A network of convolutions, in floats."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(_SEED)
        self.nodes: list[NodeProto] = []
        self._constants = {
            "zero": np.float32(0),
            "six": np.float32(6),
        }

    def conv(
        self,
        x: str,
        y: str,
        filters: Sequence[int],
        stride: int = 1,
        groups: int = 1,
        activation: str = "",
    ) -> None:
        """Adds a convolution; `filters` is [O, I / groups, H, W]."""
        fan_in = np.prod(filters[1:])
        weights = self._rng.standard_normal(filters) * np.sqrt(2 / fan_in)
        self._constants[f"{y}/w"] = weights.astype(np.float32)
        bias = self._rng.standard_normal(filters[0]) * 0.1
        self._constants[f"{y}/b"] = bias.astype(np.float32)
        result = f"{y}/sum" if activation else y
        self.nodes.append(
            helper.make_node(
                "Conv",
                [x, f"{y}/w", f"{y}/b"],
                [result],
                name=y,
                strides=[stride] * 2,
                pads=[filters[2] // 2] * 4,
                group=groups,
            )
        )
        if activation:
            limits = ["zero", "six"] if activation == "Clip" else []
            self.nodes.append(helper.make_node(activation, [result, *limits], [y]))

    def pair(self, kind: str, a: str, b: str, y: str, relu: bool = False) -> None:
        """Adds an operator on two tensors."""
        result = f"{y}/result" if relu else y
        self.nodes.append(helper.make_node(kind, [a, b], [result], name=y))
        if relu:
            self.nodes.append(helper.make_node("Relu", [result], [y]))

    def pool(self, kind: str, x: str, y: str) -> None:
        """Adds windows of 3x3 with a stride of 2."""
        shape = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
        self.nodes.append(helper.make_node(kind, [x], [y], name=y, **shape))

    def classifier(self, x: str, y: str, channels: int, classes: int) -> None:
        """Adds the average of the image, and a product with its channels."""
        self._constants[f"{y}/w"] = self._rng.standard_normal(
            (classes, channels)
        ).astype(np.float32)
        self._constants[f"{y}/b"] = np.zeros(classes, np.float32)
        self.nodes += [
            helper.make_node("GlobalAveragePool", [x], [f"{y}/average"]),
            helper.make_node("Flatten", [f"{y}/average"], [f"{y}/flat"]),
            helper.make_node(
                "Gemm", [f"{y}/flat", f"{y}/w", f"{y}/b"], [y], transB=1, name=y
            ),
        ]

    def save(self, path: Path, output: str) -> None:
        """Writes the network whose result is `output`."""
        graph = helper.make_graph(
            self.nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, _SHAPE)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
            [numpy_helper.from_array(v, k) for k, v in self._constants.items()],
        )
        opset = [helper.make_opsetid("", 13)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=8)
        onnx.save(onnx.shape_inference.infer_shapes(model), path)


def _quantize(path: Path, activations: str, per_channel: bool) -> Path:
    """The network with QuantizeLinear and DequantizeLinear."""
    quantization = pytest.importorskip(
        "onnxruntime.quantization", reason="its quantizer writes the networks"
    )
    rng = np.random.default_rng(_SEED + 1)

    class Samples(quantization.CalibrationDataReader):  # type: ignore[name-defined,misc]
        left = _SAMPLES

        def get_next(self) -> dict[str, Array] | None:
            self.left -= 1
            if self.left < 0:
                return None
            return {"x": rng.standard_normal(_SHAPE).astype(np.float32)}

    to = path.with_name("quantized.onnx")
    quantization.quantize_static(
        str(path),
        str(to),
        Samples(),
        quant_format=quantization.QuantFormat.QDQ,
        activation_type=getattr(quantization.QuantType, activations),
        weight_type=quantization.QuantType.QInt8,
        per_channel=per_channel,
    )
    return to


def _quantized(
    network: _Network, folder: Path, activations: str, per_channel: bool = True
) -> tuple[Path, Graph]:
    """The network whose result is y, as ONNX Runtime's quantizer writes it, and its
    graph.
    """
    network.save(folder / "float.onnx", "y")
    path = _quantize(folder / "float.onnx", activations, per_channel)
    spec = InputSpec("x", _SHAPE, DataType.FLOAT32, DataFormat.NCHW)
    graph = import_model(ImportRequest("m", path, (spec,), (OutputSpec("y"),)))
    optimize(graph)
    return path, graph


def _check(graph: Graph, path: Path, output: str, abis: Sequence[str]) -> None:
    """Compares the results of each program with ONNX Runtime's, and with each other."""
    x = np.random.default_rng(_SEED + 2).standard_normal(_SHAPE).astype(np.float32)
    wanted = run_onnxruntime(path, [output], {"x": x})[output]
    last = next(op for op in graph.ops if op.type == "Dequantize")
    step = float(last.input(1).numpy().reshape(-1)[0])
    known = run_graph(graph, {"x": x.transpose(NCHW_TO_NHWC)})[output]
    for abi in abis:
        found = native(abi)(graph, {"x": x})[output]
        # The formulas of the converter's rules, to the bit.
        in_order = known.transpose(NHWC_TO_NCHW) if known.ndim == 4 else known
        np.testing.assert_array_equal(found, in_order, abi)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1.001 * step)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("activations", ["QUInt8", "QInt8"])
def test_convolutions(activations: str, per_channel: bool, tmp_path: Path) -> None:
    network = _Network()
    network.conv("x", "a", (16, 3, 3, 3), stride=2, activation="Relu")
    network.conv("a", "b", (24, 16, 1, 1), activation="Clip")
    network.conv("b", "c", (24, 6, 3, 3), groups=4, activation="Relu")
    network.conv("c", "d", (40, 24, 5, 5), stride=2)
    network.conv("d", "e", (40, 1, 3, 3), groups=40, activation="Clip")
    network.conv("e", "f", (40, 1, 5, 5), stride=2, groups=40)
    network.conv("f", "y", (10, 40, 1, 1))
    path, graph = _quantized(network, tmp_path, activations, per_channel)
    assert [op.type for op in graph.ops if not is_quantized(op)] == [
        "Quantize",
        "Dequantize",
    ]
    for abi in ABIS:
        require_emulator(abi)
    _check(graph, path, "y", ABIS)


def test_classifier(tmp_path: Path) -> None:
    network = _Network()
    network.conv("x", "a", (32, 3, 3, 3), stride=2, activation="Relu")
    network.classifier("a", "y", 32, 10)
    path, graph = _quantized(network, tmp_path, "QUInt8")
    assert [op.type for op in graph.ops] == [
        "Quantize",
        "Conv2D",
        "Pooling",
        "Reshape",
        "FullyConnected",
        "Dequantize",
    ]
    _check(graph, path, "y", ["host"])


@pytest.mark.parametrize("activations", ["QUInt8", "QInt8"])
def test_inverted_residuals(activations: str, tmp_path: Path) -> None:
    network = _Network()
    network.conv("x", "a", (24, 3, 3, 3), stride=2, activation="Relu")
    network.conv("a", "b", (72, 24, 1, 1), activation="Clip")
    network.conv("b", "c", (72, 1, 3, 3), groups=72, activation="Clip")
    network.conv("c", "d", (24, 72, 1, 1))
    network.pair("Add", "a", "d", "e")
    network.conv("e", "f", (24, 24, 3, 3), activation="Relu")
    network.pair("Add", "f", "e", "g", relu=True)
    network.pair("Mul", "g", "a", "h")
    network.conv("h", "y", (10, 24, 1, 1))
    path, graph = _quantized(network, tmp_path, activations)
    assert [op.type for op in graph.ops if not is_quantized(op)] == [
        "Quantize",
        "Dequantize",
    ]
    for abi in ABIS:
        require_emulator(abi)
    _check(graph, path, "y", ABIS)


def test_pooling(tmp_path: Path) -> None:
    network = _Network()
    network.conv("x", "a", (24, 3, 3, 3), activation="Relu")
    network.pool("MaxPool", "a", "b")
    network.conv("b", "c", (40, 24, 1, 1))
    network.pool("AveragePool", "c", "d")
    network.classifier("d", "y", 40, 10)
    path, graph = _quantized(network, tmp_path, "QUInt8")
    assert [op.type for op in graph.ops if op.output.dtype is DataType.FLOAT32] == [
        "Dequantize"
    ]
    for abi in ABIS:
        require_emulator(abi)
    _check(graph, path, "y", ABIS)

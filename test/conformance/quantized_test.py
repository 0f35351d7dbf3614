# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks that ONNX Runtime's quantizer wrote (QDQ), on this computer and on ARM.

The reference is ONNX Runtime, from which results may differ by one step of the
output's scale; with 16 bits by a few, because a step is then about as small as what
ONNX Runtime, which computes these operators in float32, rounds in each layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.ir import Graph
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.quantized_ops import is_quantized
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, NHWC_TO_NCHW
from mace.python.tools.passes.manager import optimize
from test.conformance.native import ABIS, native, require_emulator
from test.conformance.onnx.quantizer import quantize
from test.conformance.reference import run_onnxruntime

_SEED = 11
_SHAPE = (1, 3, 20, 18)
_SAMPLES = 6
# By which results may differ, of 256 and of 65536.
_STEPS, _STEPS_OF_16_BITS = 1.001, 3.001


class _Network:
    """A network of convolutions, in floats."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(_SEED)
        self.nodes: list[NodeProto] = []
        self._constants: dict[str, Any] = {
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

    def add(
        self, kind: str, inputs: Sequence[str], *outputs: str, **attrs: Any
    ) -> None:
        """Adds an operator, which has the name of its first output."""
        self.nodes.append(
            helper.make_node(kind, inputs, outputs, name=outputs[0], **attrs)
        )

    def constant(self, name: str, values: Any) -> str:
        """Adds a constant; returns its name."""
        self._constants[name] = np.asarray(values)
        return name

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
        opset = [helper.make_opsetid("", 15)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=8)
        onnx.save(onnx.shape_inference.infer_shapes(model), path)


def _quantize(path: Path, activations: str, per_channel: bool) -> Path:
    """The network with QuantizeLinear and DequantizeLinear."""
    pytest.importorskip("onnxruntime", reason="its quantizer writes the networks")
    rng = np.random.default_rng(_SEED + 1)
    samples = (rng.standard_normal(_SHAPE).astype(np.float32) for _ in range(_SAMPLES))
    to = path.with_name("quantized.onnx")
    quantize(path, to, "x", samples, activations=activations, per_channel=per_channel)
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
    is_wide = last.input(0).dtype is DataType.INT16
    steps = _STEPS_OF_16_BITS if is_wide else _STEPS
    known = run_graph(graph, {"x": x.transpose(NCHW_TO_NHWC)})[output]
    for abi in abis:
        found = native(abi)(graph, {"x": x})[output]
        # The formulas of the converter's rules, to the bit.
        in_order = known.transpose(NHWC_TO_NCHW) if known.ndim == 4 else known
        np.testing.assert_array_equal(found, in_order, abi)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=steps * step)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("activations", ["QUInt8", "QInt8", "QInt16"])
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
        "Reduce",
        "Reshape",
        "FullyConnected",
        "Dequantize",
    ]
    _check(graph, path, "y", ["host"])
    report = native("host").report(
        graph, {"x": np.ones(_SHAPE, np.float32)}, "--benchmark"
    )
    assert [op["quantized"] for op in report["benchmark"]["ops"]] == [
        is_quantized(op) for op in graph.ops
    ]


@pytest.mark.parametrize("activations", ["QUInt8", "QInt8", "QInt16", "QUInt16"])
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


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("activations", ["QUInt8", "QInt8"])
def test_several_outputs_for_each_channel(
    activations: str, per_channel: bool, tmp_path: Path
) -> None:
    network = _Network()
    network.conv("x", "a", (6, 1, 3, 3), stride=2, groups=3, activation="Relu")
    network.conv("a", "b", (24, 1, 3, 3), groups=6, activation="Clip")
    network.conv("b", "c", (72, 1, 5, 5), groups=24)
    network.conv("c", "y", (10, 72, 1, 1))
    path, graph = _quantized(network, tmp_path, activations, per_channel)
    _assert_integers(graph)
    groups = [op.attr("groups") for op in graph.ops if op.type == "Conv2D"]
    assert groups == [3, 6, 24, 1]
    for abi in ABIS:
        require_emulator(abi)
    _check(graph, path, "y", ABIS)


@pytest.mark.parametrize("activations", ["QUInt8", "QUInt16"])
def test_pooling(activations: str, tmp_path: Path) -> None:
    network = _Network()
    network.conv("x", "a", (24, 3, 3, 3), activation="Relu")
    network.pool("MaxPool", "a", "b")
    network.conv("b", "c", (40, 24, 1, 1))
    network.pool("AveragePool", "c", "d")
    network.classifier("d", "y", 40, 10)
    path, graph = _quantized(network, tmp_path, activations)
    assert [op.type for op in graph.ops if op.output.dtype is DataType.FLOAT32] == [
        "Dequantize"
    ]
    for abi in ABIS:
        require_emulator(abi)
    _check(graph, path, "y", ABIS)


def _assert_integers(graph: Graph) -> None:
    """No operator computes floats but the last one."""
    floats = [op.type for op in graph.ops if op.outputs[0].dtype is DataType.FLOAT32]
    assert floats == ["Dequantize"]


def _check_everywhere(network: _Network, folder: Path, activations: str) -> Graph:
    """Of a network whose result is y."""
    path, graph = _quantized(network, folder, activations)
    _assert_integers(graph)
    for abi in ABIS:
        require_emulator(abi)
    _check(graph, path, "y", ABIS)
    return graph


@pytest.mark.parametrize("activations", ["QUInt8", "QInt8"])
def test_squeeze_and_excitation(activations: str, tmp_path: Path) -> None:
    network = _Network()
    network.conv("x", "a", (16, 3, 3, 3), stride=2)
    network.add("HardSigmoid", ["a"], "a/gate", alpha=1 / 6)
    network.add("Mul", ["a", "a/gate"], "b")
    network.conv("b", "c", (16, 1, 3, 3), groups=16)
    network.add("GlobalAveragePool", ["c"], "d")
    network.conv("d", "e", (8, 16, 1, 1), activation="Relu")
    network.conv("e", "f", (16, 8, 1, 1))
    network.add("HardSigmoid", ["f"], "g")
    network.add("Mul", ["c", "g"], "h")
    network.add("Sigmoid", ["h"], "h/gate")
    network.add("Mul", ["h", "h/gate"], "i")
    network.conv("i", "y", (10, 16, 1, 1))
    graph = _check_everywhere(network, tmp_path, activations)
    # x * sigmoid(x) is one table.
    assert sum(op.type == "LookupTable" for op in graph.ops) == 3


@pytest.mark.parametrize("activations", ["QUInt8", "QInt8"])
def test_branches_are_joined(activations: str, tmp_path: Path) -> None:
    network = _Network()
    network.conv("x", "a", (12, 3, 3, 3), stride=2, activation="Relu")
    network.conv("a", "b", (16, 12, 1, 1), activation="Relu")
    network.conv("a", "c", (16, 12, 3, 3))
    network.add("MaxPool", ["a"], "d", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    network.add("Tanh", ["b"], "e")
    network.add("Concat", ["b", "c", "d", "e"], "f", axis=1)
    network.conv("f", "g", (8, 60, 1, 1), activation="Relu")
    network.add("Concat", ["a", "g"], "h", axis=1)
    network.conv("h", "y", (10, 20, 1, 1))
    _check_everywhere(network, tmp_path, activations)


@pytest.mark.parametrize("activations", ["QUInt8", "QInt8"])
def test_elements_are_moved(activations: str, tmp_path: Path) -> None:
    network = _Network()
    network.conv("x", "a", (16, 3, 3, 3), stride=2)
    network.constant("halves", np.array([8, 8], np.int64))
    network.add("Split", ["a", "halves"], "b", "c", axis=1)
    network.conv("c", "d", (8, 1, 3, 3), groups=8, activation="Relu")
    network.add("Concat", ["b", "d"], "e", axis=1)
    # The shuffle of channels between groups.
    network.constant("groups", np.array([1, 2, 8, 10, 9], np.int64))
    network.constant("channels", np.array([1, 16, 10, 9], np.int64))
    network.add("Reshape", ["e", "groups"], "f")
    network.add("Transpose", ["f"], "g", perm=[0, 2, 1, 3, 4])
    network.add("Reshape", ["g", "channels"], "h")
    network.constant("pads", np.array([0, 0, 1, 2, 0, 0, 0, 3], np.int64))
    network.constant("fill", np.float32(0.3))
    network.add("Pad", ["h", "pads", "fill"], "i")
    for name, value in (("starts", 1), ("ends", 11), ("axes", 2), ("steps", 2)):
        network.constant(name, np.array([value], np.int64))
    network.add("Slice", ["i", "starts", "ends", "axes", "steps"], "j")
    network.conv("j", "k", (32, 16, 1, 1))
    network.add("DepthToSpace", ["k"], "l", blocksize=2)
    network.add("DepthToSpace", ["k"], "m", blocksize=2, mode="CRD")
    network.add("Add", ["l", "m"], "n")
    network.add("SpaceToDepth", ["n"], "o", blocksize=2)
    network.conv("o", "y", (10, 32, 1, 1))
    _check_everywhere(network, tmp_path, activations)


@pytest.mark.parametrize("activations", ["QUInt8", "QInt8"])
def test_probabilities(activations: str, tmp_path: Path) -> None:
    network = _Network()
    network.conv("x", "a", (32, 3, 3, 3), stride=2, activation="Relu")
    network.classifier("a", "b", 32, 300)
    network.add("Softmax", ["b"], "y", axis=1)
    _check_everywhere(network, tmp_path, activations)


def test_reductions(tmp_path: Path) -> None:
    network = _Network()
    network.conv("x", "a", (24, 3, 3, 3), stride=2)
    network.add("ReduceMean", ["a"], "b", axes=[1])
    network.add("ReduceMax", ["a"], "c", axes=[2, 3])
    network.add("Mul", ["a", "b"], "d")
    network.add("Mul", ["d", "c"], "e")
    network.add("ReduceMean", ["e"], "f", axes=[2, 3], keepdims=0)
    network.constant("w", np.eye(24, 10, dtype=np.float32))
    network.add("MatMul", ["f", "w"], "y")
    _check_everywhere(network, tmp_path, "QUInt8")


_RESIZES = [
    {
        "mode": "nearest",
        "coordinate_transformation_mode": "asymmetric",
        "nearest_mode": "floor",
    },
    {"mode": "linear", "coordinate_transformation_mode": "half_pixel"},
    {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
]


def test_functions_of_16_bits_are_computed_in_floats(tmp_path: Path) -> None:
    network = _Network()
    network.conv("x", "a", (16, 3, 3, 3), stride=2)
    network.add("Sigmoid", ["a"], "b")
    network.add("Mul", ["a", "b"], "c")
    network.conv("c", "y", (10, 16, 1, 1))
    path, graph = _quantized(network, tmp_path, "QInt16")
    assert [op.type for op in graph.ops if op.output.dtype is DataType.FLOAT32] == [
        "Dequantize",
        "Activation",
        "Dequantize",
    ]
    x = np.random.default_rng(_SEED + 2).standard_normal(_SHAPE).astype(np.float32)
    wanted = run_onnxruntime(path, ["y"], {"x": x})["y"]
    step = float(graph.ops[-1].input(1).numpy().reshape(-1)[0])
    found = native("host")(graph, {"x": x})["y"]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=_STEPS_OF_16_BITS * step)


@pytest.mark.parametrize("attrs", _RESIZES)
def test_images_are_resized(attrs: dict[str, Any], tmp_path: Path) -> None:
    network = _Network()
    network.conv("x", "a", (21, 3, 3, 3), stride=2)
    network.constant("twice", np.array([1, 1, 2, 2], np.float32))
    network.add("Resize", ["a", "", "twice"], "y", **attrs)
    _check_everywhere(network, tmp_path, "QUInt8")


def test_a_pyramid(tmp_path: Path) -> None:
    network = _Network()
    network.conv("x", "a", (21, 3, 3, 3), stride=2, activation="Relu")
    network.conv("a", "b", (32, 21, 3, 3), stride=2)
    network.constant("twice", np.array([1, 1, 2, 2], np.float32))
    network.add("Resize", ["b", "", "twice"], "c", **_RESIZES[0])
    for name, value in (("begin", 0), ("end", 9), ("across", 3)):
        network.constant(name, np.array([value], np.int64))
    network.add("Slice", ["c", "begin", "end", "across"], "d")
    network.add("Concat", ["a", "d"], "e", axis=1)
    network.conv("e", "y", (10, 53, 1, 1))
    _check_everywhere(network, tmp_path, "QUInt8")


@pytest.mark.parametrize("activations", ["QInt8", "QInt16"])
def test_the_larger_and_the_smaller(activations: str, tmp_path: Path) -> None:
    network = _Network()
    network.conv("x", "a", (16, 3, 3, 3), stride=2)
    network.conv("x", "b", (16, 3, 3, 3), stride=2)
    network.add("Max", ["a", "b"], "c")
    network.conv("c", "d", (16, 16, 1, 1))
    network.add("Min", ["d", "b"], "e")
    network.conv("e", "y", (10, 16, 1, 1))
    _check_everywhere(network, tmp_path, activations)


@pytest.mark.parametrize("activations", ["QUInt8", "QInt8"])
def test_functions_of_each_channel(activations: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(_SEED)
    network = _Network()
    network.conv("x", "a", (12, 3, 3, 3), stride=2, activation="Relu")
    network.conv("a", "b", (8, 12, 3, 3))
    network.add("Concat", ["a", "b"], "c", axis=1)
    for name in ("scale", "offset", "mean", "variance"):
        network.constant(name, rng.uniform(0.5, 1.5, 20).astype(np.float32))
    statistics = ["scale", "offset", "mean", "variance"]
    network.add("BatchNormalization", ["c", *statistics], "d")
    network.add("Relu", ["d"], "e")
    network.conv("e", "f", (8, 20, 3, 3))
    slopes = rng.uniform(-0.5, 0.5, (8, 1, 1)).astype(np.float32)
    network.add("PRelu", ["f", network.constant("slopes", slopes)], "g")
    network.conv("g", "y", (10, 8, 1, 1))
    graph = _check_everywhere(network, tmp_path, activations)
    ranks = [
        len(op.input(1).shape or ()) for op in graph.ops if op.type == "LookupTable"
    ]
    assert 2 in ranks

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the models that tflite.py writes with ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

onnxruntime = pytest.importorskip("onnxruntime")
tf = pytest.importorskip("tensorflow")

_SEED = 7
_SHAPE = (1, 8, 11, 14)


class _Graph:
    def __init__(self) -> None:
        self.rng = np.random.default_rng(_SEED)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.opset = 9

    def weight(self, array: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def random(self, *shape: int) -> str:
        return self.weight(self.rng.normal(0, 0.5, shape).astype(np.float32))

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(op, list(inputs), [name], name, **attributes)
        )
        return name

    def save(self, path: Path) -> None:
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "graph",
            [value("x", TensorProto.FLOAT, _SHAPE)],
            [value(self.nodes[-1].output[0], TensorProto.FLOAT, None)],
            self.weights,
        )
        opset = [helper.make_opsetid("", self.opset)]
        onnx.save(
            helper.make_model(graph, opset_imports=opset, ir_version=8), str(path)
        )


def _convolutions(g: _Graph) -> None:
    stem = g.node(
        "Conv",
        "x",
        g.random(16, 8, 3, 3),
        g.random(16),
        pads=[1, 1, 1, 1],
        strides=[2, 2],
        kernel_shape=[3, 3],
    )
    depth = g.node("Conv", stem, g.random(16, 1, 5, 3), pads=[2, 1, 2, 1], group=16)
    grouped = g.node("Conv", depth, g.random(12, 4, 1, 1), group=4)
    one = np.ones(12, np.float32)
    normal = g.node(
        "BatchNormalization",
        grouped,
        g.random(12),
        g.random(12),
        g.random(12),
        g.weight(one * 0.7),
        epsilon=1e-3,
    )
    split = g.node("Reshape", normal, g.weight(np.array([1, 4, 3, 6, 7], np.int64)))
    shuffled = g.node("Transpose", split, perm=[0, 2, 1, 3, 4])
    joined = g.node("Reshape", shuffled, g.weight(np.array([1, 12, 6, 7], np.int64)))
    g.node("Mul", joined, g.node("Unsqueeze", g.random(12), axes=[1, 2]))


def _pools(g: _Graph) -> None:
    window: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 2]}
    negative = g.node("MaxPool", "x", pads=[1, 1, 1, 1], **window)
    rectified = g.node("Relu", "x")
    positive = g.node("MaxPool", rectified, pads=[1, 1, 1, 1], **window)
    average = g.node("AveragePool", "x", pads=[1, 1, 1, 1], **window)
    counted = g.node(
        "AveragePool", "x", pads=[1, 1, 1, 1], count_include_pad=1, **window
    )
    together = g.node("Concat", negative, positive, average, counted, axis=1)
    g.node("LRN", together, size=5, alpha=0.5, beta=0.75, bias=1.0)


def _classifier(g: _Graph) -> None:
    pooled = g.node("AveragePool", "x", kernel_shape=[5, 7], strides=[6, 7])
    flat = g.node("Reshape", pooled, g.weight(np.array([1, -1], np.int64)))
    weight = g.node("Reshape", g.random(320), g.weight(np.array([10, 32], np.int64)))
    product = g.node("Gemm", flat, weight, g.random(10), transB=1)
    total = g.node("Sum", product, product, product)
    g.node("Softmax", total)


def _gates(g: _Graph) -> None:
    g.opset = 18
    large = g.node("Mul", "x", g.weight(np.array(4, np.float32)))
    swish = g.node("HardSwish", large)
    silu = g.node("Mul", swish, g.node("Sigmoid", swish))
    mean = g.node("ReduceMean", silu, g.weight(np.array([2, 3], np.int64)), keepdims=1)
    gate = g.node("HardSigmoid", mean, alpha=1 / 6, beta=0.5)
    gated = g.node("Mul", silu, gate)
    g.node("ReduceMean", gated, g.weight(np.array([-1, 2], np.int64)), keepdims=0)


@pytest.mark.parametrize("build", [_convolutions, _pools, _classifier, _gates])
def test_gives_what_onnxruntime_gives(build: Any, tmp_path: Path) -> None:
    from benchmarks.peers.tflite import convert

    graph = _Graph()
    build(graph)
    path = tmp_path / "graph.onnx"
    graph.save(path)
    image = graph.rng.normal(0, 1, _SHAPE).astype(np.float32)
    session = onnxruntime.InferenceSession(str(path))
    wanted = session.run(None, {"x": image})[0]
    interpreter = tf.lite.Interpreter(model_content=convert(path))
    interpreter.allocate_tensors()
    nhwc = image.transpose(0, 2, 3, 1)
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], nhwc)
    interpreter.invoke()
    found = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    if found.ndim == 4:
        found = found.transpose(0, 3, 1, 2)
    np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize(
    ("op", "attributes"),
    [("HardSigmoid", {"alpha": 0.2}), ("ReduceMean", {"axes": [1], "keepdims": 1})],
)
def test_refuses_attributes_that_it_does_not_know(
    op: str, attributes: dict[str, Any], tmp_path: Path
) -> None:
    from benchmarks.peers.tflite import convert

    graph = _Graph()
    graph.node(op, "x", **attributes)
    graph.save(tmp_path / "graph.onnx")
    with pytest.raises(NotImplementedError, match="v0: "):
        convert(tmp_path / "graph.onnx")


def test_names_what_it_has_no_rule_for(tmp_path: Path) -> None:
    from benchmarks.peers.tflite import convert

    graph = _Graph()
    graph.node("Selu", graph.node("Elu", "x"))
    graph.save(tmp_path / "graph.onnx")
    with pytest.raises(NotImplementedError, match="no rule for Elu, Selu"):
        convert(tmp_path / "graph.onnx")

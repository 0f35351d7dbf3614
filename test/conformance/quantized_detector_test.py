# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A quantized detector like SSD, on the CPU and on a DSP that is emulated.

Boxes and scores of three sizes of a map: each head's convolution is transposed and
reshaped, and all are joined.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.ir import Graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize
from mace.python.tools.report.placement import placement_of
from test.conformance.models.light import smooth_input
from test.conformance.models.onnx_builder import INPUT, OnnxBuilder
from test.conformance.native import DSP_VERSIONS, dsp, native
from test.conformance.onnx.quantizer import prepare, quantize

_SHAPE = (1, 3, 64, 64)
_ANCHORS, _CLASSES = 3, 11
_BOXES = _ANCHORS * (8 * 8 + 4 * 4 + 2 * 2)
_SEED = 4


def _head(network: OnnxBuilder, name: str, numbers: int) -> str:
    """What one map says of each of its anchors: [1, anchors, numbers]."""
    before, channels = network.value, network.channels
    network.convolve(_ANCHORS * numbers, 3, activation="")
    network.node("Transpose", network.value, perm=[0, 2, 3, 1])
    shape = network.constant(np.array([1, -1, numbers], np.int64))
    found = network.node("Reshape", network.value, shape)
    network.value, network.channels = before, channels
    return found


def _model() -> onnx.ModelProto:
    network = OnnxBuilder(_SEED, _SHAPE)
    network.convolve(16, 3, stride=2)
    boxes, scores = [], []
    for channels, has_heads in ((24, False), (40, True), (56, True), (72, True)):
        network.convolve(network.channels, 3, stride=2, groups=network.channels)
        network.convolve(channels, 1)
        if has_heads:
            boxes.append(_head(network, "boxes", 4))
            scores.append(_head(network, "scores", _CLASSES))
    network.node("Concat", *scores, axis=1)
    network.node("Softmax", network.value, axis=2)
    network.nodes[-1].output[0] = "scores"
    network.node("Concat", *boxes, axis=1)
    network.nodes[-1].output[0] = "boxes"
    graph = helper.make_graph(
        network.nodes,
        "detector",
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, _SHAPE)],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, _BOXES, numbers))
            for name, numbers in (("boxes", 4), ("scores", _CLASSES))
        ],
        network.constants,
    )
    opset = [helper.make_opsetid("", 13)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8)


def _quantized(folder: Path) -> Graph:
    onnx.save(_model(), folder / "floats.onnx")
    prepare(folder / "floats.onnx", folder / "prepared.onnx")
    path = folder / "quantized.onnx"
    samples = [smooth_input(_SHAPE, seed) for seed in range(3)]
    quantize(folder / "prepared.onnx", path, INPUT, samples)
    n, c, h, w = _SHAPE
    spec = InputSpec(INPUT, (n, h, w, c), data_format=DataFormat.NHWC)
    outputs = tuple(OutputSpec(name, DataFormat.NONE) for name in ("boxes", "scores"))
    graph = import_model(ImportRequest("detector", path, (spec,), outputs))
    optimize(graph)
    return graph


@pytest.mark.parametrize("version", DSP_VERSIONS)
def test_a_detector_on_a_dsp(tmp_path: Path, version: str) -> None:
    pytest.importorskip("onnxruntime", reason="its quantizer writes the network")
    if shutil.which("qemu-hexagon") is None:
        pytest.skip("qemu-hexagon is not installed: tools/setup.sh --for cross")
    graph = _quantized(tmp_path)
    feeds = {INPUT: smooth_input(_SHAPE, 9)}
    wanted = native("host")(graph, feeds)
    found = dsp(version=version)(graph, feeds)
    for name in ("boxes", "scores"):
        assert len(np.unique(wanted[name])) > 20
        np.testing.assert_array_equal(found[name], wanted[name])
    placement = placement_of(dsp(version=version).report(graph, feeds))
    assert placement is not None
    on_cpu = {op.type for op in placement.operators if op.device != "dsp"}
    assert on_cpu <= {"Quantize", "Dequantize"}

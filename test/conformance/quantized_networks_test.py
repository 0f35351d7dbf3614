# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Whole networks that ONNX Runtime's quantizer wrote, beside ONNX Runtime.

Each layer gets ONNX Runtime's own integers and differs from its result by one step at
most, and only where rounding in float32 decides: ONNX Runtime computes sums of two
tensors, averages and functions in it, and adds zero points in it. From image to result,
such a step grows in networks with random weights, in some of them to the size of the
result; the others are within one step.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.atomic import atomic_write
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.ir import Graph
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize
from mace.python.tools.report.placement import placement_of
from test.conformance.models import LIGHT_MODELS, make_light_model
from test.conformance.models.built import BUILT_MODELS, make_built_model
from test.conformance.models.light import smooth_input
from test.conformance.models.onnx_builder import INPUT, OUTPUT
from test.conformance.native import DSP_VERSIONS, EVERY_DSP, dsp, native
from test.conformance.onnx.quantizer import (
    cut,
    prepare,
    quantize,
    rounded_by_onnxruntime,
)
from test.conformance.reference import run_onnxruntime
from test.here import only_with_all

_SEED = 20
_MODELS = Path(__file__).resolve().parents[2] / "build/conformance/models"
# Part of the cached files' names: raise it when they change.
_RECIPE = 1
_SAMPLES = 3
# The layers of VGG19 are those of AlexNet, ten times as many numbers; in floats it runs
# in networks_test.py.
_NETWORKS = (*(name for name in LIGHT_MODELS if name != "vgg19"), *BUILT_MODELS)
# Their layers are of the kinds of the others.
_LARGE = ("alexnet", "densenet121", "inception_v2", "inception_v3", "zfnet512")
# Operators that the quantizer leaves in float32 between others.
_IN_FLOATS = {
    "alexnet": {"LocalResponseNorm", "Pooling"},
    "inception_v1": {"LocalResponseNorm", "Pooling", "FullyConnected"},
    # BatchNorm: of too many channels for a table for each.
    "resnet50": {"BatchNorm", "Eltwise", "Reduce"},
    "shufflenet": {"Eltwise", "Reduce"},
    "zfnet512": {"LocalResponseNorm", "Pooling"},
}
# The part of results that differ, for which the exact one is close to the middle
# between two integers. Averages of 4 and 6 pixels often are exactly there.
_CLOSE = {
    "Pooling": 0.15,
    "Reduce": 0.01,
    "Softmax": 0.01,
    "Eltwise": 1e-4,
    "LookupTable": 1e-4,
}
_CLOSE_PRODUCTS = 1e-5
_STABLE = (
    "inception_v1",
    "mobilenet_v1",
    "mobilenet_v2",
    "resnet18",
    "squeezenet",
)


@dataclass(frozen=True)
class _Network:
    """A quantized network; the shape of its input is NCHW."""

    path: Path
    input_name: str
    input_shape: tuple[int, ...]
    output_name: str

    @property
    def image(self) -> Array:
        return smooth_input(self.input_shape, _SEED)

    def graph(self) -> Graph:
        n, c, h, w = self.input_shape
        spec = InputSpec(self.input_name, (n, h, w, c), data_format=DataFormat.NHWC)
        outputs = (OutputSpec(self.output_name),)
        graph = import_model(ImportRequest("m", self.path, (spec,), outputs))
        optimize(graph)
        return graph


def _network(name: str, activations: str) -> _Network:
    pytest.importorskip("onnxruntime", reason="its quantizer writes the networks")
    path = _MODELS / f"{name}_{activations}_seed{_SEED}_v{_RECIPE}.onnx"
    if name in LIGHT_MODELS:
        info = LIGHT_MODELS[name]
        network = _Network(path, info.input, info.input_shape, info.output)
        source = make_light_model(name, _SEED)
    else:
        shape = BUILT_MODELS[name].input_shape
        network = _Network(path, INPUT, shape, OUTPUT)
        source = make_built_model(name, _SEED)
    if path.exists():
        return network
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        # The files of light networks are too old for its preparation, and for several
        # scales.
        modern = name in BUILT_MODELS
        if modern:
            prepare(source, folder / "prepared.onnx")
            source = folder / "prepared.onnx"
        quantize(
            source,
            folder / "quantized.onnx",
            network.input_name,
            [smooth_input(network.input_shape, seed) for seed in range(_SAMPLES)],
            activations=activations,
            per_channel=modern,
        )
        with atomic_write(path) as stream:
            stream.write((folder / "quantized.onnx").read_bytes())
    return network


@pytest.mark.parametrize(
    ("name", "activations"),
    [
        *((name, "QUInt8") for name in _NETWORKS),
        ("mobilenet_v2", "QInt8"),
        ("mobilenet_v3_large", "QInt8"),
    ],
)
def test_every_layer(name: str, activations: str, tmp_path: Path) -> None:
    if name in _LARGE:
        only_with_all("large networks")
    network = _network(name, activations)
    graph = network.graph()
    floats = {
        op.type
        for op in graph.ops
        if op.output.dtype is DataType.FLOAT32 and op.type != "Dequantize"
    }
    assert floats == _IN_FLOATS.get(name, set())
    image = {network.input_name: network.image}
    known = rounded_by_onnxruntime(network.path, image, tmp_path)
    feeds, wanted = cut(graph, known)
    # What is merged with its neighbours is not compared.
    assert len(wanted) > len(known) / 2
    feeds[network.input_name] = network.image
    found = native("host")(graph, feeds)
    sizes: Counter[str] = Counter()
    close: Counter[str] = Counter()
    for value, numbers in wanted.items():
        distance = np.abs(found[value.name].astype(int) - numbers.astype(int))
        assert distance.max(initial=0) <= 1, value.name
        assert value.producer is not None
        sizes[value.producer.type] += distance.size
        close[value.producer.type] += int(np.count_nonzero(distance))
    print({kind: (close[kind], size) for kind, size in sizes.items()})
    for kind, size in sizes.items():
        assert close[kind] <= _CLOSE.get(kind, _CLOSE_PRODUCTS) * size, kind


# Threads, and kilobytes of VTCM.
_ON_DSP = [("mobilenet_v1", "4", "512"), ("squeezenet", "1", "0")]
_LONG_ON_DSP = ("mobilenet_v2", "resnet50", "inception_v3")


@pytest.mark.parametrize("version", DSP_VERSIONS)
@pytest.mark.parametrize(
    ("name", "threads", "vtcm"),
    [*_ON_DSP, *((name, "4", "512") for name in _LONG_ON_DSP if EVERY_DSP)],
)
def test_on_a_dsp(
    monkeypatch: pytest.MonkeyPatch, name: str, threads: str, vtcm: str, version: str
) -> None:
    monkeypatch.setenv("MACE_HEXAGON_THREADS", threads)
    monkeypatch.setenv("MACE_HEXAGON_VTCM", vtcm)
    if shutil.which("qemu-hexagon") is None:
        pytest.skip("qemu-hexagon is not installed: tools/setup.sh --for cross")
    network = _network(name, "QUInt8")
    graph = network.graph()
    feeds = {network.input_name: network.image}
    wanted = native("host")(graph, feeds)
    found = dsp(version=version)(graph, feeds)
    np.testing.assert_array_equal(
        found[network.output_name], wanted[network.output_name]
    )


def test_convolutions_are_on_the_dsp() -> None:
    if shutil.which("qemu-hexagon") is None:
        pytest.skip("qemu-hexagon is not installed: tools/setup.sh --for cross")
    network = _network("squeezenet", "QUInt8")
    feeds = {network.input_name: network.image}
    placement = placement_of(dsp().report(network.graph(), feeds))
    assert placement is not None
    assert not placement.left_out
    convolutions = [op for op in placement.operators if op.type == "Conv2D"]
    assert len(convolutions) > 20
    assert {op.device for op in convolutions} == {"dsp"}


@pytest.mark.parametrize("name", _STABLE)
def test_from_image_to_result(name: str) -> None:
    network = _network(name, "QUInt8")
    feeds = {network.input_name: network.image}
    wanted = run_onnxruntime(network.path, [network.output_name], feeds)
    graph = network.graph()
    found = native("host")(graph, feeds)
    last = graph.outputs[0].producer
    assert last is not None and last.type == "Dequantize"
    step = float(last.input(1).numpy().reshape(-1)[0])
    np.testing.assert_allclose(
        found[network.output_name],
        wanted[network.output_name],
        rtol=0,
        atol=1.001 * step,
    )

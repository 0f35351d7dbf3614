# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Real networks, from their file to the native engine, on every ABI.

Each output is compared with that of the network's framework: cosine similarity at least
0.99999, largest error at most 1e-3 of the largest value. On this computer all networks
run; on emulated devices, ARM processors and GPUs, where an instruction takes 20 to 50
times as long, only networks with few operations. On this computer each network also
runs on two devices in turns, with the same bits.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.export import ExportOptions
from mace.python.tools.export.storage import Storage
from mace.python.tools.importers.frame.opened import load_framework
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import DataFormat, Graph, to_text
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, NHWC_TO_NCHW
from mace.python.tools.passes.manager import optimize
from mace.python.tools.validate.metrics import compute_metrics
from test.conformance.models import LIGHT_MODELS, light_input, make_light_model
from test.conformance.models.built import BUILT_MODELS, make_built_model
from test.conformance.models.keras_models import (
    ARCHITECTURES,
    NETWORKS,
    make_keras_model,
    random_images,
)
from test.conformance.models.light import smooth_input
from test.conformance.models.onnx_builder import INPUT, OUTPUT
from test.conformance.native import (
    Native,
    gpu,
    native,
    require_emulator,
    two_devices,
)
from test.conformance.reference import assert_close, run_onnxruntime
from test.here import only_with_all

SEED = 20
MODELS = Path(__file__).resolve().parents[2] / "build/conformance/models"
ARM_LIGHT = ("shufflenet", "squeezenet")
ARM_BUILT = ("mobilenet_v2",)
# MobileNetV2 is one of ARM_BUILT: the engine sees the same operators, and the importer
# is the same on every ABI.
ARM_KERAS = ("MobileNet",)
# The image (NCHW) of further data types on ARM: a fifth of the operations of 224 x 224.
ARM_IMAGE = (1, 3, 96, 96)
# More than 600 million multiplications, which take the emulated GPU minutes. Their
# operators are those of the others, and all are in test/opencl.
MANY_OPERATIONS = (
    "alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "inception_v3",
    "resnet18",
    "resnet50",
    "ResNet50",
    "vgg19",
    "zfnet512",
)
# Those that take longest to make or to run; their operators are those of others.
LARGE = ("EfficientNetB0", "InceptionV3", "ResNet50", "alexnet", "vgg19", "zfnet512")
# Of activations stored in half by the GPU, unless CHAOTIC has another value.
HALF_SIMILARITY = 0.9999
# Activations of these networks, whose weights are random, grow from block to block, and
# rounding errors with them; those of trained networks do not (trained_network_test.py).
CHAOTIC = {
    "MobileNet": 0.9995,
    "MobileNetV2": 0.9995,
    "InceptionV3": 0.995,
    "deeplab": 0.9995,
}
# As deployment files ask for them.
EXPORTS = {
    "fp32": ExportOptions(),
    "bf16": ExportOptions(
        storage=Storage.BFLOAT16,
        pairs=True,
        whatever_size=True,
        hints={"data_type": "bf16_bf16"},
    ),
    "fp16": ExportOptions(
        storage=Storage.FLOAT16, whatever_size=True, hints={"data_type": "fp16_fp16"}
    ),
    "fp16 storage": ExportOptions(
        storage=Storage.FLOAT16, whatever_size=True, hints={"data_type": "fp16_fp32"}
    ),
    "int8": ExportOptions(eight_bit_weights=True),
}


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_light_onnx_network(name: str) -> None:
    _only_small_ones_here(name)
    check_light(name, "host")


@pytest.mark.parametrize("abi", ["arm64", "armhf"])
@pytest.mark.parametrize("name", ARM_LIGHT)
def test_light_onnx_network_on_arm(name: str, abi: str) -> None:
    check_light(name, abi)


@pytest.mark.parametrize("name", BUILT_MODELS)
def test_built_onnx_network(name: str) -> None:
    check_built(name, "host")


@pytest.mark.parametrize("abi", ["arm64", "armhf"])
@pytest.mark.parametrize("name", ARM_BUILT)
def test_built_onnx_network_on_arm(name: str, abi: str) -> None:
    check_built(name, abi)


@pytest.mark.parametrize("name", [*ARCHITECTURES, *NETWORKS])
def test_tensorflow_network(name: str) -> None:
    _only_small_ones_here(name)
    check_keras(name, "host")


@pytest.mark.parametrize("abi", ["arm64", "armhf"])
@pytest.mark.parametrize("name", ARM_KERAS)
def test_tensorflow_network_on_arm(name: str, abi: str) -> None:
    check_keras(name, abi)


@pytest.mark.parametrize("isa", ["sse41", "avx2", "avx512"])
def test_every_instruction_set_is_close(
    isa: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each instruction set has its own order of summation; those above the best one
    of this computer are skipped.
    """
    monkeypatch.setenv("MACE_CPU_ISA", isa)
    check_light("shufflenet", "host")


@pytest.mark.parametrize(
    ("name", "data_type"),
    [
        ("shufflenet", "fp32"),
        ("squeezenet", "fp32"),  # by Winograd
        ("mobilenet_v2", "fp32"),
        ("mobilenet_v2", "bf16"),
        ("mobilenet_v2", "int8"),
    ],
)
def test_the_number_of_threads_changes_no_bit(name: str, data_type: str) -> None:
    answer = _light_answer if name in LIGHT_MODELS else _built_answer
    one, two, three = (
        answer(name, "host", f"--num_threads={threads}", data_type=data_type)
        for threads in (1, 2, 3)
    )
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("isa", ["", "avx2"])
@pytest.mark.parametrize("name", ["mobilenet_v1", "mobilenet_v2"])
def test_bf16_arithmetic(name: str, isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """bf16_bf16 on this computer, and in float32 as on a processor without bf16."""
    if isa:
        monkeypatch.setenv("MACE_CPU_ISA", isa)
    found = _built_answer(name, "host", data_type="bf16")
    assert_similar(found, _built_reference(name), 0.995)


def test_fp16_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    """fp16_fp16 on a core that has it, for any number of threads, and on one without.

    The latter computes in float32 what the same file says.
    """
    name, abi = "mobilenet_v2", "arm64"
    wanted = _built_reference(name, ARM_IMAGE)
    monkeypatch.setenv("QEMU_CPU", "cortex-a76")
    one, two = (
        _built_answer(
            name,
            abi,
            f"--num_threads={threads}",
            data_type="fp16",
            input_shape=ARM_IMAGE,
        )
        for threads in (1, 2)
    )
    assert_similar(one, wanted, 0.999)
    np.testing.assert_array_equal(one, two)
    monkeypatch.setenv("QEMU_CPU", "cortex-a53")
    without = _built_answer(name, abi, data_type="fp16", input_shape=ARM_IMAGE)
    assert_similar(without, wanted, 0.9999)
    assert not np.array_equal(one, without)


@pytest.mark.parametrize(
    ("name", "abi"),
    [
        ("mobilenet_v1", "host"),
        ("inception_v3", "host"),
        ("mobilenet_v2", "host"),
        ("mobilenet_v2", "arm64"),
        ("mobilenet_v2", "armhf"),
    ],
)
def test_eight_bit_weights(name: str, abi: str) -> None:
    """The engine computes with the stored weights, and the result is close enough."""
    shape = None if abi == "host" else ARM_IMAGE
    found = _built_answer(name, abi, data_type="int8", input_shape=shape)
    assert_similar(found, _built_reference(name, shape), 0.999)


def _only_small_ones_here(name: str) -> None:
    if name in LARGE:
        only_with_all("large networks")


def assert_similar(found: Array, wanted: Array, similarity: float) -> None:
    metrics = compute_metrics(wanted, found)
    print(f"similarity {metrics.similarity:.9f} error {metrics.max_rel_error:.2e}")
    assert metrics.non_finite == 0
    assert metrics.similarity >= similarity


def check_light(name: str, abi: str) -> None:
    info = LIGHT_MODELS[name]
    path, feed = make_light_model(name, SEED), light_input(name, SEED)
    wanted = run_onnxruntime(path, [info.output], {info.input: feed})
    assert_close(_light_answer(name, abi), wanted[info.output])


def _light_answer(
    name: str, abi: str, *arguments: str, data_type: str = "fp32"
) -> Array:
    info, path = LIGHT_MODELS[name], make_light_model(name, SEED)
    source = ("onnx", path, info.input, light_input(name, SEED), info.output)
    return _mace(*source, abi, *arguments, data_type=data_type)


def check_built(name: str, abi: str) -> None:
    assert_close(_built_answer(name, abi), _built_reference(name))


def _built_source(
    name: str, input_shape: tuple[int, ...] | None = None
) -> tuple[Path, Array]:
    """A network and its input; the network's own shape (NCHW) if none is given."""
    shape = input_shape or BUILT_MODELS[name].input_shape
    path = make_built_model(name, SEED, input_shape=input_shape)
    return path, smooth_input(shape, SEED)


def _built_reference(name: str, input_shape: tuple[int, ...] | None = None) -> Array:
    path, feed = _built_source(name, input_shape)
    return run_onnxruntime(path, [OUTPUT], {INPUT: feed})[OUTPUT]


def _built_answer(
    name: str,
    abi: str,
    *arguments: str,
    data_type: str = "fp32",
    input_shape: tuple[int, ...] | None = None,
) -> Array:
    path, feed = _built_source(name, input_shape)
    source = ("onnx", path, INPUT, feed, OUTPUT)
    return _mace(*source, abi, *arguments, data_type=data_type)


def check_keras(name: str, abi: str) -> None:
    tf = pytest.importorskip("tensorflow", reason="it is the reference here")
    model = make_keras_model(name, MODELS)
    feed = random_images(name, model.input_shape, SEED)
    definition = tf.compat.v1.GraphDef.FromString(model.path.read_bytes())
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
        with tf.compat.v1.Session(graph=graph) as session:
            wanted = session.run(model.output_name, {model.input_name: feed})
    found = _mace(
        "tensorflow",
        model.path,
        model.input_name,
        feed.transpose(NHWC_TO_NCHW),
        model.output_name,
        abi,
    )
    assert_close(found.transpose(NCHW_TO_NHWC) if found.ndim == 4 else found, wanted)


def _mace(
    framework: str,
    path: Path,
    input_name: str,
    nchw: Array,
    output_name: str,
    abi: str,
    *arguments: str,
    data_type: str = "fp32",
) -> Array:
    """The outputs of MACE; the image is NCHW, whatever the framework's order is."""
    require_emulator(abi)
    graph = _imported(framework, path, input_name, nchw.shape, output_name)
    feeds = {input_name: nchw}
    with _model_of(data_type, native(abi, *arguments)) as run:
        answer = run(graph, feeds)[output_name]
        if abi != "host" or arguments:
            return answer
        both = _on_two_devices(graph, feeds, run)
        np.testing.assert_array_equal(both[output_name], answer)
        if data_type != "fp32" or _is_named(path, MANY_OPERATIONS):
            return answer
        in_float = _on_gpu(graph, feeds, run)[output_name]
    assert_similar(in_float, answer, 0.99999)
    # Rounding the weights of these networks, which are random, costs up to
    # 0.0013 by itself: they are rounded for the CPU, too.
    with _model_of("fp16 storage", native(abi)) as run:
        in_half = _on_gpu(graph, feeds, run)[output_name]
        assert_similar(in_half, run(graph, feeds)[output_name], _half(path))
    return answer


@contextlib.contextmanager
def _model_of(data_type: str, run: Native) -> Iterator[Native]:
    """An executor that writes its one model once, however often it runs: the weights of
    VGG have 575 MB.
    """
    with tempfile.TemporaryDirectory() as folder:
        yield replace(run, export=EXPORTS[data_type], kept=Path(folder))


def _half(path: Path) -> float:
    """The least similarity of the network in a file, stored in half."""
    names = [name for name in CHAOTIC if _is_named(path, (name,))]
    return CHAOTIC[names[0]] if names else HALF_SIMILARITY


def _is_named(path: Path, names: Sequence[str]) -> bool:
    """Whether a file is that of one of these networks."""
    return path.stem.startswith(tuple(f"{name}_" for name in names))


def _on_gpu(
    graph: Graph, feeds: Mapping[str, Array], model: Native
) -> dict[str, Array]:
    """The outputs if the GPU runtime runs all of it, on this computer's driver."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        run = gpu(f"--report_json={report}")
        answers = replace(run, export=model.export, kept=model.kept)(graph, feeds)
        placement = json.loads(report.read_text(encoding="utf-8"))["placement"]
    others = [
        f"{operator['name']} ({operator['type']}): {operator['refusals']}"
        for operator in placement["operators"]
        if operator["device"] != "gpu"
    ]
    assert not others, others
    return answers


def _on_two_devices(
    graph: Graph, feeds: Mapping[str, Array], model: Native
) -> dict[str, Array]:
    """The outputs if a second device runs every second operator."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        run = two_devices(f"--report_json={report}")
        answers = replace(run, export=model.export, kept=model.kept)(graph, feeds)
        placement = json.loads(report.read_text(encoding="utf-8"))["placement"]
    # Conversions between types are on the device of what they convert.
    devices = [
        operator["device"]
        for operator in placement["operators"]
        if operator["type"] != "Cast"
    ]
    assert abs(devices.count("apu") - devices.count("cpu")) <= 1, devices
    assert len(placement["copies"]) > len(devices) / 2
    return answers


def _imported(
    framework: str, path: Path, input_name: str, nchw: Sequence[int], output_name: str
) -> Graph:
    n, c, h, w = nchw
    opened = load_framework(framework).open(path)
    opened.describe()
    request = ImportRequest(
        path.stem,
        path,
        (InputSpec(input_name, (n, h, w, c), data_format=DataFormat.NHWC),),
        (OutputSpec(output_name),),
    )
    graph = opened.import_graph(request)
    # What was read is as it was.
    assert to_text(opened.import_graph(request)) == to_text(graph)
    optimize(graph)
    return graph

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Deployment files as users write them, against the normal form they mean."""

from __future__ import annotations

import contextlib
import logging
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mace.python.tools.config.deployment import (
    CalibrationConfig,
    Deployment,
    MicroConfig,
    ModelConfig,
)
from mace.python.tools.config.keys import keys_of
from mace.python.tools.config.load import load_deployment, load_deployment_text
from mace.python.tools.config.problems import ConfigError
from mace.python.tools.config.subgraph import SubgraphConfig
from mace.python.tools.config.vocabulary import (
    Abi,
    Arithmetic,
    CalibrationMethod,
    ClMemoryType,
    DataFormat,
    ModelFormat,
    OnnxBackend,
    Platform,
    QuantizeSchema,
    Runtime,
)
from mace.python.tools.data_type import DataType, Precision

_TESTDATA = Path(__file__).parent / "testdata"


def _load(name: str) -> Deployment:
    return load_deployment(_TESTDATA / name)


def test_tensorflow_example() -> None:
    deployment = _load("basic.yml")
    assert deployment.library_name == "mobilenet"
    assert deployment.target_abis == (Abi.ARM64_V8A,)
    assert deployment.target_socs == ()
    assert deployment.model_graph_format is ModelFormat.FILE
    assert deployment.warnings == ()
    model = deployment.models["mobilenet_v1"]
    assert model.platform is Platform.TENSORFLOW
    assert model.model_file_path.is_url
    assert model.model_file_path.sha256 is not None
    assert model.model_file_path.sha256.startswith("71b10f540ece")
    assert model.runtime is Runtime.CPU_GPU
    assert model.runtime.devices == (Runtime.CPU, Runtime.GPU)
    assert model.data_type is Precision.FP16_FP32
    (subgraph,) = model.subgraphs
    assert subgraph.name == "mobilenet_v1"
    assert subgraph.inputs[0].name == "input"
    assert subgraph.inputs[0].shape == (1, 224, 224, 3)
    assert subgraph.inputs[0].data_format is DataFormat.NHWC
    assert subgraph.inputs[0].range is None
    assert subgraph.outputs[0].shape == (1, 1001)
    with pytest.raises(KeyError):
        deployment.models["mobilenet"]


def test_caffe_example() -> None:
    model = _load("basic.yml").models["squeezenet-v10"]
    assert model.name == "squeezenet-v10"
    assert model.platform is Platform.CAFFE
    assert model.weight_file_path is not None
    assert model.weight_file_path.location.endswith("v1.0.caffemodel")
    assert model.weight_file_path.key == "models.squeezenet-v10.weight_file_path"
    assert model.weight_file_path.sha256 is not None


def test_onnx_example_with_backend_on_the_model() -> None:
    model = _load("basic.yml").models["mobilenet_onnx"]
    assert model.subgraphs[0].backend is OnnxBackend.TENSORFLOW


def test_two_models_as_code() -> None:
    deployment = _load("two_models_code.yml")
    assert deployment.model_graph_format is ModelFormat.CODE
    assert deployment.model_data_format is ModelFormat.CODE
    assert deployment.target_socs == ("all",)
    first, second = deployment.models.values()
    assert [c.name for c in first.subgraphs[0].checks] == [
        "MobilenetV1/Logits/Conv2d_1c_1x1/BiasAdd:0"
    ]
    assert first.subgraphs[0].checks[0].shape == (1, 1, 1, 1001)
    data = first.subgraphs[0].inputs[0].validation_data
    assert data is not None
    assert data.location == "https://models.example/dog.npy"
    (script,) = second.subgraphs[0].accuracy_validation_script or ()
    assert script.location == "path/to/your/script"


def test_first_generation_spellings(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        deployment = _load("first_generation.yml")
    assert deployment.target_abis == (Abi.ARMEABI_V7A, Abi.ARM64_V8A)
    assert deployment.target_socs == ("msm8998",)
    assert deployment.model_graph_format is ModelFormat.CODE
    assert deployment.model_data_format is ModelFormat.CODE
    first, second = deployment.models.values()
    data = first.subgraphs[0].inputs[0].validation_data
    assert data is not None
    assert data.location == "path/to/input_files"
    assert first.winograd == 0
    assert second.winograd == 2
    assert second.runtime is Runtime.CPU_GPU
    assert second.limit_opencl_kernel_time == 1
    assert len(second.subgraphs[0].inputs) == 2
    assert second.subgraphs[0].inputs[1].shape == (1, 128, 128, 3)
    # One warning per old spelling, each naming the present one and the line.
    expected = {
        "build_type": "model_graph_format",
        "embed_model_data": "model_data_format: code",
        "models.first_net.input_files": "validation_inputs_data",
        "models.first_net.winograd": "'0'",
        "models.second_net.limit_opencl_kernel_completion": (
            "limit_opencl_kernel_time"
        ),
        "models.second_net.runtime": "'cpu+gpu'",
        "models.second_net.winograd": "'2'",
    }
    assert len(deployment.warnings) == len(expected)
    for key, present in expected.items():
        (warning,) = [w for w in deployment.warnings if f": {key}: " in w]
        assert present in warning
        assert "first_generation.yml:" in warning
    assert [r.getMessage() for r in caplog.records] == list(deployment.warnings)


def test_every_key_reaches_the_normal_form() -> None:
    deployment = _load("every_key.yml")
    assert deployment.library_name == "every-key_1.0"
    assert deployment.target_abis == tuple(Abi)
    assert deployment.target_socs == ("sdm845", "rk3399")
    model, _ = deployment.models.values()
    assert [(str(out), str(into)) for out, into in deployment.chain] == [
        ("everything/out", "later/a/b"),
        ("everything/out", "later/c"),
    ]
    assert model.runtime is Runtime.GPU
    assert model.data_type is Precision.FP32_FP32
    assert model.winograd == 2
    assert model.quantize
    assert model.quantize_range_file is not None
    assert model.quantize_range_file.location == "overall_range"
    assert not model.quantize_large_weights
    assert model.quantize_schema is QuantizeSchema.INT8
    assert model.change_concat_ranges
    assert model.obfuscate
    assert model.limit_opencl_kernel_time == 1
    assert model.opencl_queue_window_size == 16
    assert model.cl_mem_type is ClMemoryType.BUFFER
    assert model.graph_optimize_options == ("fold_batch_norm",)
    assert model.docker_image_tag == "ssd"
    assert model.dockerfile_path is not None
    assert model.dockerfile_path.sha256 is not None
    assert model.nnlib_graph_mode == 3
    assert model.dsp_mode == 4
    assert model.accelerator_api == "neuron"
    assert model.apu_version_with_no_device == "4"
    calibration = model.calibration
    assert calibration is not None and calibration.input_dir is not None
    assert calibration.input_dir.location == "samples"
    assert (calibration.samples, calibration.percentile) == (16, 99.5)
    assert calibration.method is CalibrationMethod.ENTROPY
    assert not calibration.equalise and not calibration.correct_bias
    assert calibration.min_sqnr == 12
    assert model.micro is not None and model.micro.backend == "cmsis"
    assert model.weight_file_path is not None
    assert model.weight_file_path.sha256 == "abcdef" + "0" * 57 + "2"

    (subgraph,) = model.subgraphs
    assert subgraph.name == "front"
    assert subgraph.runtime is Runtime.CPU
    assert subgraph.data_type is Precision.BF16_FP32
    assert subgraph.winograd == 4
    assert subgraph.order == 1
    assert subgraph.backend is OnnxBackend.KALDI
    assert subgraph.validation_threshold == {
        Runtime.CPU: 0.9,
        Runtime.GPU: 0.8,
        Runtime.DSP: 1.0,
        Arithmetic.QUANTIZED: 0.7,
    }
    first, second = subgraph.inputs
    assert (first.name, second.name) == ("0", "image:0")
    assert (first.shape, second.shape) == ((1, 8, 8, 3), (-1, 16))
    assert first.data_type is DataType.FLOAT32
    assert second.data_type is DataType.INT32
    assert first.data_format is DataFormat.NCHW
    assert second.data_format is DataFormat.NONE
    assert (first.range, second.range) == ((0.0, 255.0), (-2.0, 2.5))
    assert (first.public_name, second.public_name) == ("left", "right")
    assert second.validation_data is not None
    assert second.validation_data.key == (
        "models.everything.subgraphs[0].validation_inputs_data[1]"
    )
    (output,) = subgraph.outputs
    assert output.data_type is DataType.INT32
    assert output.data_format is DataFormat.NONE
    assert output.public_name == "answer"
    assert output.validation_data is not None and output.validation_data.is_url


def test_every_key_file_holds_every_key() -> None:
    """The test above means what its name says."""
    raw = yaml.safe_load((_TESTDATA / "every_key.yml").read_text())
    model = raw["models"]["everything"]
    assert set(raw) == set(keys_of(Deployment))
    assert set(model) == set(keys_of(ModelConfig))
    assert set(model["subgraphs"][0]) == set(keys_of(SubgraphConfig))
    assert set(model["micro"]) == set(keys_of(MicroConfig))
    assert set(model["calibration"]) == set(keys_of(CalibrationConfig))


_MINIMAL = """
library_name: lib
target_abis: [host]
models:
  net:
    platform: onnx
    model_file_path: net.onnx
    subgraphs:
      - input_tensors: x
        input_shapes: 1,2
        output_tensors: y
        output_shapes: 1,3
    runtime: cpu
"""


_TWO = (
    _MINIMAL
    + """
  next:
    platform: onnx
    model_file_path: next.onnx
    subgraphs:
      - {input_tensors: x, input_shapes: "1,3", output_tensors: y, output_shapes: "1,3"}
    runtime: cpu
"""
)


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ("net: next/x", "found 'net', accepted: MODEL/TENSOR"),
        ("net/y: x", "found 'x', accepted: MODEL/TENSOR"),
        ("net/y: last/x", "there is no model 'last'; there are: net, next"),
        ("next/y: net/x", "models run in the order of the file; write 'net' below"),
        ("net/y: net/x", "models run in the order of the file"),
        ("net/y: [next/x, next/x]", "input next/x has two links"),
    ],
)
def test_links_that_make_no_chain(links: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_deployment_text(f"{_TWO}links: {{{links}}}\n", Path("two.yml"))


def test_links_make_a_chain() -> None:
    found = load_deployment_text(f"{_TWO}links: {{net/y: next/x}}\n", Path("two.yml"))
    assert [(str(a), str(b)) for a, b in found.chain] == [("net/y", "next/x")]
    assert load_deployment_text(_TWO, Path("two.yml")).chain == ()


def test_defaults() -> None:
    deployment = load_deployment_text(_MINIMAL)
    assert deployment.model_graph_format is ModelFormat.FILE
    assert deployment.model_data_format is ModelFormat.FILE
    (model,) = deployment.models.values()
    assert model.model_file_path.sha256 is None
    assert model.winograd == 4
    assert not model.quantize
    assert model.subgraphs[0].backend is None
    assert model.subgraphs[0].validation_threshold is None


def test_paths_resolve_in_working_directory_then_beside_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "deploy"
    folder.mkdir()
    (folder / "a.yml").write_text(_MINIMAL)
    monkeypatch.chdir(tmp_path)
    (model,) = load_deployment("deploy/a.yml").models.values()
    assert model.model_file_path.candidates == (
        tmp_path / "net.onnx",
        folder / "net.onnx",
    )


def test_several_subgraphs_with_their_own_runtime() -> None:
    text = _MINIMAL.replace("    runtime: cpu\n", "")
    text = text.replace(
        "        output_shapes: 1,3\n",
        "        output_shapes: 1,3\n"
        "        runtime: cpu_gpu\n"
        "      - input_tensors: y\n"
        "        input_shapes: 1,3\n"
        "        output_tensors: z\n"
        "        output_shapes: 1,4\n"
        "        runtime: dsp\n"
        "        data_type: uint8\n",
    )
    deployment = load_deployment_text(text)
    (model,) = deployment.models.values()
    assert [s.name for s in model.subgraphs] == ["net_0", "net_1"]
    assert [s.runtime for s in model.subgraphs] == [
        Runtime.CPU_GPU,
        Runtime.DSP,
    ]
    assert model.runtime is Runtime.CPU_GPU
    assert len(deployment.warnings) == 2


def test_model_without_subgraphs_level() -> None:
    text = """
library_name: lib
target_abis: host
models:
  net:
    platform: tensorflow
    model_file_path: net.pb
    input_nodes: [x]
    output_nodes: [y]
    input_shapes: [1,2,2,1]
    output_shapes: [1,2]
    runtime: gpu
    fast_conv: 1
    dsp_mode: 4
"""
    fixed = text.replace("[1,2,2,1]", '"1,2,2,1"').replace("[1,2]", '"1,2"')
    deployment = load_deployment_text(fixed)
    (model,) = deployment.models.values()
    assert model.winograd == 2
    assert model.subgraphs[0].inputs[0].name == "x"
    assert len(deployment.warnings) == 3
    with pytest.raises(ConfigError) as caught:
        load_deployment_text(text)
    assert 'write "1,2,2,1" without [ ]' in str(caught.value)


def test_overrides_take_the_place_of_the_file() -> None:
    deployment = load_deployment_text(
        _MINIMAL,
        replaced={
            "target_abis": "arm64,armhf",
            "target_socs": "SDM845",
            "model_graph_format": "code",
        },
    )
    assert deployment.target_abis == (Abi.ARM64, Abi.ARMHF)
    assert deployment.target_socs == ("sdm845",)
    assert deployment.model_graph_format is ModelFormat.CODE


def test_wrong_override_names_the_flag() -> None:
    with pytest.raises(ConfigError) as caught:
        load_deployment_text(_MINIMAL, replaced={"target_abis": "arm63"})
    message = str(caught.value)
    assert message.startswith("--target_abis: ")
    assert "did you mean arm64?" in message


_SEEDS = tuple(sorted(path.read_text() for path in _TESTDATA.glob("*.yml")))
# derandomize: the same inputs on every run, so a failure is everyone's.
_SETTINGS = settings(
    derandomize=True,
    max_examples=400,
)


def _read(text: str, replaced: dict[str, str] | None = None) -> None:
    with contextlib.suppress(ConfigError) as _:
        deployment = load_deployment_text(text, "f.yml", replaced, env={})
        # What loads has a normal form with at least one of everything.
        assert deployment.models and deployment.target_abis
        assert all(m.subgraphs[0].inputs for m in deployment.models.values())
        return
    # The message can always be built and printed.
    try:
        load_deployment_text(text, "f.yml", replaced, env={})
    except ConfigError as error:
        str(error).encode("utf-8")
        assert error.problems


@_SETTINGS
@given(st.text())
def test_any_text(text: str) -> None:
    _read(text)


@_SETTINGS
@given(st.text(alphabet=" \n-:[]{}&*!|>'\"%@`#,?<a1$.\\xu0~"))
def test_text_of_yaml_characters(text: str) -> None:
    _read(text)


_WORDS = st.sampled_from(
    [
        "0",
        "1",
        "-1",
        "on",
        "~",
        "",
        "cpu",
        "cpu_gpu",
        "dsp",
        "fp32",
        "uint8",
        "code",
        "file",
        "host",
        "all",
        "1,2,3",
        "-1.0,1.0",
        "nan,inf",
        '"x"',
        "${X}",
        "http://[::1",
        "http://h/x",
        "2019-01-01",
        "1:30",
        "=",
        "!!python/object:os.system x",
        '"\\ud800"',
        '"\\0"',
    ]
)
_VALUES: st.SearchStrategy[str] = st.recursive(
    _WORDS | st.integers().map(str),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda i: f"[{', '.join(i)}]"),
        st.lists(st.tuples(st.sampled_from("abc"), inner), max_size=3).map(
            lambda i: "{" + ", ".join(f"{k}: {v}" for k, v in i) + "}"
        ),
    ),
    max_leaves=4,
)


def _section(keys: tuple[str, ...], indent: str) -> st.SearchStrategy[str]:
    lines = st.tuples(st.sampled_from(keys), _VALUES).map(
        lambda kv: f"{indent}{kv[0]}: {kv[1]}\n"
    )
    return st.lists(lines, max_size=6).map("".join)


@_SETTINGS
@given(
    _section(tuple(keys_of(Deployment))[:-1], ""),
    _section(tuple(keys_of(ModelConfig)), "    "),
    _section(tuple(keys_of(SubgraphConfig)), "        "),
)
def test_known_keys_with_odd_values(top: str, model: str, sub: str) -> None:
    _read(
        f"{top}models:\n  m:\n    platform: onnx\n{model}"
        f"    subgraphs:\n      - input_tensors: x\n{sub}"
    )


@_SETTINGS
@given(
    st.sampled_from(_SEEDS),
    st.integers(0, 10_000),
    st.integers(0, 40),
    st.one_of(_VALUES, st.text(max_size=8)),
)
def test_mutated_good_files(seed: str, start: int, length: int, new: str) -> None:
    start %= len(seed)
    _read(seed[:start] + new + seed[start + length :])


@_SETTINGS
@given(st.text(), st.text())
def test_any_override(abis: str, graph_format: str) -> None:
    _read(
        _SEEDS[0],
        {"target_abis": abis, "model_graph_format": graph_format},
    )

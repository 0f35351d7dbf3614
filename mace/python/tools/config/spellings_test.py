# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Each old spelling against the present one it must equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.keys import Section
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.values import FileRef

_FILE = """library_name: lib
target_abis: [arm64-v8a]
{top}
models:
  net:
    platform: onnx
    model_file_path: net.onnx
    subgraphs:
      - input_tensors: a
        input_shapes: 1,2
        output_tensors: y
        output_shapes: 1,3
        {sub}
    runtime: {runtime}
    {model}
"""


def _load(
    top: str = "", model: str = "", sub: str = "", runtime: str = "cpu"
) -> Deployment:
    return load_deployment_text(
        _FILE.format(top=top, model=model, sub=sub, runtime=runtime)
    )


def _meaning(value: Any) -> Any:
    """What a deployment says, without how and where it is written."""
    if isinstance(value, FileRef):
        return value.location, value.sha256
    if isinstance(value, tuple):
        return [_meaning(item) for item in value]
    if isinstance(value, (Section, dict)):
        return {k: _meaning(v) for k, v in dict(value).items() if k != "warnings"}
    return value


@pytest.mark.parametrize(
    ("level", "old", "new"),
    [
        ("top", "build_type: proto", "model_graph_format: file"),
        ("top", "build_type: code", "model_graph_format: code"),
        ("top", "embed_model_data: 0", "model_data_format: file"),
        ("top", "embed_model_data: off", "model_data_format: file"),
        (
            "top",
            "embed_model_data: 1\nmodel_graph_format: code",
            "model_data_format: code\nmodel_graph_format: code",
        ),
        ("top", "target_soc: sdm845", "target_socs: [sdm845]"),
        ("model", "winograd: 1", "winograd: 2"),
        ("model", "winograd: true", "winograd: 2"),
        ("model", "winograd: ON", "winograd: 2"),
        ("model", "winograd: off", "winograd: 0"),
        ("model", "winograd: False", "winograd: 0"),
        ("model", "fast_conv: 0", "winograd: 0"),
        ("model", "data_type: fp32", "data_type: fp32_fp32"),
        ("model", "input_files: a.npy", "validation_inputs_data: a.npy"),
        ("sub", "input_files: [a.npy]", "validation_inputs_data: a.npy"),
        ("sub", "data_type: fp32", "data_type: fp32_fp32"),
        (
            "model",
            "limit_opencl_kernel_completion: 1",
            "limit_opencl_kernel_time: 1",
        ),
        ("runtime", "cpu_gpu", "cpu+gpu"),
        ("runtime", "hexagon", "dsp"),
        ("runtime", "neon", "cpu"),
    ],
)
def test_old_equals_new_with_one_warning(level: str, old: str, new: str) -> None:
    old_form = _load(**{level: old})
    new_form = _load(**{level: new})
    assert _meaning(old_form) == _meaning(new_form)
    assert len(old_form.warnings) == 1
    assert new_form.warnings == ()


@pytest.mark.parametrize("runtime", ["dsp", "hta", "htp"])
def test_uint8_on_a_dsp_says_nothing_new(runtime: str) -> None:
    deployment = _load(model="data_type: uint8", runtime=runtime)
    assert _meaning(deployment) == _meaning(_load(runtime=runtime))
    assert len(deployment.warnings) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("target_abis: [arm64-v8a, armeabi-v7a]",) * 2,
        (
            "target_abis: [arm64-v8a,armeabi-v7a]",
            "target_abis: [arm64-v8a, armeabi-v7a]",
        ),
        (
            "target_abis: arm64-v8a,armeabi-v7a",
            "target_abis: [arm64-v8a, armeabi-v7a]",
        ),
        ("target_abis: aarch64_linux_gnu", "target_abis: [arm64]"),
        ("target_abis: arm-linux-gnueabihf", "target_abis: [armhf]"),
    ],
)
def test_equal_spellings_without_warning(first: str, second: str) -> None:
    forms = []
    for abis in (first, second):
        text = _FILE.format(top="", model="", sub="", runtime="cpu")
        text = text.replace("target_abis: [arm64-v8a]", abis)
        forms.append(load_deployment_text(text))
    assert _meaning(forms[0]) == _meaning(forms[1])
    assert forms[0].warnings == ()


@pytest.mark.parametrize(
    "key",
    [
        "backend: kaldi",
        "input_data_formats: NONE",
        "output_data_types: int32",
        "validation_threshold: {CPU: 0.9}",
        "input_ranges: 0,1",
        "input_means: 127.5",
        "check_tensors: c\nINDENTcheck_shapes: 1,1",
    ],
)
def test_subgraph_keys_may_stand_on_the_model(key: str) -> None:
    on_model = _load(model=key.replace("INDENT", "    "))
    on_subgraph = _load(sub=key.replace("INDENT", "        "))
    assert _meaning(on_model) == _meaning(on_subgraph)
    assert on_model.warnings == ()


def test_subgraph_wins_over_model() -> None:
    deployment = _load(model="input_data_formats: NCHW", sub="input_data_formats: NONE")
    assert deployment.models["net"].subgraphs[0].inputs[0].data_format == "NONE"


@pytest.mark.parametrize("word", ["on", "ON", "yes", "true", "True", "1"])
def test_flag_words(word: str) -> None:
    assert _load(model=f"obfuscate: {word}").models["net"].obfuscate


def test_on_and_off_stay_names_where_names_are_meant() -> None:
    text = _FILE.format(top="", model="", sub="", runtime="cpu")
    text = text.replace("input_tensors: a", "input_tensors: on")
    text = text.replace("output_tensors: y", "output_tensors: OFF")
    (subgraph,) = load_deployment_text(text).models["net"].subgraphs
    assert subgraph.inputs[0].name == "on"
    assert subgraph.outputs[0].name == "OFF"


def test_environment_variables() -> None:
    text = _FILE.format(top="", model="", sub="", runtime="cpu")
    text = text.replace("net.onnx", "${MODELS}/${NAME}.onnx # ${UNSET}")
    text = text.replace("[arm64-v8a]", "[${ABIS}]")
    deployment = load_deployment_text(
        text,
        env={"MODELS": "/m: [x]", "NAME": "a b", "ABIS": "host,armhf"},
    )
    location = deployment.models["net"].model_file_path.location
    assert location == "/m: [x]/a b.onnx"
    assert [abi.value for abi in deployment.target_abis] == ["host", "armhf"]


def test_anchors_and_merge_keys() -> None:
    text = """
library_name: lib
target_abis: host
models:
  first: &net
    platform: onnx
    model_file_path: net.onnx
    subgraphs: &graphs
      - input_tensors: a
        input_shapes: 1,2
        output_tensors: y
        output_shapes: 1,3
    runtime: cpu
  second:
    <<: *net
    runtime: gpu
"""
    first, second = load_deployment_text(text).models.values()
    assert first.runtime.value == "cpu"
    assert second.runtime.value == "gpu"
    assert second.subgraphs[0].inputs == first.subgraphs[0].inputs


def test_unknown_old_level_key_is_dropped_with_a_warning() -> None:
    deployment = _load(top="vlog_level: 2")
    (warning,) = deployment.warnings
    assert "--vlog_level" in warning
    assert deployment.source == Path("<text>")

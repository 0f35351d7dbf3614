# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Deployment files as the model zoo of the original MACE has them.

Each key and value is accepted, or refused with a sentence that says what to write.
They are those that its 55 public files use (DM-08 to DM-19 and DS-01 to DS-14).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.effect import Command, check_effects
from mace.python.tools.config.keys import keys_of
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.subgraph import SubgraphConfig
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.errors import MaceError
from mace.python.tools.run.options import RunOptions

_PAGE = Path(__file__).parents[4] / "docs/user/coming_from_mace.md"
_SHA = "05d92625809dc9edd6484882335c48c043397aed450a168d75eb8b538e86881a"
_FILE = """library_name: net
target_abis: {abis}
{top}
models:
  net:
    platform: {platform}
    model_file_path: https://models.example/net
    model_sha256_checksum: {sha}
{weights}
    subgraphs:
      - input_tensors:{start}input
        input_shapes:{start}1,224,224,3
        output_tensors:{start}MobilenetV2/Predictions/Reshape_1
        output_shapes:{start}1,1001
{part}
    runtime: {runtime}
    limit_opencl_kernel_time: 0
    nnlib_graph_mode: 0
    obfuscate: {obfuscate}
    winograd: {winograd}
{model}
"""
_WEIGHTS = f"""    weight_file_path: https://models.example/weights
    weight_sha256_checksum: {_SHA}
"""
_FORMATS = "model_graph_format: {0}\nmodel_data_format: {0}\n"
_DATA = """        validation_inputs_data:
          - https://models.example/inputs/dog.npy
        validation_outputs_data:
          - https://models.example/outputs/dog.npy
"""


def _files() -> Iterator[tuple[str, dict[str, str]]]:
    for runtime in ("cpu", "cpu+gpu", "gpu", "dsp", "hta", "htp", "apu"):
        yield f"runtime {runtime}", {"runtime": runtime}
    for platform in ("tensorflow", "onnx", "caffe", "keras", "megengine"):
        weights = _WEIGHTS if platform == "caffe" else ""
        yield f"platform {platform}", {"platform": platform, "weights": weights}
    for abis in ("[arm64-v8a,armeabi-v7a]", "[armeabi-v7a, arm64-v8a]", "[host]"):
        yield f"ABIs {abis}", {"abis": abis}
    yield "ABIs of boards", {"abis": "[arm_linux_gnueabihf, aarch64_linux_gnu]"}
    for word in ("file", "code"):
        yield f"format {word}", {"top": _FORMATS.format(word)}
    yield "first generation", {"top": "build_type: code\nembed_model_data: 1\n"}
    yield "scalars", {"start": " "}
    for winograd in ("0", "4", "2", "on"):
        yield f"winograd {winograd}", {"winograd": winograd}
    yield "obfuscated", {"obfuscate": "1"}
    for line in (
        "dsp_mode: 0",
        "quantize: 1\n    quantize_range_file: overall_range",
        "quantize: 1\n    quantize_schema: int8\n    quantize_range_file: ranges",
        "quantize_large_weights: 1",
        "change_concat_ranges: 0",
        "docker_image_tag: mace-caffe\n    dockerfile_path: caffe",
        "cl_mem_type: image",
        "cl_mem_type: buffer",
        "graph_optimize_options: [fold_constants]",
        "accelerator_api: neuropilot",
        "apu_version_with_no_device: 4",
        "micro:\n      backend: cmsis",
        "opencl_queue_window_size: 16",
        "data_type: fp16_fp32",
        "data_type: fp32_fp32",
        "data_type: bf16_fp32",
        "data_type: fp32",
    ):
        yield line.split("\n")[-1].strip(), {"model": f"    {line}"}
    for line in (
        "input_ranges: -1,1",
        "validation_threshold: {cpu: 0.99, gpu: 0.98}",
        "validation_threshold: {CPU: 0.999, GPU: 0.995, HEXAGON: 0.930}",
        "backend: kaldi",
        "backend: tensorflow",
        "backend: caffe2",
        "backend: pytorch",
        "input_data_types: int32",
        "input_data_formats: NONE",
        "output_data_formats: [NCHW]",
        "accuracy_validation_script: accuracy.py",
        "check_tensors: MobilenetV1/Logits/BiasAdd:0\n        check_shapes: 1,1,1,1001",
        "input_aliases: image\n        output_aliases: probability",
        "order: 0",
    ):
        yield line.split("\n")[0], {"part": f"        {line}"}
    yield "data of validation", {"part": _DATA}


_FILES = dict(_files())


def _problem(text: str, command: Command) -> str:
    """Why a file is refused; empty if it is not."""
    options = ConvertOptions() if command is Command.CONVERT else RunOptions()
    try:
        check_effects(command, load_deployment_text(text, "zoo.yml"), options)
    except MaceError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", _FILES)
def test_a_file_is_accepted_or_refused_with_a_sentence(name: str) -> None:
    values = {
        **{"abis": "[arm64-v8a]", "top": _FORMATS.format("file"), "weights": ""},
        **{"platform": "tensorflow", "runtime": "cpu", "sha": _SHA, "obfuscate": "0"},
        **{"winograd": "4", "part": "", "model": "", "start": "\n          - "},
        **_FILES[name],
    }
    text = _FILE.format(**values)
    refused = name.split()[-1] == "megengine"
    for command in (Command.CONVERT, Command.RUN):
        problem = _problem(text, command)
        assert bool(problem) == refused, problem
        if refused:
            assert re.search(
                r"zoo\.yml:\d+: models\.net\.platform: .*(write|say) ",
                problem,
            )


def test_the_page_names_keys_that_there_are() -> None:
    known = {
        word
        for section in (Deployment, ModelConfig, SubgraphConfig)
        for key in keys_of(section).values()
        for word in (key.name, *key.was)
    }
    page = _PAGE.read_text(encoding="utf-8")
    (without_effect,) = re.findall(r"Accepted, and without effect(.*?)\n\n", page, re.S)
    words = re.findall("`([a-z_]+)`", without_effect)
    assert len(words) >= 9
    assert set(words) - {"onnxruntime"} <= known
    rows = re.findall(r"^\| `(\w+):?[^|]*\| `(\w+)", page, re.M)
    assert ("build_type", "model_graph_format") in rows
    assert {old for old, _ in rows if old in known} >= {
        *("build_type", "embed_model_data", "target_soc", "input_files", "fast_conv"),
        "input_nodes",
    }

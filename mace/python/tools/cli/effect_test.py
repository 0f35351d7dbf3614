# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What is told of keys and flags that a command cannot honour."""

from __future__ import annotations

import dataclasses
import logging
from pathlib import Path
from typing import Any, Union

import pytest

from mace.python.tools.config.effect import Command, Verdict, check_effects
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.vocabulary import Platform, Runtime
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.errors import UnsupportedError
from mace.python.tools.importers.frame.opened import available_importers
from mace.python.tools.inspection.options import ExplainOptions
from mace.python.tools.run.options import GpuHint, RunOptions

_Options = Union[ConvertOptions, RunOptions, ExplainOptions]
_PASSES = {"graph_optimize_options": ["fold_constants", "fuse_activation"]}

_FILE = """
library_name: lib
target_abis: host
{file}
models:
  net:
    platform: {platform}
    model_file_path: net.onnx
    {weights}
    runtime: {runtime}
    {model}
    subgraphs:
      - input_tensors: x
        input_shapes: 1,4
        output_tensors: y
        output_shapes: 1,4
        {subgraph}
"""


def test_the_release_has_the_frameworks_that_have_an_importer() -> None:
    assert {p.value for p in Platform if p.in_release} == set(available_importers())


def _check(
    caplog: pytest.LogCaptureFixture,
    options: _Options,
    replaced: dict[str, str] | None = None,
    **parts: str,
) -> dict[Verdict, str]:
    """What is told, by verdict."""
    empty = dict.fromkeys(("file", "model", "subgraph", "weights"), "")
    text = _FILE.format(**{"platform": "onnx", "runtime": "cpu", **empty, **parts})
    deployment = load_deployment_text(text, Path("d.yml"), replaced)
    converts = isinstance(options, ConvertOptions)
    command = Command.CONVERT if converts else Command.RUN
    caplog.clear()
    told = {Verdict.REFUSED: "", Verdict.NO_EFFECT: ""}
    try:
        with caplog.at_level(logging.WARNING, "mace.python.tools.config.effect"):
            check_effects(command, deployment, options, _PASSES)
    except UnsupportedError as error:
        told[Verdict.REFUSED] = str(error)
    records = [r for r in caplog.records if r.name.endswith("effect")]
    # One message for all.
    assert len(records) <= 1
    told[Verdict.NO_EFFECT] = "".join(record.getMessage() for record in records)
    return told


@pytest.mark.parametrize("options", [ConvertOptions(), RunOptions(), ExplainOptions()])
def test_a_plain_file_is_told_nothing(
    caplog: pytest.LogCaptureFixture, options: _Options
) -> None:
    assert not any(_check(caplog, options).values())


@pytest.mark.parametrize(
    ("key", "part", "line"),
    [
        ("cl_mem_type: buffer", "model", "is for runtime gpu"),
        ("limit_opencl_kernel_time: 1", "model", "is for runtime gpu"),
        ("opencl_queue_window_size: 16", "model", "is for runtime gpu"),
        ("quantize_schema: int8", "model", "is for quantize: 1, which is not given"),
        ("quantize_range_file: ranges", "model", "is for quantize: 1"),
        ("change_concat_ranges: 1", "model", "is for quantize: 1"),
        ("docker_image_tag: ssd", "model", "compared with OpenCV"),
        ("dockerfile_path: Dockerfile", "model", "needs no container"),
        ("accelerator_api: neuron", "model", "has one interface"),
        ("apu_version_with_no_device: 4", "model", "compiles the model where"),
        ("dsp_mode: 1", "model", "the DSP runs MACE's own code"),
        ("nnlib_graph_mode: 3", "model", "the DSP runs MACE's own code"),
        ("micro: {backend: cmsis}", "model", "microcontroller form"),
        ("name: front", "subgraph", "tells the subgraphs of a model apart"),
        ("order: 1", "subgraph", "operators run in the order"),
    ],
)
def test_keys_without_effect_are_told(
    caplog: pytest.LogCaptureFixture, key: str, part: str, line: str
) -> None:
    for options in (ConvertOptions(), RunOptions()):
        told = _check(caplog, options, None, **{part: key})
        assert not told[Verdict.REFUSED]
        name = key.partition(":")[0]
        assert f".{name}: " in told[Verdict.NO_EFFECT]
        assert line in told[Verdict.NO_EFFECT]
        assert "d.yml:" in told[Verdict.NO_EFFECT]


@pytest.mark.parametrize(
    "key",
    [
        "limit_opencl_kernel_time: 0",
        "opencl_queue_window_size: 0",
        "quantize: 0",
        "quantize_dynamic: 0",
        "quantize_large_weights: 0",
        "change_concat_ranges: 0",
        "graph_optimize_options: [fold_constants]",
        "data_type: fp16_fp32",
        "data_type: bf16_fp32",
    ],
)
def test_values_that_ask_for_nothing_special_are_not_told(
    caplog: pytest.LogCaptureFixture, key: str
) -> None:
    for options in (ConvertOptions(), RunOptions()):
        assert not any(_check(caplog, options, model=key).values())


@pytest.mark.parametrize(
    "runtime, precision, left",
    [
        ("cpu", "bf16_bf16", ""),
        ("gpu", "fp16_fp16", ""),
        ("cpu+gpu", "fp16_fp32", ""),
        ("cpu+gpu", "fp32_fp32", ""),
        ("cpu+gpu", "fp16_fp16", ""),
        ("cpu+gpu", "bf16_fp32", "GPU"),
        ("cpu+gpu", "bf16_bf16", "GPU"),
    ],
)
def test_a_device_that_lacks_the_precision_is_left_out(
    caplog: pytest.LogCaptureFixture, runtime: str, precision: str, left: str
) -> None:
    key = f"data_type: {precision}"
    for options in (ConvertOptions(), RunOptions()):
        told = _check(caplog, options, model=key, runtime=runtime)
        assert not told[Verdict.REFUSED]
        text = told[Verdict.NO_EFFECT]
        assert bool(text) == bool(left)
        if left:
            assert f"the {left} has no {precision} and is left out" in text
            assert "d.yml:" in text and "for the CPU alone" in text
    parts = dict.fromkeys(("file", "subgraph", "weights"), "")
    text = _FILE.format(platform="onnx", runtime=runtime, model=key, **parts)
    model = load_deployment_text(text, Path("d.yml")).models["net"]
    assert model.whole.runtime.value == ("cpu" if left else runtime)
    assert model.hints()["runtime"] == model.whole.runtime.value


@pytest.mark.usefixtures("release_without_gpu")
def test_the_gpu_of_cpu_and_gpu_is_told_with_all_that_is_for_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keys = ("limit_opencl_kernel_time: 1", "opencl_queue_window_size: 16")
    run = RunOptions(
        gpu_perf_hint=GpuHint.LOW,
        gpu_priority_hint=GpuHint.LOW,
        gpu_out_of_range_check=True,
        tuning=True,
        disable_tuning=True,
        cl_binary_to_code=True,
        opencl_cache_reuse_policy=0,
    )
    for options in (run, ConvertOptions(cl_binary_to_code=True)):
        told = _check(caplog, options, runtime="cpu+gpu", model="\n    ".join(keys))
        assert not told[Verdict.REFUSED]
        lines = told[Verdict.NO_EFFECT].splitlines()
        given = [
            f"--{item.name}"
            for item in dataclasses.fields(options)
            if getattr(options, item.name) != item.default
        ]
        for name in ("limit_opencl_kernel_time", "opencl_queue_window_size", *given):
            (line,) = [line for line in lines if f"{name}: " in line]
            assert "is for runtime gpu, which is not in this release" in line
        (line,) = [line for line in lines if "models.net.runtime: " in line]
        assert (
            "the library has no GPU runtime; it has: CPU, on which models run" in line
        )


@pytest.mark.parametrize(
    "runtime", [item.value for item in Runtime if item is not Runtime.CPU]
)
@pytest.mark.usefixtures("release_without_gpu")
def test_commands_say_the_same_of_a_device_that_is_not_there(
    caplog: pytest.LogCaptureFixture, runtime: str
) -> None:
    both = []
    for options in (ConvertOptions(), RunOptions()):
        told = "".join(_check(caplog, options, runtime=runtime).values())
        (line,) = [line for line in told.splitlines() if "models.net.runtime" in line]
        both.append(line)
    assert both[0] == both[1]
    assert " runtime; it has: CPU" in both[0]


@pytest.mark.usefixtures("release_without_gpu")
def test_everything_is_refused_at_once(caplog: pytest.LogCaptureFixture) -> None:
    told = _check(
        caplog,
        ConvertOptions(
            enable_micro=True,
        ),
        platform="megengine",
        runtime="hta",
        model="quantize: 1\n    quantize_schema: mace_apu_16bit_per_tensor\n"
        "    graph_optimize_options: [fold_constant, fuse]",
    )
    for part in (
        "net.platform: megengine is not in this release; accepted: onnx, tensorflow, "
        "tflite, caffe, keras or pytorch",
        "models.net.runtime: the library has no HTA runtime",
        "models.net.quantize_schema: mace_apu_16bit_per_tensor is not in this release",
        "'fold_constant' (did you mean fold_constants?), 'fuse'",
        "--enable_micro",
    ):
        assert part in told[Verdict.REFUSED]
    assert not told[Verdict.NO_EFFECT]


def test_a_model_is_quantized_in_one_way(caplog: pytest.LogCaptureFixture) -> None:
    found = _check(
        caplog, ConvertOptions(), model="quantize: 1\n    quantize_dynamic: 1"
    )
    told = found[Verdict.REFUSED]
    assert "models.net.quantize_dynamic: quantizes products in each run" in told
    assert "remove one of both keys" in told
    found = _check(caplog, ConvertOptions(), model="quantize_dynamic: 1")
    assert not any(found.values())


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (ConvertOptions(debug_mode=True), "--debug_mode: convert builds no program"),
        (ConvertOptions(address_sanitizer=True), "--address_sanitizer: convert"),
        (ConvertOptions(cl_binary_to_code=True), "--cl_binary_to_code: is for"),
        (RunOptions(gpu_perf_hint=GpuHint.LOW), "--gpu_perf_hint: is for runtime gpu"),
        (RunOptions(disable_tuning=True), "--disable_tuning: is for runtime gpu"),
        (RunOptions(opencl_cache_reuse_policy=0), "--opencl_cache_reuse_policy: "),
        (
            RunOptions(caffe_env="local"),
            "--caffe_env: Caffe models are compared with OpenCV",
        ),
        (RunOptions(apu_boost_hint=5), "--apu_boost_hint: is for runtime apu"),
        (
            RunOptions(use_system_libhexagon_nn=True),
            "--use_system_libhexagon_nn: the DSP runs MACE's own code",
        ),
        (RunOptions(mace_lib_type="dynamic"), "--mace_lib_type: mace_run contains"),
    ],
)
def test_flags_without_effect_are_told(
    caplog: pytest.LogCaptureFixture, options: _Options, line: str
) -> None:
    told = _check(caplog, options)
    assert line in told[Verdict.NO_EFFECT]
    assert not told[Verdict.REFUSED]


@pytest.mark.parametrize(
    ("options", "parts", "line"),
    [
        (
            RunOptions(),
            {"runtime": "gpu"},
            "net.runtime: the library has no GPU runtime",
        ),
        (RunOptions(input_dir=Path()), {}, "--input_dir: needs --output_dir"),
    ],
)
@pytest.mark.usefixtures("release_without_gpu")
def test_refused_in_particular(
    caplog: pytest.LogCaptureFixture, options: _Options, parts: Any, line: str
) -> None:
    assert line in _check(caplog, options, **parts)[Verdict.REFUSED]


def test_flags_for_keys_are_judged_as_the_keys(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told = _check(caplog, ConvertOptions(), {"target_abis": "arm64"})
    assert "--target_abis: a converted model is the same" in told[Verdict.NO_EFFECT]
    assert not any(_check(caplog, RunOptions(), {"target_abis": "arm64"}).values())
    code = {"target_abis": "arm64", "model_graph_format": "code"}
    assert not any(_check(caplog, ConvertOptions(), code).values())


def test_what_a_model_is_compared_with_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told = _check(caplog, RunOptions(validate=True), subgraph="backend: kaldi")
    assert "compared with ONNX Runtime" in told[Verdict.NO_EFFECT]
    assert not any(_check(caplog, RunOptions(), subgraph="backend: kaldi").values())

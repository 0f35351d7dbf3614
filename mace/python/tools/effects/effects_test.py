# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Every key and flag has an effect, and is told when it has none."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.cli.flags import OldFlag
from mace.python.tools.cli.options import (
    AcceleratorOptions,
    ConvertOptions,
    GpuHint,
    QuantizeStatOptions,
    RunOptions,
)
from mace.python.tools.cli.parser import command_parser
from mace.python.tools.cli.shared_flags import NOT_YET
from mace.python.tools.config import Level, Overrides, load_deployment_text
from mace.python.tools.config.schema import SECTIONS, keys_of
from mace.python.tools.effects import Command, check_effects, reference
from mace.python.tools.effects.command_flags import FLAGS, REPLACING_KEYS, place_of
from mace.python.tools.effects.deployment_keys import KEYS
from mace.python.tools.effects.effect import Options, Verdict
from mace.python.tools.effects.judge import option
from mace.python.tools.errors import UnsupportedError

_OPTIONS: dict[str, Options] = {"convert": ConvertOptions(), "run": RunOptions()}

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


@pytest.mark.parametrize("level", list(Level))
def test_every_key_of_the_schema_has_an_effect(level: Level) -> None:
    assert set(KEYS[level]) == set(keys_of(SECTIONS[level]))


def _flags_of(command: str) -> set[str]:
    """All flags but those of earlier versions, which warn by themselves."""
    return {
        action.option_strings[-1][2:]
        for action in command_parser(command)._actions
        if action.dest != "help" and not isinstance(action, OldFlag)
    }


def test_every_flag_has_an_effect() -> None:
    flags = set().union(*(_flags_of(c) for c in ("convert", "run", "benchmark")))
    assert flags == set(FLAGS) | REPLACING_KEYS
    # `build` hands to `convert` what is there, too.
    assert _flags_of("build") <= flags


def test_rules_of_flags_find_their_values() -> None:
    """A rule on a flag whose value is nowhere would never speak."""
    for flag, effect in FLAGS.items():
        for rule in effect.rules:
            for command in rule.commands:
                if flag in _flags_of(command.value):
                    place, _, leaf = place_of(flag).rpartition(".")
                    owner = (
                        option(_OPTIONS[command.value], place)
                        if place
                        else (_OPTIONS[command.value])
                    )
                    assert hasattr(owner, leaf), (flag, command)


def test_what_does_nothing_is_always_told() -> None:
    """A key or flag that acts on nothing has a rule; the micro section has one
    for its keys, and reading the file tells of two more."""
    silent = [
        name
        for name, effect in [
            *((k, e) for keys in KEYS.values() for k, e in keys.items()),
            *FLAGS.items(),
        ]
        if not effect.acts and not effect.rules
    ]
    assert sorted(silent) == ["backend", "dsp_mode", "nnlib_graph_mode"]


def _check(
    caplog: pytest.LogCaptureFixture,
    options: Options,
    overrides: Overrides | None = None,
    **parts: str,
) -> dict[Verdict, str]:
    """What is told, by verdict."""
    empty = dict.fromkeys(("file", "model", "subgraph", "weights"), "")
    text = _FILE.format(**{"platform": "onnx", "runtime": "cpu", **empty, **parts})
    deployment = load_deployment_text(text, Path("d.yml"), overrides)
    command = Command.RUN if isinstance(options, RunOptions) else Command.CONVERT
    caplog.clear()
    told = {Verdict.REFUSED: "", Verdict.NO_EFFECT: ""}
    try:
        with caplog.at_level(logging.WARNING, "mace.python.tools.effects"):
            check_effects(command, deployment, options)
    except UnsupportedError as error:
        told[Verdict.REFUSED] = str(error)
    records = [r for r in caplog.records if "effects" in r.name]
    # One message for all.
    assert len(records) <= 1
    told[Verdict.NO_EFFECT] = "".join(record.getMessage() for record in records)
    return told


@pytest.mark.parametrize("options", [ConvertOptions(), RunOptions()])
def test_a_plain_file_is_told_nothing(
    caplog: pytest.LogCaptureFixture, options: Options
) -> None:
    assert not any(_check(caplog, options).values())


@pytest.mark.parametrize(
    ("key", "part", "line"),
    [
        ("cl_mem_type: buffer", "model", "is for runtime gpu"),
        ("limit_opencl_kernel_time: 1", "model", "is for runtime gpu"),
        ("opencl_queue_window_size: 16", "model", "is for runtime gpu"),
        ("quantize_schema: int8", "model", "is for quantize: 1"),
        ("quantize_range_file: ranges", "model", "is for quantize: 1"),
        ("change_concat_ranges: 1", "model", "is for quantize: 1"),
        ("docker_image_tag: ssd", "model", "platform caffe"),
        ("dockerfile_path: Dockerfile", "model", "platform caffe"),
        ("accelerator_api: neuron", "model", "runtime dsp, hta, htp or apu"),
        ("apu_version_with_no_device: 4", "model", "is for runtime"),
        ("micro: {backend: cmsis}", "model", "--enable_micro"),
        ("name: front", "subgraph", "tells the subgraphs of a model apart"),
        ("order: 1", "subgraph", "tells the subgraphs of a model apart"),
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


def test_the_gpu_has_its_keys_and_is_told_of_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keys = "{limit_opencl_kernel_time: 1, opencl_queue_window_size: 16}"
    told = _check(
        caplog,
        ConvertOptions(),
        runtime="gpu",
        model="\n    ".join(keys[1:-1].split(", ")),
    )
    assert not told[Verdict.REFUSED]
    assert "models.net.runtime: only the CPU" in told[Verdict.NO_EFFECT]
    assert "opencl" not in told[Verdict.NO_EFFECT]


def test_everything_is_refused_at_once(caplog: pytest.LogCaptureFixture) -> None:
    told = _check(
        caplog,
        ConvertOptions(
            enable_micro=True,
            quantize_stat=QuantizeStatOptions(Path()),
            input_dir=Path(),
        ),
        platform="caffe",
        weights="weight_file_path: w",
        runtime="apu",
        model="quantize: 1\n    quantize_range_file: r\n"
        "    graph_optimize_options: [fold_constant, fuse]",
    )
    for part in (
        "models.net.platform: 'caffe' cannot be imported yet; use onnx or tensorflow",
        "models.net.runtime: 'apu' is not supported; use cpu, gpu or cpu+gpu",
        "models.net.quantize: 8-bit",
        "'fold_constant' (did you mean fold_constants?), 'fuse'",
        "--enable_micro",
        "--quantize_stat",
    ):
        assert part in told[Verdict.REFUSED]
    assert not told[Verdict.NO_EFFECT]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (ConvertOptions(debug_mode=True), "--debug_mode: convert builds no program"),
        (ConvertOptions(address_sanitizer=True), "--address_sanitizer: convert"),
        (ConvertOptions(cl_binary_to_code=True), "--cl_binary_to_code: is for"),
        (ConvertOptions(input_dir=Path()), "--input_dir: is for --quantize_stat"),
        (RunOptions(gpu_perf_hint=GpuHint.LOW), "--gpu_perf_hint: is for runtime gpu"),
        (RunOptions(disable_tuning=True), "--disable_tuning: is for runtime gpu"),
        (RunOptions(opencl_cache_reuse_policy=0), "--opencl_cache_reuse_policy: "),
        (RunOptions(caffe_env="local"), "--caffe_env: is for models of platform"),
        (
            RunOptions(accelerator=AcceleratorOptions(apu_boost_hint=5)),
            "--apu_boost_hint: is for runtime apu",
        ),
    ],
)
def test_flags_without_effect_are_told(
    caplog: pytest.LogCaptureFixture, options: Options, line: str
) -> None:
    told = _check(caplog, options)
    assert line in told[Verdict.NO_EFFECT]
    assert not told[Verdict.REFUSED]


@pytest.mark.parametrize(
    ("options", "parts", "line"),
    [
        (
            ConvertOptions(cl_binary_to_code=True),
            {"runtime": "gpu"},
            "--cl_binary_to_code: convert makes no OpenCL binaries",
        ),
        (RunOptions(mace_lib_type="dynamic"), {}, "--mace_lib_type: dynamic"),
        (RunOptions(), {"runtime": "gpu"}, "net.runtime: gpu cannot be run yet"),
        (RunOptions(input_dir=Path()), {}, "--input_dir: needs --output_dir"),
    ],
)
def test_refused_in_particular(
    caplog: pytest.LogCaptureFixture, options: Options, parts: Any, line: str
) -> None:
    assert line in _check(caplog, options, **parts)[Verdict.REFUSED]


def test_flags_for_keys_are_judged_as_the_keys(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told = _check(caplog, ConvertOptions(), Overrides(target_abis="arm64"))
    assert "--target_abis: a converted model is the same" in told[Verdict.NO_EFFECT]
    assert not any(
        _check(caplog, RunOptions(), Overrides(target_abis="arm64")).values()
    )
    code = Overrides(target_abis="arm64", model_graph_format="code")
    options = ConvertOptions(debug_mode=True, address_sanitizer=True)
    assert not any(_check(caplog, options, code).values())


def test_the_documentation_has_every_case() -> None:
    text = reference.markdown()
    for keys in (*KEYS.values(), FLAGS):
        for name, effect in keys.items():
            row = f"`{name}`" if keys is not FLAGS else f"`--{name}`"
            if effect.rules:
                assert f"| {row} |" in text
    assert "| `--debug_mode` | convert | no effect | unless" in text


def test_help_says_what_is_always_refused() -> None:
    for name, effect in FLAGS.items():
        refused = [r for r in effect.rules if r.verdict is Verdict.REFUSED]
        always = any(r.when in ("always", "for runtime gpu") for r in refused)
        for command in {c for r in effect.rules for c in r.commands}:
            for action in command_parser(command.value)._actions:
                if f"--{name}" in action.option_strings:
                    assert (NOT_YET in (action.help or "")) == always, name


def test_what_a_model_is_compared_with_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told = _check(caplog, RunOptions(validate=True), subgraph="backend: kaldi")
    assert "compared with ONNX Runtime" in told[Verdict.NO_EFFECT]
    assert not any(_check(caplog, RunOptions(), subgraph="backend: kaldi").values())

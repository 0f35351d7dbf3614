# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Command lines, old and new, against the options they mean."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.cli import parser
from mace.python.tools.command_line.flags import NOTES_DEST
from mace.python.tools.convert.options import ConvertOptions, convert_options
from mace.python.tools.errors import UsageError
from mace.python.tools.run.options import (
    CpuAffinityPolicy,
    GpuHint,
    LayerRange,
    RunOptions,
    run_options,
)


def _run(*flags: str, command: str = "run") -> RunOptions:
    return run_options(parser.parse([command, "--config=d.yml", *flags]))


def _convert(*flags: str) -> ConvertOptions:
    args = parser.parse(["convert", "--config=d.yml", *flags])
    return convert_options(args)


def _usage_error(*argv: str) -> str:
    with pytest.raises(UsageError) as caught:
        args = parser.parse(argv)
        if args.command == "run":
            run_options(args)
        else:
            convert_options(args)
    return str(caught.value)


def test_defaults_are_those_of_the_options() -> None:
    assert _run() == RunOptions()
    assert _convert() == ConvertOptions()


@pytest.mark.parametrize(
    ("flag", "change"),
    [
        ("--round=100", {"round": 100}),
        ("--restart_round=2", {"restart_round": 2}),
        ("--validate", {"validate": True}),
        ("--benchmark", {"benchmark": True}),
        ("--num_threads=4", {"num_threads": 4}),
        ("--num_threads=-1", {"num_threads": -1}),
        ("--cpu_affinity_policy=0", {"cpu_affinity_policy": CpuAffinityPolicy.NONE}),
        (
            "--cpu_affinity_policy=power_save",
            {"cpu_affinity_policy": CpuAffinityPolicy.POWER_SAVE},
        ),
        ("--gpu_perf_hint=1", {"gpu_perf_hint": GpuHint.LOW}),
        ("--gpu_priority_hint=0", {"gpu_priority_hint": GpuHint.DEFAULT}),
        ("--gpu_out_of_range_check", {"gpu_out_of_range_check": True}),
        ("--tuning", {"tuning": True}),
        ("--disable_tuning", {"disable_tuning": True}),
        ("--cl_binary_to_code", {"cl_binary_to_code": True}),
        ("--opencl_cache_reuse_policy=0", {"opencl_cache_reuse_policy": 0}),
        ("--fake_warmup", {"fake_warmup": True}),
        ("--caffe_env=local", {"caffe_env": "local"}),
        ("--vlog_level=5", {"vlog_level": 5}),
        ("--devices_to_run=a,b", {"devices_to_run": ("a", "b")}),
        ("--output_dir=out", {"output_dir": Path("out")}),
        ("--build_dir=b", {"build_dir": Path("b")}),
        ("--report", {"report": True}),
        ("--report_dir=r", {"report": True, "report_dir": Path("r")}),
        ("--runtime_failure_ratio=0.5", {"runtime_failure_ratio": 0.5}),
        ("--mace_lib_type=dynamic", {"mace_lib_type": "dynamic"}),
        ("--debug_mode", {"debug_mode": True}),
        ("--address_sanitizer", {"address_sanitizer": True}),
        ("--apu_boost_hint=3", {"apu_boost_hint": 3}),
        ("--apu_preference_hint=0", {"apu_preference_hint": 0}),
        ("--accelerator_cache_policy=2", {"accelerator_cache_policy": 2}),
        ("--accelerator_binary_file=f", {"accelerator_binary_file": Path("f")}),
        ("--accelerator_storage_file=f", {"accelerator_storage_file": Path("f")}),
        ("--use_system_libhexagon_nn", {"use_system_libhexagon_nn": True}),
    ],
)
def test_run_flags(flag: str, change: dict[str, Any]) -> None:
    expected = dataclasses.replace(RunOptions(), **change)
    assert _run(flag) == expected
    if "=" in flag:
        name, value = flag.split("=")
        assert _run(name, value) == expected


@pytest.mark.parametrize(
    ("flag", "change"),
    [
        ("--build_dir=b", {"build_dir": Path("b")}),
        ("--output_dir=b", {"build_dir": Path("b")}),
        ("--dump_passes=p", {"dump_passes": Path("p")}),
        ("--enable_micro", {"enable_micro": True}),
        ("--cl_binary_to_code", {"cl_binary_to_code": True}),
        ("--vlog_level=1", {"vlog_level": 1}),
    ],
)
def test_convert_flags(flag: str, change: dict[str, Any]) -> None:
    assert _convert(flag) == dataclasses.replace(ConvertOptions(), **change)


@pytest.mark.parametrize("word", ["", "=true", "=1", "=ON", "=yes"])
def test_switch_on(word: str) -> None:
    assert _run(f"--validate{word}").validate


@pytest.mark.parametrize("word", ["=false", "=0", "=Off", "=no"])
def test_switch_off(word: str) -> None:
    assert not _run("--validate", f"--validate{word}").validate


@pytest.mark.parametrize(
    ("text", "expected", "chosen"),
    [
        (":", LayerRange(None, None), [0, 1, 2, 3, 4]),
        ("1:3", LayerRange(1, 3), [1, 2]),
        ("3:", LayerRange(3, None), [3, 4]),
        (":2", LayerRange(None, 2), [0, 1]),
        ("-2:", LayerRange(-2, None), [3, 4]),
        ("2", LayerRange(2, 3), [2]),
        ("7:9", LayerRange(7, 9), []),
    ],
)
def test_layers(text: str, expected: LayerRange, chosen: list[int]) -> None:
    layers = _run("--validate", f"--layers={text}").layers
    assert layers == expected
    assert list(expected.indices(5)) == chosen


def test_layers_minus_one_means_none() -> None:
    assert _run("--layers=-1").layers is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["--omp_num_threads=2"], ["--num_threads=2"]),
        (["--validate_all_layers"], ["--validate", "--layers=:"]),
        (["--validate_all_layers=false"], []),
        (["--check_gpu_out_of_memory"], ["--gpu_out_of_range_check"]),
        (["--check_gpu_out_of_memory=false"], []),
        (["--example"], []),
    ],
)
def test_old_run_flags(old: list[str], new: list[str]) -> None:
    assert _run(*old) == _run(*new)
    args = parser.parse(["run", "--config=d.yml", *old])
    (note,) = getattr(args, NOTES_DEST)
    assert note.startswith(old[0].split("=")[0])
    args = parser.parse(["run", "--config=d.yml", *new])
    assert getattr(args, NOTES_DEST) == ()


def test_benchmark_command_is_run_with_benchmark() -> None:
    assert _run("--round=3", command="benchmark") == _run("--benchmark", "--round=3")
    assert _run("--omp_num_threads=1", command="benchmark").num_threads == 1


def test_old_build_flags_are_accepted() -> None:
    argv = ["build", "--config=d.yml", "--tuning=true", "--enable_openmp=false"]
    args = parser.parse(argv)
    assert args.tuning
    (note,) = getattr(args, NOTES_DEST)
    assert note == "--enable_openmp has no effect any more"


@pytest.mark.parametrize(
    ("argv", "parts"),
    [
        ([], ["needs a command", "convert", "doctor"]),
        (["covnert"], ["'covnert'", "did you mean convert?"]),
        (["--config=x"], ["--config=x", "where a command is needed"]),
        (["convert"], ["--config", "converter.py convert -h"]),
        (["run", "--config="], ["--config", "empty path"]),
        (["run", "--config=d", "--rond=3"], ["--rond", "did you mean --round?"]),
        (["run", "--config=d", "--num-threads=3"], ["did you mean --num_threads?"]),
        (
            ["run", "--config=d", "--valdate", "--bnchmark", "1"],
            ["--validate?", "--benchmark?"],
        ),
        (["run", "--config=d", "stray"], ["unexpected argument 'stray'"]),
        (["run", "--config=d", "--rou=3"], ["unknown flag --rou"]),
        (["run", "--config=d", "--round=0"], ["--round", "'0'", "at least 1"]),
        (["run", "--config=d", "--round=x"], ["--round", "'x'"]),
        (["run", "--config=d", "--round"], ["--round", "expected one argument"]),
        (["run", "--config=d", "--num_threads=0"], ["'0'", "-1"]),
        (["run", "--config=d", "--vlog_level=6"], ["from 0 to 5"]),
        (["run", "--config=d", "--cpu_affinity_policy=5"], ["BIG_ONLY"]),
        (["run", "--config=d", "--gpu_perf_hint=max"], ["'max'", "3 (HIGH)"]),
        (["run", "--config=d", "--validate=maybe"], ["'maybe'", "true or false"]),
        (["run", "--config=d", "--caffe_env=vm"], ["'vm'", "docker"]),
        (
            ["run", "--config=d", "--tuning", "--disable_tuning"],
            ["--tuning and --disable_tuning exclude each other"],
        ),
        (["run", "--config=d", "--layers=:"], ["--layers needs --validate"]),
        (["run", "--config=d", "--full"], ["--full needs --benchmark"]),
        (
            ["run", "--config=d", "--duration=3", "--round=4"],
            ["--duration and --round exclude each other"],
        ),
        (
            ["run", "--config=d", "--duration=60", "--time_limit=60"],
            ["--duration=60", "--time_limit=60"],
        ),
        (
            ["run", "--config=d", "--fake_warmup", "--warmup_rounds=2"],
            ["--fake_warmup and --warmup_rounds exclude each other"],
        ),
        (["run", "--config=d", "--duration=-1"], ["--duration", "from 0 to 604800"]),
        (["run", "--config=d", "--layers=1:2:3"], ["'1:2:3'", "START:END"]),
        (["run", "--config=d", "--layers=a"], ["'a'", "START:END"]),
        (["run", "--config=d", "--runtime_failure_ratio=2"], ["'2'", "0 to 1"]),
        (["run", "--config=d", "--input_dir=/nowhere"], ["no such folder"]),
        (["run", "--config=d", "--device_yml=/nowhere"], ["no such file"]),
        (["convert", "--cofnig=d"], ["are required: --config", "mean --config?"]),
        (["convert", "a\nb/m.onnx"], ["'a\\nb/m.onnx'", "without line breaks"]),
        (["convert", "--config=a\x1b.yml"], ["without line breaks and other control"]),
        (["convert", "m.onnx", "--dims=batch"], ["--dims", "'batch'", "batch=1"]),
        (["convert", "m.onnx", "--dims=batch=0"], ["'batch=0'"]),
        (["convert", "m.onnx", "--set=sr"], ["--set", "'sr'", "sr=16000"]),
        (["convert", "m.onnx", "--set=sr=fast"], ["'sr=fast'"]),
        (["convert", "m.onnx", "--set=sr=[1,[2]]"], ["'sr=[1,[2]]'"]),
        (["convert", "m.onnx", "--set=a=1,b=2"], ["--set again"]),
        (["convert", "m.onnx", "--set==1"], ["'=1'"]),
        (
            ["run", "--round=0", "--rond", "3", "--vlog_level", "9", "--validte"],
            ["--round: found '0'", "from 0 to 5", "required: --config", "--validate?"],
        ),
        (
            ["run", "--config", "", "--round", "x", "--round=3"],
            ["--config: found an empty path", "--round: found 'x'"],
        ),
    ],
)
def test_usage_errors(argv: list[str], parts: list[str]) -> None:
    message = _usage_error(*argv)
    for part in parts:
        assert part in message


def test_what_is_wrong_is_not_missing() -> None:
    assert "required" not in _usage_error("run", "--config=", "--round=x")


@pytest.mark.parametrize("command", ["convert", "run", "explain", "benchmark", "build"])
def test_help_explains_every_flag(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parser.parse([command, "-h"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    for action in parser.command_parser(command)._actions:
        assert action.help, action.option_strings
        assert (action.option_strings or [str(action.metavar)])[-1] in text


def test_help_says_what_never_has_an_effect() -> None:
    for command, options in (("convert", ConvertOptions), ("run", RunOptions)):
        text = " ".join(parser.command_parser(command).format_help().split())
        for item in dataclasses.fields(options):
            flag = item.metadata.get("flag")  # None: it has none
            if flag is not None and flag.effect.why_never:
                said = flag.group.description or flag.effect.text()
                assert "in this release" in said or said.startswith("no effect: ")
                assert said in text, item.name


def test_help_of_the_tool_names_every_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as caught:
        parser.parse(["-h"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert text == parser.full_help()
    for command in parser.COMMANDS:
        assert re.search(rf"^    {command}\s", text, re.MULTILINE)


def test_numbers_of_dimensions_may_be_given_one_by_one() -> None:
    args = parser.parse(["convert", "m.onnx", "--dims=a=1,b=2", "--dims", "b=3"])
    assert args.dims == {"a": 1, "b": 3}
    assert parser.parse(["convert", "m.onnx"]).dims == {}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("16000", 16000),
        ("-1.5e3", -1500.0),
        ("True", True),
        ("-inf", float("-inf")),
        ("[1,2]", [1, 2]),
        ("1,2", [1, 2]),
        ("[[true, 0.5]]", [[True, 0.5]]),
    ],
)
def test_values_of_inputs(text: str, value: object) -> None:
    words = ["convert", "m.onnx", "--set=other=1", f"--set=sr={text}"]
    found = parser.parse(words).set
    assert {name: item.value for name, item in found.items()} == {
        "other": 1,
        "sr": value,
    }
    assert type(found["sr"].value) is type(value)
    assert {item.key for item in found.values()} == {"--set"}


def test_a_file_is_the_value_of_an_input() -> None:
    words = ["run", "m.onnx", "--set=mask=a/b.npy"]
    found = parser.parse(words).set["mask"]
    assert found.value is None
    assert found.file.candidates == (Path.cwd() / "a/b.npy",)

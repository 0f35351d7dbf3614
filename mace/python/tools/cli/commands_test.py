# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What each command asks of its room."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import importlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Union

import pytest

from mace.python.tools.calibrate.command import quantize_deployment
from mace.python.tools.calibrate.options import CalibrateOptions
from mace.python.tools.cli import commands
from mace.python.tools.cli.main import main
from mace.python.tools.cli.parser import COMMANDS, command_parser
from mace.python.tools.command_line.flags import OldFlag
from mace.python.tools.command_line.options import CommandOptions
from mace.python.tools.config.deployment import Deployment, folders_of
from mace.python.tools.config.keys import Section, keys_of, sections_below
from mace.python.tools.config.vocabulary import ModelFormat
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.inspection.options import ExplainOptions
from mace.python.tools.run.options import BuildOptions, RunOptions
from mace.python.tools.run.testing.project import Project

_ROOT = Path(__file__).resolve().parents[4]
_DEPLOYMENT = """library_name: lib
target_abis: [host, arm64]
models:
  net:
    platform: onnx
    model_file_path: net.onnx
    subgraphs:
      - {input_tensors: x, input_shapes: 1, output_tensors: y, output_shapes: 1}
    runtime: cpu+gpu
"""


class _Rooms:
    """Stands for the rooms: keeps what they are asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Deployment, Any]] = []
        self.passed = True

    def convert_deployment(
        self, deployment: Deployment, options: object, opened: object
    ) -> None:
        self.calls.append(("convert", deployment, options))

    def write_package(
        self, deployment: Deployment, folder: Path, built: Path, runtimes: str
    ) -> Path:
        self.calls.append(("package", deployment, (folder, built, runtimes)))
        return folder / "package"

    def run_deployment(
        self, deployment: Deployment, options: object, opened: object
    ) -> SimpleNamespace:
        self.calls.append(("run", deployment, options))
        return SimpleNamespace(passed=self.passed)


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch) -> _Rooms:
    result = _Rooms()
    convert = importlib.import_module("mace.python.tools.convert.convert")
    monkeypatch.setattr(convert, "convert_deployment", result.convert_deployment)
    package = importlib.import_module("mace.python.tools.convert.package")
    monkeypatch.setattr(package, "write_package", result.write_package)
    run = importlib.import_module("mace.python.tools.run.deployment_run")
    monkeypatch.setattr(run, "run_deployment", result.run_deployment)
    return result


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "net.yml"
    path.write_text(_DEPLOYMENT)
    return f"--config={path}"


def test_convert_gets_deployment_and_options(rooms: _Rooms, config: str) -> None:
    flags = ["--model_graph_format=code", "--build_dir=b", "--target_abis=armhf"]
    assert main(["convert", config, *flags]) == 0
    ((name, deployment, options),) = rooms.calls
    assert name == "convert"
    assert deployment.model_graph_format is ModelFormat.CODE
    assert [abi.value for abi in deployment.target_abis] == ["armhf"]
    assert options.build_dir == Path("b")


@pytest.mark.parametrize(("passed", "status"), [(True, 0), (False, 1)])
def test_run_status_tells_whether_validation_passed(
    rooms: _Rooms, config: str, passed: bool, status: int
) -> None:
    rooms.passed = passed
    assert main(["run", config, "--validate"]) == status
    ((name, _, options),) = rooms.calls
    assert name == "run"
    assert options.validate


def test_benchmark_is_a_run_and_says_so(
    rooms: _Rooms, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["benchmark", config, "--omp_num_threads=2"]) == 0
    ((name, _, options),) = rooms.calls
    assert name == "run"
    assert options.benchmark
    assert options.num_threads == 2
    message = capsys.readouterr().err
    assert "run --benchmark" in message
    assert "--num_threads" in message


_BAZEL = """#!/bin/sh
# Stands for Bazel: what it is asked, and files where it would make them.
echo "$@" >> "$LOG"
case $1 in
info) echo "$BIN" ;;
build) [ -z "$BROKEN" ] && dsp=$BIN/mace/kernels/hexagon &&
       mkdir -p "$dsp/fastrpc" "$dsp/executor" &&
       touch "$BIN/mace/libmace.a" "$BIN/mace/libmace.so" \
             "$dsp/fastrpc/libmace_hexagon_skel.so" "$dsp/executor/mace_hexagon_skel" ;;
esac
"""


class _Library:
    """The real script that builds the library, in a tree of its own."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.log = root / "asked"
        for name in ("build-standalone-lib.sh", "run_bazel.sh"):
            (root / "tools").mkdir(parents=True, exist_ok=True)
            shutil.copy(_ROOT / "tools" / name, root / "tools" / name)
        for header in ("public/mace.h", "pipeline/mace_pipeline.h"):
            (root / "mace" / header).parent.mkdir(parents=True, exist_ok=True)
            (root / "mace" / header).touch()
        bazel = root / "bazel"
        bazel.write_text(_BAZEL)
        bazel.chmod(0o755)
        monkeypatch.setattr(
            commands, "_BUILD_SCRIPT", root / "tools" / "build-standalone-lib.sh"
        )
        for name, value in (("BAZEL", bazel), ("LOG", self.log), ("BIN", root / "bin")):
            monkeypatch.setenv(name, str(value))

    def built(self) -> list[str]:
        files = (path for path in (self.root / "build").rglob("*") if path.is_file())
        return sorted(str(path.relative_to(self.root / "build")) for path in files)


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Library:
    return _Library(tmp_path / "tree", monkeypatch)


# The script asks for the tools that it needs besides Bazel.
_needs_strip = pytest.mark.skipif(
    shutil.which("llvm-strip-19") is None, reason="needs setup.sh --for build"
)


@_needs_strip
@pytest.mark.parametrize(
    ("runtime", "folder", "define"),
    [("cpu", "cpu", "false"), ("gpu", "cpu_gpu", "true"), ("dsp", "cpu_dsp", "false")],
)
def test_build_converts_then_builds_the_library(
    rooms: _Rooms,
    config: str,
    library: _Library,
    runtime: str,
    folder: str,
    define: str,
) -> None:
    path = Path(config.partition("=")[2])
    path.write_text(_DEPLOYMENT.replace("cpu+gpu", runtime))
    flags = ["--debug_mode", "--target_abis=host"]
    assert main(["build", config, *flags]) == 0
    (name, _, options), package = rooms.calls
    assert (name, options.debug_mode) == ("convert", True)
    built = library.root / "build"
    assert package[0::2] == ("package", (options.build_dir, built, folder))
    of_dsp = ["libmace_hexagon_skel.so", "mace_hexagon_skel"]
    assert library.built() == [
        "include/mace/pipeline/mace_pipeline.h",
        "include/mace/public/mace.h",
        *(
            f"lib/host/{folder}/{name}"
            for name in [
                "libmace.a",
                "libmace.so",
                *(of_dsp if "dsp" in folder else ()),
            ]
        ),
    ]
    calls = library.log.read_text().splitlines()
    build, *others = (call for call in calls if call.startswith("build"))
    dsp = "true" if others else "false"
    defines = f"--define=opencl={define} --define=hexagon={dsp}"
    assert f"--config=debug --config=host {defines}" in build
    assert [call.split(":")[-1] for call in others] == (of_dsp if others else [])
    assert bool(others) == (runtime == "dsp")


@_needs_strip
@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("runtime", ["cpu+gpu", "gpu", "cpu"])
def test_build_tunes_models_of_the_gpu(
    rooms: _Rooms, config: str, runtime: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """After the conversion, so that the package has the tuned parameters."""
    path = Path(config.partition("=")[2])
    path.write_text(_DEPLOYMENT.replace("cpu+gpu", runtime))
    flags = ["--tuning", "--debug_mode", "--target_abis=host", "--build_dir=b"]
    assert main(["build", config, *flags]) == 0
    tuned = ["run"] if "gpu" in runtime else []
    assert [call[0] for call in rooms.calls] == ["convert", *tuned, "package"]
    for _, _, options in rooms.calls[1:-1]:
        assert isinstance(options, RunOptions)
        assert (options.tuning, options.build_dir) == (True, Path("b"))
    told = "--tuning has no effect: no model of" in capsys.readouterr().err
    assert told == (not tuned)


@_needs_strip
@pytest.mark.usefixtures("library")
def test_build_packs_nothing_if_tuning_failed(
    rooms: _Rooms, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rooms.passed = False
    assert main(["build", config, "--tuning", "--target_abis=host"]) == 2
    assert [call[0] for call in rooms.calls] == ["convert", "run"]
    assert "--tuning failed" in capsys.readouterr().err


@_needs_strip
def test_a_library_whose_build_fails(
    rooms: _Rooms, config: str, library: _Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROKEN", "1")
    assert main(["build", config, "--target_abis=host"]) == 2
    assert [call[0] for call in rooms.calls] == ["convert"]
    assert library.built() == []


def test_a_library_that_cannot_be_built_costs_no_conversion(
    rooms: _Rooms, config: str, library: _Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANDROID_NDK_HOME", raising=False)
    assert main(["build", config, "--target_abis=arm64-v8a"]) == 2
    assert rooms.calls == []
    assert not library.log.exists()


@_needs_strip
@pytest.mark.parametrize(
    ("flags", "folders"),
    [
        ((), {"arm64-v8a": "cpu_gpu", "host": "cpu"}),
        (("-runtimes=cpu",), {"arm64-v8a": "cpu", "host": "cpu"}),
        (("-runtimes", "cpu,gpu"), {"arm64-v8a": "cpu_gpu", "host": "cpu_gpu"}),
        (("--runtimes=gpu",), {"arm64-v8a": "cpu_gpu", "host": "cpu_gpu"}),
        (("-runtimes=cpu_gpu",), {"arm64-v8a": "cpu_gpu", "host": "cpu_gpu"}),
        (("-runtimes=dsp",), {"arm64-v8a": "cpu_dsp", "host": "cpu_dsp"}),
        (
            ("-runtimes=cpu,gpu,dsp",),
            {"arm64-v8a": "cpu_gpu_dsp", "host": "cpu_gpu_dsp"},
        ),
    ],
)
def test_libraries_are_kept_by_abi_and_devices(
    library: _Library,
    monkeypatch: pytest.MonkeyPatch,
    flags: tuple[str, ...],
    folders: dict[str, str],
    tmp_path: Path,
) -> None:
    """For Android with the GPU, unless it is asked otherwise."""
    ndk = tmp_path / "ndk"
    ndk.mkdir()
    (ndk / "source.properties").write_text("Pkg.Revision = 27.2.12479018\n")
    monkeypatch.setenv("ANDROID_NDK_HOME", str(ndk))
    script = library.root / "tools" / "build-standalone-lib.sh"
    words = ["bash", str(script), "-abi=arm64-v8a,host", "-static", "-debug", *flags]
    subprocess.run(words, check=True, capture_output=True)
    built = []
    for abi, folder in sorted(folders.items()):
        names = ["libmace.a"]
        if "dsp" in folder:
            names.append("libmace_hexagon_skel.so")
            # Nothing emulates a DSP on phones.
            names += ["mace_hexagon_skel"] if abi == "host" else []
        built += [f"lib/{abi}/{folder}/{name}" for name in names]
    assert [path for path in library.built() if path.startswith("lib")] == built


def test_bad_deployment_reaches_no_room(rooms: _Rooms, config: str) -> None:
    assert main(["run", config, "--target_abis=mips"]) == 2
    assert rooms.calls == []


_TOOLS = Path(__file__).resolve().parents[1]
# What goes through all keys, whatever they are.
_GENERAL = tuple(f"mace.python.tools.config.{m}" for m in ("keys", "effect", "load"))

_OPTIONS: dict[str, type[Union[CommandOptions]]] = {
    "convert": ConvertOptions,
    "quantize": CalibrateOptions,
    "run": RunOptions,
    "benchmark": RunOptions,
    "explain": ExplainOptions,
    "build": BuildOptions,
}
# What the command line itself acts on, besides options and keys.
_OF_COMMAND_LINE = {"help", "config", "verbose", "vlog_level"}


@pytest.fixture
def keys_read(monkeypatch: pytest.MonkeyPatch) -> set[tuple[type, str]]:
    """Fills with the keys that code asks a deployment for."""
    found: set[tuple[type, str]] = set()
    plain = Section.__getattribute__

    def recorded(self: Section, name: str) -> Any:
        caller = sys._getframe(1).f_globals["__name__"]
        if caller.startswith("mace.") and caller not in _GENERAL:
            found.add((type(self), name))
        return plain(self, name)

    monkeypatch.setattr(Section, "__getattribute__", recorded)
    return found


def test_every_key_is_read_or_told_to_have_no_effect(
    project: Project, keys_read: set[tuple[type, str]]
) -> None:
    project.convert_and_run(validate=True)
    project.samples()
    folders_of(project.deployment().custom_ops)
    calibrated = project.deployment(model="calibration:\n  input_dir: samples")
    options = CalibrateOptions(build_dir=project.build_dir)
    quantize_deployment(calibrated, options)
    unread = [
        key.name
        for section in sections_below(Deployment)
        for key in keys_of(section).values()
        if (section, key.name) not in keys_read
        and not key.effect.why_never
        and not key.effect.rules
        # A checksum becomes part of the file's own value when the file is loaded.
        and not key.verifies
    ]
    assert not unread


def test_every_hint_is_one_of_the_model_file(project: Project) -> None:
    from mace.python.tools.proto import load_proto

    hints = load_proto("mace/proto/mace.proto").DeploymentHints.DESCRIPTOR.fields
    handed_over = project.deployment().models["m"].hints()
    assert set(handed_over) == {hint.name for hint in hints}


def _read_of_options() -> set[str]:
    """What code reads of something that is called options, or is a field of it."""
    found: set[str] = set()
    for path in _TOOLS.rglob("*.py"):
        if path.name.endswith("_test.py") or "testing" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                owner = node.value
                name = getattr(owner, "attr", getattr(owner, "id", ""))
                if name.lstrip("_") in ("options", "args"):
                    found.add(node.attr)
    return found


def _flags(command: str) -> Iterator[argparse.Action]:
    for action in command_parser(command)._actions:
        if isinstance(action, OldFlag):
            # It says what it is now, or that it has no effect.
            assert action._advice
        else:
            yield action


@pytest.mark.parametrize("command", COMMANDS)
def test_every_flag_is_read_or_told_to_have_no_effect(command: str) -> None:
    read = _read_of_options()
    effects = {
        item.name: item.metadata["flag"].effect
        for item in dataclasses.fields(_OPTIONS.get(command, CommandOptions))
        if "flag" in item.metadata
    }
    replaceable = {k.name for k in keys_of(Deployment).values() if k.replaceable}
    for action in _flags(command):
        if action.dest in replaceable | _OF_COMMAND_LINE or action.dest in read:
            continue
        effect = effects[action.dest]
        assert effect.why_never or effect.rules, action.dest

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What each command asks of its room."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mace.python.tools.cli import commands
from mace.python.tools.cli.main import main
from mace.python.tools.config import Deployment, ModelFormat

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

    def convert_deployment(self, deployment: Deployment, options: object) -> None:
        self.calls.append(("convert", deployment, options))

    def run_deployment(
        self, deployment: Deployment, options: object
    ) -> SimpleNamespace:
        self.calls.append(("run", deployment, options))
        return SimpleNamespace(passed=self.passed)


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch) -> _Rooms:
    result = _Rooms()
    convert = importlib.import_module("mace.python.tools.convert")
    monkeypatch.setattr(convert, "convert_deployment", result.convert_deployment)
    run = importlib.import_module("mace.python.tools.run")
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


@pytest.mark.parametrize(("script_status", "status"), [(0, 0), (1, 2)])
def test_build_converts_then_builds_the_library(
    rooms: _Rooms,
    config: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script_status: int,
    status: int,
) -> None:
    script = tmp_path / "build.sh"
    log = tmp_path / "arguments"
    script.write_text(f'echo "$@" > {log}\nexit {script_status}\n')
    monkeypatch.setattr(commands, "_BUILD_SCRIPT", script)
    assert main(["build", config, "--tuning", "--debug_mode"]) == status
    assert [call[0] for call in rooms.calls] == ["convert"]
    assert log.read_text() == "-abi host,arm64 -runtimes cpu,gpu -debug\n"


def test_bad_deployment_reaches_no_room(rooms: _Rooms, config: str) -> None:
    assert main(["run", config, "--target_abis=mips"]) == 2
    assert rooms.calls == []

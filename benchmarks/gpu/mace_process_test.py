# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.gpu import mace_process
from benchmarks.gpu.mace_process import Log, MaceError, launches_of, on_cpu, read_log

# As mace_run writes them.
_CONTEXT = (
    "I opencl_runtime.cc:198 GPU: NVIDIA H200, OpenCL 3.0 CUDA, driver 580.1, "
    "132 compute unit(s)"
)
_PROGRAMS = "I opencl_runtime.cc:420 made 10 OpenCL programs in 1527 ms"
_LOADED = "I engine.cc:74 loaded model 'm': 39 operators, 8 bytes of constants"
_LAUNCH = "I timed_run.cc:60 GPU: kernel conv2d for 'r0': 3.25 us"


def test_the_log_tells_the_time_beyond_the_context() -> None:
    log = read_log([(1.0, _CONTEXT), (1.5, _PROGRAMS), (1.75, _LOADED), (1.8, "I x")])
    assert log == Log(
        "NVIDIA H200, OpenCL 3.0 CUDA, driver 580.1, 132 compute unit(s)",
        750.0,
        10,
        1527.0,
        0,
    )


def test_a_self_test_in_a_child_does_not_count() -> None:
    child = [(1.0, _CONTEXT), (2.0, _PROGRAMS), (2.5, _LOADED)]
    log = read_log([*child, (3.0, _CONTEXT), (3.1, _PROGRAMS), (3.25, _LOADED)])
    assert (log.beyond_ms, log.programs) == (250.0, 10)


def test_a_model_on_the_cpu_has_no_context() -> None:
    log = read_log([(1.0, _LOADED)])
    assert (log.device, log.beyond_ms, log.launches) == ("", None, 0)
    assert read_log([(1.0, _LOADED), (2.0, _CONTEXT)]).beyond_ms is None


def test_launches_are_counted_in_the_log() -> None:
    other = "I opencl_commands.cc:121 GPU: kernel conv2d in 3 parts"
    lines = [_CONTEXT, _LAUNCH, _LAUNCH.replace("3.25", "1e-05"), other]
    assert read_log([(0.0, line) for line in lines]).launches == 2


def _operator(device: str, kernel: str, remark: str = "") -> dict[str, str]:
    return {"name": kernel or "c", "device": device, "kernel": kernel, "remark": remark}


def test_launches_are_counted_in_the_placement() -> None:
    operators = [
        _operator("gpu", "winograd2_input + conv2d + winograd2_output"),
        _operator("gpu", "pooling", "computed with 'softmax'"),
        _operator("gpu", "softmax"),
        _operator("gpu", "", "without a launch"),
        _operator("cpu", "gemm"),
    ]
    report = {"placement": {"operators": operators}}
    assert launches_of(report) == 4
    assert on_cpu(report) == ["gemm"]


def _program(folder: Path, body: str) -> Path:
    path = folder / "mace_run"
    path.write_text(f"#!/usr/bin/env python3\nimport sys, time\n{body}\n")
    path.chmod(0o755)
    return path


_REPORT: dict[str, Any] = {
    "restarts": [{"init_ms": 3, "warmup_ms": 2, "run_ms": {"values": [1, 1.5]}}]
}


def test_a_run_has_a_report_a_log_and_memory(tmp_path: Path) -> None:
    body = f"""
for line in {[_CONTEXT, _LOADED]!r}:
    print(line, file=sys.stderr, flush=True)
    time.sleep(0.05)
path = next(a for a in sys.argv if a.startswith("--report_json=")).split("=")[1]
assert "--vlog_level=1" in sys.argv
open(path, "w").write({json.dumps(_REPORT)!r})
"""
    program = _program(tmp_path, body)
    outcome = mace_process.run(program, [], tmp_path, sample_memory=True)
    assert outcome.run_ms() == [1.0, 1.5]
    assert (outcome.init_ms(), outcome.first_ms()) == (3.0, 2.0)
    assert outcome.log.beyond_ms is not None
    assert 45 < outcome.log.beyond_ms < 5000
    assert outcome.anonymous_bytes > 100_000


def test_a_failure_has_the_message_of_mace_run(tmp_path: Path) -> None:
    body = "print('E no driver\\nx', file=sys.stderr); sys.exit(2)"
    program = _program(tmp_path, body)
    with pytest.raises(MaceError, match="status 2: E no driver$"):
        mace_process.run(program, [], tmp_path)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs `mace_run` and reads what it says about the GPU.

Lines of its log get the time at which they were written: the runtime says when the
context is there and when the model is loaded. Needs the standard library alone.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CONTEXT = re.compile(r"opencl_runtime\.cc:\d+ GPU: (?P<device>.*)")
_PROGRAMS = re.compile(
    r"opencl_runtime\.cc:\d+ made (?P<count>\d+) OpenCL programs in (?P<ms>\d+) ms"
)
_LOADED = re.compile(r"engine\.cc:\d+ loaded model ")
_LAUNCH = re.compile(r"timed_run\.cc:\d+ GPU: .*: [0-9.e+-]+ us$")
_TOGETHER = "computed with "
# Of a process that compiles hundreds of kernels on a slow computer.
_TIMEOUT_SECONDS = 600.0


class MaceError(Exception):
    """mace_run failed; the message is its own."""


@dataclass(frozen=True)
class Log:
    """What the log says.

    Attributes:
        device: name and driver of the GPU; empty if it was not opened.
        beyond_ms: from the context to the loaded model; None without a GPU.
        programs: how many were compiled or read.
        programs_ms: of that.
        launches: in all runs; 0 unless the log is detailed.
    """

    device: str
    beyond_ms: float | None
    programs: int
    programs_ms: float
    launches: int


@dataclass(frozen=True)
class Outcome:
    """A run of mace_run.

    Attributes:
        report: as tools/README.md describes it.
        log: what the log says.
        anonymous_bytes: of the process when the model was loaded; 0 if not requested.
    """

    report: dict[str, Any]
    log: Log
    anonymous_bytes: int

    def init_ms(self) -> float:
        """The time to create the engine, with the context."""
        return float(self.report["restarts"][-1]["init_ms"])

    def first_ms(self) -> float:
        """The time of the first run."""
        return float(self.report["restarts"][-1]["warmup_ms"])

    def run_ms(self) -> list[float]:
        """The times of the other runs."""
        return [float(ms) for ms in self.report["restarts"][-1]["run_ms"]["values"]]


def read_log(lines: Iterable[tuple[float, str]]) -> Log:
    """Reads lines with the seconds at which they came.

    A self-test opens the context in a child process first; the last line counts.
    """
    device, opened, loaded = "", None, None
    programs, programs_ms, launches = 0, 0.0, 0
    for when, line in lines:
        if found := _CONTEXT.search(line):
            device, opened, loaded = found["device"], when, None
            programs, programs_ms = 0, 0.0
        elif found := _PROGRAMS.search(line):
            programs += int(found["count"])
            programs_ms += float(found["ms"])
        elif _LOADED.search(line):
            loaded = when
        elif _LAUNCH.search(line):
            launches += 1
    beyond = None
    if opened is not None and loaded is not None:
        beyond = (loaded - opened) * 1e3
    return Log(device, beyond, programs, programs_ms, launches)


def launches_of(report: Mapping[str, Any]) -> int:
    """The launches of a run: the kernels that a report names."""
    return sum(
        op["kernel"].count(" + ") + 1
        for op in report["placement"]["operators"]
        if op["device"] == "gpu" and op["kernel"] and _TOGETHER not in op["remark"]
    )


def on_cpu(report: Mapping[str, Any]) -> list[str]:
    """The operators that do not run on the GPU."""
    operators = report["placement"]["operators"]
    return [op["name"] for op in operators if op["device"] != "gpu"]


def _anonymous_bytes(pid: int) -> int:
    """Stops the process, reads its memory that no file backs, and continues it."""
    os.kill(pid, signal.SIGSTOP)
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    finally:
        os.kill(pid, signal.SIGCONT)
    found = re.search(r"RssAnon:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


def run(
    program: Path,
    flags: Sequence[str],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    sample_memory: bool = False,
) -> Outcome:
    """Runs it once, with its log.

    Args:
        flags: beside those for the report and the log.
        folder: for its files.
        variables: of the environment, beside those of this process.
        sample_memory: stop it when the model is loaded, and read its memory. Its
            times then mean nothing.

    Raises:
        MaceError: it failed.
    """
    path = folder / "report.json"
    command = [str(program), "--check_weights=false", f"--report_json={path}"]
    if not any(flag.startswith("--vlog_level") for flag in flags):
        command.append("--vlog_level=1")
    lines: list[tuple[float, str]] = []
    anonymous = 0
    end = time.monotonic() + _TIMEOUT_SECONDS
    with (
        (folder / "stdout.txt").open("wb") as output,
        subprocess.Popen(
            [*command, *flags],
            stdout=output,
            stderr=subprocess.PIPE,
            env={**os.environ, **(variables or {})},
            text=True,
            errors="replace",
        ) as process,
    ):
        assert process.stderr
        for line in process.stderr:
            lines.append((time.perf_counter(), line.rstrip()))
            if sample_memory and _LOADED.search(line):
                anonymous = _anonymous_bytes(process.pid)
            if time.monotonic() > end:
                process.kill()
    if process.returncode != 0:
        errors = [line for _, line in lines if line.startswith("E ")] or [
            line for _, line in lines[-1:]
        ]
        message = " ".join(errors)[:400] or "without a message"
        raise MaceError(f"mace_run ended with status {process.returncode}: {message}")
    report = json.loads(path.read_text(encoding="utf-8"))
    return Outcome(report, read_log(lines), anonymous)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.quality import motion, run_steps
from tools.quality.motion import Motion, processes_of
from tools.quality.test_steps import Step, count_one

# Session 0 has processes: the kernel's threads, which compute at times.
_NO_SESSION = -1


@pytest.fixture(name="clock")
def clock_fixture(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """A clock that the test moves."""
    now = [1000.0]
    monkeypatch.setattr("tools.quality.motion.time.monotonic", lambda: now[0])
    yield now


def start(script: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", script], start_new_session=True)


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def test_output_is_motion(tmp_path: Path, clock: list[float]) -> None:
    log = tmp_path / "log"
    log.write_text("begun\n")
    watched = Motion(_NO_SESSION, log, tmp_path)
    clock[0] += 60
    assert watched.still_s() == 0
    clock[0] += 60
    assert watched.still_s() == 60
    log.write_text("begun\n.")
    clock[0] += 60
    assert watched.still_s() == 0


def test_bazel_that_waits_does_not_move(tmp_path: Path, clock: list[float]) -> None:
    log = tmp_path / "log"
    log.write_text("[1 / 9] Compiling a.cc; 5s\n")
    watched = Motion(_NO_SESSION, log, tmp_path)
    for seconds, line, still in (
        (30, "[1 / 9] Compiling a.cc; 35s\n", 0),
        (30, "[1 / 9] Compiling a.cc; 65s\n", 30),
        (30, "[2 / 9] Compiling b.cc; 1s\n", 0),
    ):
        with log.open("a") as stream:
            stream.write(line)
        clock[0] += seconds
        assert watched.still_s() == still


def test_processes_that_compute_move_for_a_while(
    tmp_path: Path, clock: list[float]
) -> None:
    log = tmp_path / "log"
    log.write_text("")
    process = start("while True: pass")
    try:
        watched = Motion(process.pid, log, tmp_path)
        for seconds in (40, 80):
            before = processes_of(process.pid, tmp_path)[0].cpu_s
            while processes_of(process.pid, tmp_path)[0].cpu_s < before + 1:
                time.sleep(0.05)
            clock[0] += 40
            # Silent, but busy.
            assert watched.still_s() == seconds / 4
    finally:
        process.kill()
        process.wait()


def test_what_a_session_does(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    script = (
        "import subprocess, sys, time;"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        f"open({str(mark)!r}, 'w').close(); time.sleep(60)"
    )
    process = start(script)
    try:
        wait_for(mark)
        found = processes_of(process.pid, tmp_path)
        assert process.pid in {one.number for one in found}
        assert len(found) == 2
        doing = Motion(process.pid, mark, tmp_path).doing()
        assert "import time; time.sleep(60)" in doing
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_server_of_bazel_belongs_to_all_sessions(tmp_path: Path) -> None:
    script = "import time; time.sleep(60)"
    flag = f"--workspace_directory={tmp_path}"
    server = subprocess.Popen([sys.executable, "-c", script, flag])
    try:
        while not processes_of(_NO_SESSION, tmp_path):
            time.sleep(0.01)
        assert [one.number for one in processes_of(_NO_SESSION, tmp_path)] == [
            server.pid
        ]
        assert processes_of(_NO_SESSION, tmp_path / "other") == []
    finally:
        server.kill()
        server.wait()


def test_step_that_stands_still_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(motion, "_EVERY_S", 0.1)
    step = Step(
        "step",
        "",
        ("sh", "-c", "echo last words; sleep 600"),
        count_one,
        still_minutes=0.01,
    )
    (_, result) = run_steps.run_all([step], tmp_path)
    assert isinstance(result, run_steps.Result)
    assert (result.counts.passed, result.counts.failed) == (0, 1)
    log = (tmp_path / "step.log").read_text()
    assert log.startswith("last words\n")
    assert "ended: nothing has moved for 0.01 minutes" in log
    assert "sleep 600" in log


def test_slow_step_that_moves_is_not_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(motion, "_EVERY_S", 0.05)
    script = "for i in $(seq 30); do echo $i; sleep 0.1; done"
    step = Step("step", "", ("sh", "-c", script), count_one, still_minutes=0.02)
    (_, result) = run_steps.run_all([step], tmp_path)
    assert isinstance(result, run_steps.Result)
    assert result.counts.passed == 1
    assert result.seconds > 0.02 * 60

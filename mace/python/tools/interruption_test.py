# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Signals that wait, and children that end with us."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.interruption import run_child, signals_held

_ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """As in a terminal, whoever started the tests."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


@pytest.mark.usefixtures("_interruptible")
def test_a_signal_waits_for_the_end_of_the_body() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):
        with signals_held():
            signal.raise_signal(signal.SIGINT)
            done.append("body")
    assert done == ["body"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_ignored_signal_stays_ignored() -> None:
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with signals_held():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, previous)


def test_other_threads_are_let_be() -> None:
    ran = []

    def work() -> None:
        with signals_held():
            ran.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ran == [True]


def test_a_child_gives_status_and_output(tmp_path: Path) -> None:
    script = 'echo out; echo "$WORD" >&2; pwd; exit 3'
    result = run_child(["sh", "-c", script], tmp_path, {"WORD": "err"}, True)
    assert result.returncode == 3
    assert result.stdout == f"out\n{tmp_path}\n"
    assert result.stderr == "err\n"


@pytest.mark.parametrize("stubborn", [False, True])
def test_an_interruption_ends_a_child_and_its_children(
    tmp_path: Path, stubborn: bool
) -> None:
    """A real process: Ctrl-C while its child's child runs."""
    code = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(_ROOT)!r})
from mace.python.tools import interruption
interruption._GRACE_S = 0.5
trap = 'trap "" TERM; ' if {stubborn} else ''
interruption.run_child(
    ['sh', '-c', trap + 'sh -c "' + trap.replace('"', "'") + 'echo $$ > pid; '
     'while :; do sleep 0.1; done"; echo went on > after'],
    Path('.'),
)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    pid_file = tmp_path / "pid"
    limit = time.monotonic() + 60
    while not (pid_file.exists() and pid_file.read_text().strip()):
        assert time.monotonic() < limit and process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=600)
    grandchild = Path("/proc") / pid_file.read_text().strip() / "stat"
    limit = time.monotonic() + 20
    while _runs(grandchild):
        assert time.monotonic() < limit
        time.sleep(0.05)
    assert not (tmp_path / "after").exists()


def _runs(stat: Path) -> bool:
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Locks between processes."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.devices import DeviceError, DeviceStoppedError, device_lock
from mace.python.tools.errors import UsageError

_HOLDER = """\
import sys, time
from pathlib import Path
from mace.python.tools.devices import device_lock
with device_lock("adb:1", folder=Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has device adb:1."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[4],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_device_in_use_names_its_user(
    holder: subprocess.Popen[str], tmp_path: Path
) -> None:
    message = f"adb:1 is in use by .*process {holder.pid}"
    with pytest.raises(DeviceError, match=message):
        with device_lock("adb:1", wait_s=0, folder=tmp_path):
            pass
    with device_lock("adb:2", wait_s=0, folder=tmp_path):
        pass


def test_the_lock_ends_with_its_process(
    holder: subprocess.Popen[str], tmp_path: Path
) -> None:
    threading.Timer(0.5, lambda: holder.send_signal(signal.SIGKILL)).start()
    begin = time.monotonic()
    with device_lock("adb:1", wait_s=30, folder=tmp_path):
        assert 0.3 < time.monotonic() - begin < 20


def test_waiting_can_be_stopped(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(DeviceStoppedError):
        with device_lock("adb:1", stop, wait_s=60, folder=tmp_path):
            pass


def test_threads_take_turns(tmp_path: Path) -> None:
    inside = []
    overlaps = []

    def work() -> None:
        with device_lock("adb:1", folder=tmp_path):
            inside.append(1)
            overlaps.append(len(inside))
            time.sleep(0.05)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert overlaps == [1, 1, 1]


@pytest.mark.parametrize("text", ["abc", "-1", "nan", "inf"])
def test_a_wait_that_is_no_time(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MACE_DEVICE_WAIT_S", text)
    with pytest.raises(UsageError, match=f"MACE_DEVICE_WAIT_S={text}: accepted: sec"):
        with device_lock("adb:1", folder=tmp_path):
            pass


def test_no_place_for_locks(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DeviceError, match="folder of device locks"):
        with device_lock("adb:1", folder=tmp_path / "file" / "locks"):
            pass

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Locks between processes."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.devices import (
    DeviceError,
    DeviceStoppedError,
    FoundDevice,
    HostDevice,
    device_lease,
    device_lock,
)
from mace.python.tools.devices.device import SCRATCH
from mace.python.tools.devices.lock import on_each_device
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


def _names(folder: Path) -> list[str]:
    """The files that are there while a device is in use."""
    with device_lock("adb:1", folder=folder):
        return sorted(path.name for path in folder.iterdir())


def test_links_that_another_user_put_there_are_not_followed(tmp_path: Path) -> None:
    names = _names(tmp_path / "model")
    assert len(names) == 2
    victim = tmp_path / "victim"
    for name in names:
        victim.write_text("precious")
        folder = tmp_path / f"locks.{name}"
        folder.mkdir()
        (folder / name).symlink_to(victim)
        if name.endswith(".lock"):
            with pytest.raises(DeviceError, match="it is a symbolic link; remove"):
                _names(folder)
        else:
            _names(folder)
        assert victim.read_text() == "precious"


def test_a_folder_that_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "locks").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DeviceError, match="folder of device locks: it is a symbolic"):
        _names(tmp_path / "locks")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_lock_that_is_no_file(tmp_path: Path) -> None:
    lock = next(name for name in _names(tmp_path) if name.endswith(".lock"))
    (tmp_path / lock).unlink()
    os.mkfifo(tmp_path / lock)
    with pytest.raises(DeviceError, match="is not a regular file; remove it"):
        _names(tmp_path)


def test_a_holder_cannot_steer_the_terminal(tmp_path: Path) -> None:
    with device_lock("adb:1", folder=tmp_path):
        claim = next(tmp_path.glob("*.holder"))
        claim.write_bytes(b"me\x1b]0;owned\x07\n" + b"x" * 5000)
        with pytest.raises(DeviceError, match=r"in use by me\]0;ownedx{1,1000};"):
            with device_lock("adb:1", wait_s=0, folder=tmp_path):
                pass


def test_users_cannot_remove_each_others_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "made"
    _names(made)
    assert stat.S_IMODE(made.stat().st_mode) == 0o1777
    # Of an earlier release, or made by hand.
    mine = tmp_path / "mine"
    mine.mkdir()
    mine.chmod(0o777)
    _names(mine)
    assert stat.S_IMODE(mine.stat().st_mode) == 0o1777
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    theirs.chmod(0o777)
    monkeypatch.setattr(os, "getuid", lambda: theirs.stat().st_uid + 1)
    with pytest.raises(DeviceError, match=r"let its owner \w+ run `chmod \+t "):
        _names(theirs)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
def test_two_users_take_turns() -> None:
    def try_as(user: int) -> int:
        child = os.fork()
        if child == 0:
            status = 2
            try:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
                with device_lock("adb:1", wait_s=0, folder=folder):
                    status = 0
            except DeviceError as error:
                status = 1 if "in use by " in str(error) else 2
            finally:
                os._exit(status)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    with tempfile.TemporaryDirectory() as parent:
        os.chmod(parent, 0o755)
        folder = Path(parent) / "locks"
        assert try_as(65534) == 2  # It may not make the folder.
        with device_lock("adb:1", folder=folder):
            assert try_as(65534) == 1
        assert try_as(65534) == 0
        assert try_as(65533) == 0
        with device_lock("adb:1", wait_s=0, folder=folder):
            pass


class _Far(HostDevice):
    """Another computer, for all that the caller knows."""

    @property
    def is_local(self) -> bool:
        return False

    @property
    def address(self) -> str:
        return f"far:{self.work_dir}"


def _devices(
    folder: Path, count: int, kind: type[HostDevice] = _Far
) -> list[FoundDevice]:
    found = []
    for number in range(count):
        device = kind(folder / str(number))
        found.append(FoundDevice(device, device.probe(), ()))
    return found


def _hang(item: FoundDevice) -> str:
    return item.device.run(["sh", "-c", "sleep 7776"]).output


def test_results_come_in_the_order_of_the_devices(tmp_path: Path) -> None:
    found = _devices(tmp_path, 4)

    def work(item: FoundDevice) -> int:
        number = found.index(item)
        time.sleep(0.05 * (4 - number))
        return number

    assert on_each_device(found, work) == [0, 1, 2, 3]
    assert on_each_device([], work) == []


def test_devices_work_at_the_same_time(tmp_path: Path) -> None:
    meet = threading.Barrier(3, timeout=600)
    on_each_device(_devices(tmp_path, 3), lambda item: meet.wait())


def test_those_of_this_computer_take_turns(tmp_path: Path) -> None:
    inside: list[FoundDevice] = []
    most = []

    def work(item: FoundDevice) -> None:
        inside.append(item)
        most.append(len(inside))
        time.sleep(0.05)
        inside.remove(item)

    on_each_device(_devices(tmp_path, 3, HostDevice), work)
    assert most == [1, 1, 1]


def test_an_exception_stops_all_and_is_raised(tmp_path: Path) -> None:
    found = _devices(tmp_path, 3)
    stopped = []

    def work(item: FoundDevice) -> str:
        if item is found[1]:
            time.sleep(0.3)
            raise ValueError("a defect")
        try:
            return _hang(item)
        except DeviceStoppedError:
            stopped.append(item)
            raise

    begin = time.monotonic()
    with pytest.raises(ValueError, match="a defect"):
        on_each_device(found, work)
    assert time.monotonic() - begin < 20
    assert len(stopped) == 2


def test_ctrl_c_ends_programs_and_leaves_devices_tidy(tmp_path: Path) -> None:
    found = _devices(tmp_path, 2)

    def work(item: FoundDevice) -> str:
        with device_lease(item.device):
            item.device.prepare()
            item.device.make_folder(SCRATCH / "io")
            return _hang(item)

    threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        on_each_device(found, work)
    for item in found:
        assert not Path(item.device.work_dir / SCRATCH).exists()

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Several devices at once, with folders of this computer in their place."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from mace.python.tools.devices import (
    DeviceStoppedError,
    FoundDevice,
    HostDevice,
    device_lease,
)
from mace.python.tools.devices.device import SCRATCH
from mace.python.tools.devices.together import on_each_device


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

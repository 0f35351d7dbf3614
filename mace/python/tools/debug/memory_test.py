# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of a program on an emulated phone."""

from __future__ import annotations

import re
import threading
from pathlib import Path, PurePosixPath

import pytest

from mace.python.tools.debug import main
from mace.python.tools.devices.adb import AdbDevice
from mace.python.tools.devices.adb_client import find_adb
from test.device_farm.farm import Running


def test_memory_of_a_running_program(
    phones: list[Running],
    program: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """While somebody else uses the phone, who is not disturbed."""
    device = AdbDevice(find_adb(), phones[0].address)
    device.probe()
    device.prepare()
    device.push(program, PurePosixPath("mace_run"))
    device_flag = f"--devices_to_run={phones[0].address}"
    results = []
    user = threading.Thread(
        target=lambda: results.append(device.run(["./mace_run", "hold"]))
    )
    user.start()
    try:
        status = main(
            ["memory", "--dumpsys", "--interval=0.2", "--wait=20", device_flag]
        )
    finally:
        user.join()
    assert status == 0
    assert [result.status for result in results] == [0]
    output = capsys.readouterr().out
    peaks = [float(x) for x in re.findall(r"/\d+: peak ([\d.]+) MiB", output)]
    assert len(peaks) == 1
    # The program's own, and at most the emulator's besides.
    assert 32 <= peaks[0] < 400
    assert re.search(r"dumpsys meminfo \d+ on MI 6:", output)
    assert "TOTAL PSS" in output
    device.close()


def test_memory_of_nothing(
    phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["memory", "--process=no_such_program", "--wait=0.5"]) == 2
    assert "no process no_such_program within 0 s on MI 6" in capsys.readouterr().err

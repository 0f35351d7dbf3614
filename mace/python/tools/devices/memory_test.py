# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The memory of a real program, and what devices print about it."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from mace.python.tools.devices import HostDevice, memory

_ANDROID = """\
@ 100.25
VmHWM:\t   2000 kB
VmRSS:\t   1000 kB
VmSwap:\t      8 kB
Threads:\t4
Pss:                 900 kB
        TOTAL     1234     1000        0        0
             TOTAL PSS:     1235            TOTAL RSS:     2000
@ 101.75
VmHWM:\t   2048 kB
VmRSS:\t   1048 kB
Threads:\t5
@ 102.75
VmHWM:\t
"""


def test_what_a_device_prints() -> None:
    first, second = memory.parse_samples(_ANDROID)
    assert first == memory.MemorySample(
        0.0, 1_024_000, 2_048_000, 4, 8192, 921_600, 1_263_616
    )
    assert second == memory.MemorySample(1.5, 1_073_152, 2_097_152, 5)
    assert memory.memory_line([first, second]) == (
        "at most 1.1 MB resident, 0.9 MB proportional (PSS), 1.3 MB dumpsys meminfo "
        "TOTAL, 0.0 MB swapped in 2 samples"
    )


def test_too_short_a_run() -> None:
    assert memory.parse_samples("") == []
    assert "run it longer (--round)" in memory.memory_line([])


def test_a_program_that_grows(tmp_path: Path) -> None:
    device = HostDevice(tmp_path / "work")
    device.prepare()
    program = (
        "import sys, time\ntime.sleep(1.6)\nx = b'x' * 50_000_000\ntime.sleep(1.6)\n"
        "sys.exit(7)\n"
    )
    result = device.run([sys.executable, "-c", program], watch_memory_s=1)
    assert result.status == 7
    device.pull(memory.LOG, tmp_path / "log")
    samples = memory.parse_samples((tmp_path / "log").read_text())
    assert len(samples) >= 2
    assert samples[-1].resident - samples[0].resident > 45_000_000
    assert samples[-1].peak_resident >= samples[-1].resident
    assert samples[-1].proportional is not None
    memory.write_samples(tmp_path / "m.csv", samples)
    with open(tmp_path / "m.csv", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert rows[0]["resident"] == str(samples[0].resident)
    assert rows[0]["dumpsys"] == ""


def test_a_signal_still_shows(tmp_path: Path) -> None:
    device = HostDevice(tmp_path / "work")
    device.prepare()
    command = ["sh", "-c", "kill -SEGV $$"]
    assert device.run(command, watch_memory_s=1).status == 139

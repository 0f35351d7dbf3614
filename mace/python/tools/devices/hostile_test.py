# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Devices that are broken or a stranger's: programs called adb and ssh that answer
nonsense, names with escapes, or without end.
"""

from __future__ import annotations

import os
import resource
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices import process
from mace.python.tools.devices.adb import AdbClient, AdbDevice, find_adb
from mace.python.tools.devices.device import (
    DeviceError,
    DeviceLostError,
    DeviceProperties,
    DeviceUnsuitedError,
)
from mace.python.tools.devices.memory import parse_samples
from mace.python.tools.devices.process import ProcessRequest, run_process
from mace.python.tools.devices.remote import RemoteDevice
from mace.python.tools.devices.ssh import Board, SshDevice

# Behind the last line that `shell` asks for, a device may print anything.
_MARK = 'mark=$(printf %s "$*" | grep -o "MACE_STATUS_[0-9a-f]*" | head -n 1)\n'


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that come before all others."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def _write(programs: Path, name: str, script: str) -> None:
    path = programs / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def _phone(programs: Path, answer: str) -> AdbDevice:
    """A phone that answers each shell command so."""
    _write(programs, "adb", _MARK + answer)
    return AdbDevice(AdbClient(str(programs / "adb")), "0123")


def _board(programs: Path, answer: str) -> SshDevice:
    _write(programs, "ssh", _MARK + answer)
    _write(programs, "scp", _MARK + answer)
    return SshDevice(
        Board("b", "localhost", "user", abis=(Abi.ARM64,), work_dir="/tmp/mace")
    )


_Make = Callable[[Path, str], RemoteDevice]
_both = pytest.mark.parametrize("make", [_phone, _board])


@_both
@pytest.mark.parametrize(
    "status", ["", "x", "-1", "1e9", "9" * 5000, "\u0663", "\x1b[2J", "0x1", "256256"]
)
def test_a_status_that_is_none(make: _Make, status: str, programs: Path) -> None:
    device = make(programs, f"printf '\\n%s=%s\\n' \"$mark\" '{status}'")
    with pytest.raises(DeviceLostError, match="lost "):
        device.shell(":")


@_both
def test_an_answer_without_end(
    make: _Make, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_MOST_OUTPUT", 4 << 20)
    device = make(programs, "trap '' TERM\nexec yes 'all work and no play'")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.monotonic()
    with pytest.raises(DeviceLostError, match="prints more than any program of MACE"):
        device.shell(":", limit_s=60.0)
    assert time.monotonic() - begin < 55
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20


@_both
def test_no_answer(make: _Make, programs: Path) -> None:
    device = make(programs, "sleep 60")
    begin = time.monotonic()
    with pytest.raises(DeviceLostError, match="does not answer"):
        device.shell(":", limit_s=0.3)
    assert time.monotonic() - begin < 55


@_both
def test_a_file_that_fills_the_disk(
    make: _Make, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    usage = usage._replace(free=2 << 20)
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    # `adb pull` is told the file; `ssh` prints what `cat` would.
    device = make(programs, 'if [ "$3" = pull ]; then exec yes >"$5"; fi; exec yes')
    monkeypatch.setattr(type(device), "work_dir", PurePosixPath("/w"))
    with pytest.raises(DeviceError, match="larger than half of what is free"):
        device.pull(PurePosixPath("out"), tmp_path / "here" / "out")
    assert list((tmp_path / "here").iterdir()) == []


def test_a_phone_with_a_name_of_escapes(programs: Path) -> None:
    answer = (
        "printf '[ro.product.model]: [\\033]0;pwn\\007\\033[2Jphone%0999d]\\n' 7\n"
        "printf '[ro.board.platform]: [so\\033[8mc]\\n'\n"
        "printf '[ro.product.cpu.abilist]: [arm64-v8a]\\n'\n"
        "printf '\\n%s=0\\n' \"$mark\""
    )
    properties = _phone(programs, answer).probe()
    assert properties.name.startswith("\\x1b]0;pwn\\x07\\x1b[2Jphone")
    assert len(properties.name) == 80
    assert properties.soc == "so\\x1b[8mc"


def test_a_phone_for_other_programs(programs: Path) -> None:
    answer = (
        "printf '[ro.product.cpu.abilist]: [%0999d\\033[2J]\\n' 7\n"
        "printf '\\n%s=0\\n' \"$mark\""
    )
    with pytest.raises(DeviceUnsuitedError) as caught:
        _phone(programs, answer).probe()
    assert len(str(caught.value)) < 300


def _probed(programs: Path, lines: str) -> DeviceProperties:
    device = _board(programs, f"printf '{lines}'\nprintf '\\n%s=0\\n' \"$mark\"")
    try:
        return device.probe()
    finally:
        device.close()


@pytest.mark.parametrize(
    "lines",
    ["", "hello", "\\\\n\\\\n\\\\n", "a\\nb\\nc\\nd\\ne", "/w\\nx", "\\033[2J"],
)
def test_a_board_that_does_not_say_what_it_is(lines: str, programs: Path) -> None:
    with pytest.raises(DeviceError, match="does not say what it is: it answered"):
        _probed(programs, lines)


def test_a_board_with_escapes(programs: Path) -> None:
    found = _probed(programs, "\\033[2JCortex\\n/w\\naarch64\\n-\\nhost\\nno\\n")
    assert found.processor == "\\x1b[2JCortex"
    with pytest.raises(DeviceError) as caught:
        _probed(programs, "/w\\n\\033[2Jvax\\n-\\nhost\\nno\\n")
    assert "\\x1b[2Jvax machine" in str(caught.value)


@pytest.mark.parametrize("free", ["-", "\u00b2", "9" * 5000, "1e9"])
def test_free_space_that_is_no_number(
    free: str, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = f"printf 'd 1 1 {free} 5%% /\\n%s=0\\n' \"$mark\""
    device = _phone(programs, answer)
    assert device._free_bytes() is None


@pytest.mark.parametrize(
    ("listed", "serials"),
    [
        ("good\\tdevice\\n", ["good"]),
        ("\\033[2Jx\\tdevice\\ngood\\tdevice\\n", ["good"]),
        ("-x\\tdevice\\n--help\\tdevice\\n", []),
        ("????????????\\tno permissions\\n", ["????????????"]),
        ("adb-1 (2)._adb-tls-connect._tcp.\\tdevice\\n10.0.0.1:5555\\tdevice\\n", None),
        ("\\t\\t\\n\\n no\\n", []),
    ],
)
def test_lists_of_devices(
    listed: str, serials: list[str] | None, programs: Path
) -> None:
    _write(programs, "adb", f"printf 'List of devices attached\\n{listed}'")
    found = [device.serial for device in AdbClient(str(programs / "adb"))._list()]
    assert found == serials if serials is not None else len(found) == 2


def test_more_devices_than_there_are(programs: Path) -> None:
    _write(
        programs,
        "adb",
        "echo List of devices attached\nseq 1 5000 | sed 's/$/\\tdevice/'",
    )
    with pytest.raises(DeviceError, match="adb lists 5000 devices; at most 256"):
        AdbClient(str(programs / "adb")).devices()


@pytest.mark.parametrize("version", ["", "1.0", "9" * 6000 + ".0.1", "\\033[2J"])
def test_an_adb_that_is_none(version: str, programs: Path) -> None:
    _write(programs, "adb", f"printf 'version {version}\\n'")
    with pytest.raises(DeviceError, match="does not print its version") as caught:
        find_adb()
    assert len(str(caught.value)) < 1000 and "\x1b" not in str(caught.value)


def test_memory_that_is_no_number() -> None:
    good = "@ 12.5 3\nVmRSS: 5 kB\nVmHWM: 6 kB\nThreads: 1\n"
    bad = good.replace("12.5", "nan") + good.replace("12.5", "\u0663") + good
    huge = good.replace("VmRSS: 5", "VmRSS: " + "9" * 5000)
    found = parse_samples(bad.replace(" 3\n", "\n") + huge.replace(" 3\n", "\n"))
    assert [sample.resident for sample in found] == [5 << 10]


def test_output_is_kept_up_to_the_limit(tmp_path: Path) -> None:
    result = run_process(ProcessRequest(["sh", "-c", "seq 1 200000"]))
    assert not result.excessive and result.output.endswith("200000\n")

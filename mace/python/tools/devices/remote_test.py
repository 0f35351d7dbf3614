# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Both remote drivers against emulated devices and the real clients."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path, PurePosixPath

import pytest

from mace.python.tools.devices import (
    DeviceError,
    DeviceFullError,
    DeviceLostError,
    DeviceStoppedError,
)
from mace.python.tools.devices.conftest import Rig
from mace.python.tools.devices.device import SCRATCH
from mace.python.tools.devices.remote import RemoteDevice, run

_MB = 1 << 20
# The list of files, and the process number of the command that looks.
_OURS = ("./.manifest", "./.scratch/running")


def _file(path: Path, size: int) -> Path:
    path.write_bytes(os.urandom(size))
    return path


def _files(device: RemoteDevice) -> list[str]:
    found = device.run(["sh", "-c", "find . -type f | sort"])
    return [line for line in found.output.split() if not line.startswith(_OURS)]


@pytest.fixture(name="rig")
def empty_rig(rig: Rig) -> Rig:
    """Without the files of other tests, which use these devices, too."""
    rig.device.prepare()
    for name in _files(rig.device):
        rig.device.remove(PurePosixPath(name))
    return rig


def _usable(rig: Rig, tmp_path: Path) -> None:
    """Sooner or later: the device may be away for a second."""
    end = time.monotonic() + 10
    while True:
        try:
            rig.device.prepare()
            break
        except DeviceError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
    small = _file(tmp_path / "small", 1000)
    rig.device.push(small, PurePosixPath("small"))
    assert rig.device.run(["wc", "-c", "small"]).output.split()[0] == "1000"
    rig.device.remove(PurePosixPath("small"))


def test_push_pull_remove(rig: Rig, tmp_path: Path) -> None:
    source = _file(tmp_path / "a", 3 * _MB + 1)
    target = PurePosixPath("folder/it's a file")
    rig.device.push(source, target)
    rig.device.pull(target, tmp_path / "back" / "a")
    assert (tmp_path / "back" / "a").read_bytes() == source.read_bytes()
    assert rig.device.has_file(target)
    rig.device.remove(PurePosixPath("folder"))
    rig.device.remove(PurePosixPath("folder"))
    assert not rig.device.has_file(target)
    assert _files(rig.device) == []
    with pytest.raises(DeviceError, match="No such file|does not exist"):
        rig.device.pull(target, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_an_unchanged_file_is_not_sent_again(rig: Rig, tmp_path: Path) -> None:
    source = _file(tmp_path / "weights", 10 * _MB)
    target = PurePosixPath("m/weights")
    rig.device.push(source, target)
    moved = rig.running.status()["push"]
    assert moved >= 10 * _MB
    rig.device.push(source, target)
    other = rig.again()
    other.push(source, target)
    # A few shell commands, and no file.
    assert rig.running.status()["push"] - moved < 100_000
    _file(source, 10 * _MB)
    other.push(source, target)
    assert rig.running.status()["push"] - moved >= 10 * _MB
    other.pull(target, tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == source.read_bytes()
    other.remove(PurePosixPath("m"))
    other.close()


def test_a_file_that_changed_on_the_device_is_sent_again(
    rig: Rig, tmp_path: Path
) -> None:
    source = _file(tmp_path / "a", 1000)
    rig.device.push(source, PurePosixPath("a"))
    rig.device.run(["sh", "-c", "echo more >>a"])
    other = rig.again()
    other.push(source, PurePosixPath("a"))
    assert other.run(["wc", "-c", "a"]).output.split()[0] == "1000"
    other.remove(PurePosixPath("a"))
    other.close()


def test_run(rig: Rig, probe: dict[int, Path]) -> None:
    rig.device.push(probe[32], PurePosixPath("bin/probe"))
    result = rig.device.run(["bin/probe", "a b; $HOME 'c"])
    assert (result.status, result.output) == (5, "32 a b; $HOME 'c\n")
    result = rig.device.run(
        ["sh", "-c", "echo $X; echo err >&2; pwd; cat; exit 255"], env={"X": "a 'b"}
    )
    assert result.status == 255
    assert result.output == f"a 'b\nerr\n{rig.device.work_dir}\n"
    assert rig.device.run(["sh", "-c", "printf x"]).output == "x"
    assert rig.device.run(["sh", "-c", "kill -SEGV $$"]).status == 139
    assert rig.device.run(["./none"]).status == 127
    rig.device.remove(PurePosixPath("bin"))


def test_a_program_for_another_abi(rig: Rig, probe: dict[int, Path]) -> None:
    if rig.running.name not in ("nexus5", "raspberry"):
        pytest.skip("this one runs both")
    rig.device.push(probe[64], PurePosixPath("probe"))
    assert rig.device.run(["./probe"]).status in (126, 127)
    rig.device.remove(PurePosixPath("probe"))


def test_a_command_longer_than_a_command_line(rig: Rig) -> None:
    words = [f"word{i}" for i in range(10_000)]
    result = rig.device.run(["sh", "-c", "echo $#", "sh", *words])
    assert (result.status, result.output) == (0, "10000\n")


def _sleepers(rig: Rig) -> int:
    listed = rig.device.shell("ps -ef 2>/dev/null || ps").output
    return sum("sleep 7777" in line for line in listed.splitlines())


def test_the_time_limit_ends_children_too(rig: Rig) -> None:
    begin = time.monotonic()
    result = rig.device.run(
        ["sh", "-c", "echo begun; sleep 7777 & sleep 7777"], time_limit_s=0.7
    )
    assert result.timed_out
    assert result.output == "begun\n"
    assert time.monotonic() - begin < 600
    assert _sleepers(rig) == 0


def test_stop_ends_the_program(rig: Rig) -> None:
    threading.Timer(0.7, rig.device.stop).start()
    with pytest.raises(DeviceStoppedError):
        rig.device.run(["sh", "-c", "sleep 7777 & sleep 7777"])
    with pytest.raises(DeviceStoppedError):
        rig.device.prepare()
    rig.device.stop_event.clear()
    assert _sleepers(rig) == 0


def test_lost_in_a_push(rig: Rig, tmp_path: Path) -> None:
    old = _file(tmp_path / "old", 2 * _MB)
    rig.device.push(old, PurePosixPath("a"))
    rig.running.fault("disconnect", during="push", after_bytes=_MB, away_s=1)
    new = _file(tmp_path / "new", 10 * _MB)
    with pytest.raises(DeviceLostError) as caught:
        rig.device.push(new, PurePosixPath("a"))
    assert rig.device.label in str(caught.value)
    _usable(rig, tmp_path)
    # Nothing of the new file is there.
    assert _files(rig.device) == ["./a"]
    rig.device.pull(PurePosixPath("a"), tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == old.read_bytes()
    rig.device.push(new, PurePosixPath("a"))
    rig.device.remove(PurePosixPath("a"))


def test_lost_in_a_pull(rig: Rig, tmp_path: Path) -> None:
    rig.device.push(_file(tmp_path / "a", 10 * _MB), PurePosixPath("a"))
    rig.running.fault("disconnect", during="pull", after_bytes=_MB, away_s=1)
    with pytest.raises(DeviceError) as caught:
        rig.device.pull(PurePosixPath("a"), tmp_path / "back" / "a")
    assert rig.device.label in str(caught.value)
    assert list((tmp_path / "back").iterdir()) == []
    _usable(rig, tmp_path)
    rig.device.remove(PurePosixPath("a"))


def test_lost_while_a_program_runs(rig: Rig, tmp_path: Path) -> None:
    timer = threading.Timer(0.7, lambda: rig.running.fault("crash", away_s=1))
    timer.start()
    with pytest.raises(DeviceLostError) as caught:
        rig.device.run(["sh", "-c", "echo begun; sleep 7777"])
    assert rig.device.label in str(caught.value)
    timer.join()
    _usable(rig, tmp_path)
    assert _sleepers(rig) == 0


def test_a_full_device(rig: Rig, tmp_path: Path) -> None:
    old = _file(tmp_path / "old", 1000)
    rig.device.push(old, PurePosixPath("a"))
    rig.running.fault("full", free_bytes=2 * _MB)
    with pytest.raises(DeviceFullError, match="no space left") as caught:
        rig.device.push(_file(tmp_path / "new", 10 * _MB), PurePosixPath("a"))
    assert rig.device.label in str(caught.value)
    rig.running.clear()
    _usable(rig, tmp_path)
    assert _files(rig.device) == ["./a"]
    rig.device.pull(PurePosixPath("a"), tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == old.read_bytes()
    rig.device.remove(PurePosixPath("a"))


def test_a_file_that_cannot_be_read(rig: Rig, tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="cannot read"):
        rig.device.push(tmp_path / "none", PurePosixPath("a"))


_PRINT = "import os, sys; print(os.environ['MACE_TEST'], sys.argv[1:])"


def test_values_and_arguments_are_taken_literally(tmp_path: Path) -> None:
    folder = tmp_path / "a b; touch injected"
    (folder / SCRATCH).mkdir(parents=True)
    odd = "$(touch injected) `touch injected`; 'x' \"y\" \\"
    script = run(
        PurePosixPath(folder), [sys.executable, "-c", _PRINT, odd], {"MACE_TEST": odd}
    )
    # The program is ended when this ends.
    ours, theirs = os.pipe()
    done = subprocess.run(
        ["sh", "-c", script],
        stdin=ours,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{odd} {[odd]}\n"
    assert not list(tmp_path.rglob("injected"))


@pytest.mark.parametrize("name", ["A;touch x", "A=1 B", "$(x)", "", "1A", "A-B", "Ä"])
def test_a_name_that_no_variable_has(name: str) -> None:
    with pytest.raises(
        ValueError, match="is not a valid name of an environment variable"
    ):
        run(PurePosixPath("/tmp"), ["true"], {name: "value"})

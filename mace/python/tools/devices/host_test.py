# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The host driver against real files and processes."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path, PurePosixPath

import pytest

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices import (
    DeviceError,
    DeviceStoppedError,
    EmulatorDevice,
    HostDevice,
)
from mace.python.tools.devices.process import ProcessRequest, run_process
from mace.python.tools.errors import MissingToolError


@pytest.fixture
def device(tmp_path: Path) -> HostDevice:
    host = HostDevice(tmp_path / "work")
    host.probe()
    return host


def test_probe_says_what_it_is(device: HostDevice) -> None:
    properties = device.probe()
    assert properties.abis == (Abi.HOST,)
    assert properties.processor


def test_push_and_pull_keep_bytes_and_permission(
    device: HostDevice, tmp_path: Path
) -> None:
    script = tmp_path / "tool"
    script.write_bytes(b"#!/bin/sh\necho $0 $1\n")
    script.chmod(0o755)
    device.push(script, PurePosixPath("bin/tool"))
    result = device.run(["bin/tool", "a b; exit 3"])
    assert result.status == 0
    assert result.output == "bin/tool a b; exit 3\n"
    device.pull(PurePosixPath("bin/tool"), tmp_path / "back" / "tool")
    assert (tmp_path / "back" / "tool").read_bytes() == script.read_bytes()


def test_pushing_again_replaces(device: HostDevice, tmp_path: Path) -> None:
    source = tmp_path / "data"
    for text in ("one", "two"):
        source.write_text(text)
        device.push(source, PurePosixPath("data"))
        assert device.run(["cat", "data"]).output == text


def test_run_passes_variables_and_status(device: HostDevice) -> None:
    result = device.run(["sh", "-c", "echo $MACE_X >&2; exit 7"], env={"MACE_X": "hi"})
    assert (result.status, result.output) == (7, "hi\n")


def test_a_signal_shows_as_in_a_shell(device: HostDevice) -> None:
    assert device.run(["sh", "-c", "kill -SEGV $$"]).status == 139


def test_the_time_limit_ends_children_too(device: HostDevice) -> None:
    begin = time.monotonic()
    result = device.run(
        ["sh", "-c", "echo begun; sleep 60 & sleep 60"], time_limit_s=0.5
    )
    assert result.timed_out
    assert "begun" in result.output
    assert time.monotonic() - begin < 55


def test_stdin_is_not_ours(device: HostDevice) -> None:
    code = "import sys; print(repr(sys.stdin.read()))"
    assert device.run([sys.executable, "-c", code]).output == "''\n"


def test_errors_name_the_file(device: HostDevice, tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="absent"):
        device.pull(PurePosixPath("absent"), tmp_path / "x")
    with pytest.raises(DeviceError, match="no_such_program"):
        device.run(["./no_such_program"])
    (tmp_path / "file").write_text("")
    with pytest.raises(DeviceError, match="work folder"):
        HostDevice(tmp_path / "file" / "work").probe()


def test_remove_takes_files_and_folders(device: HostDevice, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    device.push(tmp_path / "f", PurePosixPath("a/b/f"))
    device.remove(PurePosixPath("a"))
    device.remove(PurePosixPath("a"))
    assert device.run(["ls"]).output == ""


@pytest.mark.parametrize("abi", [Abi.ARM64, Abi.ARMHF])
def test_an_emulated_board(abi: Abi, tmp_path: Path) -> None:
    device = EmulatorDevice(abi, tmp_path / "work")
    try:
        properties = device.probe()
    except MissingToolError as error:
        pytest.skip(f"cannot emulate: {error}")
    assert properties.abis == (abi,)
    triple = {Abi.ARM64: "aarch64-linux-gnu", Abi.ARMHF: "arm-linux-gnueabihf"}[abi]
    compiler = shutil.which("clang-19")
    if compiler is None:
        pytest.skip("there is no clang-19 to make an ARM program")
    source = tmp_path / "bits.c"
    source.write_text(
        "#include <stdio.h>\n"
        'int main(int c, char **v) { printf("%d %s\\n", 8 * (int)sizeof(v), v[1]); '
        "return 5; }\n"
    )
    program = tmp_path / "bits"
    subprocess.run(
        [compiler, f"--target={triple}", "-fuse-ld=lld", source, "-o", program],
        check=True,
    )
    device.push(program, PurePosixPath("bits"))
    bits = 64 if abi is Abi.ARM64 else 32
    result = device.run(["./bits", "a b"])
    assert (result.status, result.output) == (5, f"{bits} a b\n")


def test_no_emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="qemu-aarch64 is missing"):
        EmulatorDevice(Abi.ARM64, tmp_path).probe()


def test_stop_ends_a_program_from_another_thread(device: HostDevice) -> None:
    threading.Timer(0.3, device.stop).start()
    begin = time.monotonic()
    with pytest.raises(DeviceStoppedError):
        device.run(["sh", "-c", "sleep 60 & sleep 60"])
    assert time.monotonic() - begin < 55


def test_a_time_limit_between_two_growths(tmp_path: Path) -> None:
    """A copy may take long; it may not stand still."""
    path = tmp_path / "part"
    script = "for i in 1 2 3 4 5 6; do echo x >>part; sleep 0.3; done; sleep {}"
    for rest, timed_out in (("0", False), ("60", True)):
        path.unlink(missing_ok=True)
        command = ["sh", "-c", script.format(rest)]
        begin = time.monotonic()
        result = run_process(
            ProcessRequest(command, cwd=tmp_path, time_limit_s=1.2, grows=path)
        )
        assert result.timed_out == timed_out
        assert path.read_text() == 6 * "x\n"
        assert 1.7 < time.monotonic() - begin < 55

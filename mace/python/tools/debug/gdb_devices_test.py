# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""gdb with emulated devices and the server of qemu, by the real adb and ssh."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mace.python.tools.debug import main
from mace.python.tools.debug.conftest import OUTER_LINE
from test.device_farm.farm import Farm, Running


@pytest.fixture(autouse=True)
def _needs_gdb() -> None:
    if shutil.which("gdb-multiarch") is None:
        pytest.skip("there is no gdb-multiarch")


_SESSION = (
    "--server=qemu",
    "--batch",
    "--ex=break outer",
    "--ex=continue",
    "--ex=bt",
    "--ex=print x",
    "--ex=continue",
)


def _session(
    capfd: pytest.CaptureFixture[str], program: Path, folder: Path, *flags: str
) -> None:
    words = (f"--program={program}", f"--output_dir={folder}")
    status = main(["gdb", *_SESSION, *words, *flags])
    output = capfd.readouterr().out
    assert status == 0, output
    assert re.search(rf"Breakpoint 1, outer \(x=1\) at .*look\.c:{OUTER_LINE}", output)
    assert re.search(r"#1 .* main .*look\.c:19", output)
    assert "$1 = 1" in output
    assert "exited normally" in output


def test_gdb_on_a_phone(
    phones: list[Running],
    program: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    _session(
        capfd,
        program,
        tmp_path,
        "--port=16017",
        f"--devices_to_run={phones[0].address}",
    )
    # Nothing stays: neither the port nor the program.
    listed = subprocess.run(
        ["adb", "forward", "--list"], capture_output=True, text=True, check=True
    )
    assert "16017" not in listed.stdout
    shell = ["adb", "-s", phones[0].address, "shell", "pidof mace_run; echo end"]
    ran = subprocess.run(shell, capture_output=True, text=True, check=True)
    assert ran.stdout == "end\n"


def test_gdb_on_a_board(
    boards: list[Running],
    farm: Farm,
    program: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    _session(
        capfd,
        program,
        tmp_path,
        "--port=16018",
        f"--device_yml={farm.devices_yml}",
        "--devices_to_run=nanopi",
        "--target_abi=arm64",
    )


def test_gdb_emulated(
    program: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without an ABI and without adb: no phone is meant."""

    def no_adb() -> None:
        raise AssertionError("asked for adb")

    monkeypatch.setattr("mace.python.tools.devices.discover.find_adb", no_adb)
    _session(capfd, program, tmp_path, "--port=16019", "--devices_to_run=qemu-arm64")


def test_gdb_says_what_would_be_typed(
    phones: list[Running],
    program: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = tmp_path / "gdbserver"
    server.touch()
    serial = phones[0].address
    status = main(
        [
            "gdb",
            "--dry_run",
            f"--program={program}",
            f"--gdbserver={server}",
            f"--devices_to_run={serial}",
            "--",
            "hold",
            "a b",
        ]
    )
    assert status == 0
    lines = capsys.readouterr().out.splitlines()
    adb = re.escape(f"-s {serial}")
    work = "/data/local/tmp/mace_run"
    for line, pattern in zip(
        lines,
        (
            rf"\S*adb {adb} shell 'mkdir -p {work}/debug'",
            rf"\S*adb {adb} push \S*/mace_run {work}/debug/mace_run",
            rf"\S*adb {adb} push \S*/gdbserver {work}/debug/gdbserver",
            rf"\S*adb {adb} shell .*cd {work} && LD_LIBRARY_PATH={work}/debug "
            rf"debug/gdbserver :6000 \./debug/mace_run hold .*a b.* &",
            rf"\S*adb {adb} forward tcp:6000 tcp:6000",
            r"\S*gdb-multiarch .*target remote 127\.0\.0\.1:6000.* \S*/mace_run",
            rf"\S*adb {adb} forward --remove tcp:6000",
        ),
    ):
        assert re.fullmatch(pattern, line), line
    assert len(lines) == 7


def test_gdb_without_gdbserver(
    phones: list[Running], program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(
        ["gdb", f"--program={program}", f"--devices_to_run={phones[0].address}"]
    )
    assert status == 2
    message = capsys.readouterr().err
    assert "MI 6 has no gdbserver" in message
    assert "--gdbserver=FILE" in message
    assert "--server=qemu" in message


def test_one_device_has_to_be_chosen(
    phones: list[Running], program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gdb", f"--program={program}"]) == 2
    message = capsys.readouterr().err
    assert "there are 2 devices: MI 6 (" in message
    assert "choose one by --devices_to_run=NAME" in message

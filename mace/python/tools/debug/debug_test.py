# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Flags of the debugging commands."""

from __future__ import annotations

import re
import subprocess
import threading
from pathlib import Path, PurePosixPath

import pytest

from mace.python.tools.debug import main
from mace.python.tools.debug.conftest import compile_look
from mace.python.tools.devices.adb import AdbDevice, find_adb
from test.device_farm.farm import Running


def test_flags_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gdb", "--port=80"]) == 2
    assert "from 1024 to 65535" in capsys.readouterr().err
    assert main(["gdb", "--server=qemu", "--attach=5"]) == 2
    assert "only starts programs" in capsys.readouterr().err
    assert main(["gdb", "--attach=5", "--devices_to_run=host"]) == 2
    assert "was started from, unstripped: --program=FILE" in capsys.readouterr().err
    assert main(["memory", "--interval=0"]) == 2
    assert "seconds, above 0" in capsys.readouterr().err
    assert main(["nothing"]) == 2


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


def test_logcat(phones: list[Running], capsys: pytest.CaptureFixture[str]) -> None:
    for phone in phones:
        subprocess.run(
            ["adb", "-s", phone.address, "shell", "log -t MACE hello there; log other"],
            stdin=subprocess.DEVNULL,
            check=True,
        )
    assert main(["logcat", "--grep=MACE"]) == 0
    told = capsys.readouterr()
    output = told.out
    # Nobody asked for boards.
    assert told.err == ""
    assert output.count("hello there") == len(phones)
    assert "other" not in output
    for phone in phones:
        assert phone.address in output


_OFF = """\
devices:
  "off":
    target_abis: [arm64]
    address: 127.0.0.1
    port: 1
    username: root
"""


def test_a_board_that_is_off_keeps_nobody_from_a_phone(
    phones: list[Running], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    boards = tmp_path / "boards.yml"
    boards.write_text(_OFF)
    flags = ["logcat", f"--device_yml={boards}"]
    assert main(flags) == 0
    captured = capsys.readouterr()
    assert all(phone.address in captured.out for phone in phones)
    assert "left out: cannot reach off (root@127.0.0.1)" in captured.err
    # Unless it was asked for.
    assert main([*flags, f"--devices_to_run=off,{phones[0].address}"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "cannot reach off (root@127.0.0.1)" in captured.err


def _symbol(program: Path, name: str) -> int:
    listed = subprocess.run(
        ["llvm-nm-19", str(program)], capture_output=True, text=True, check=True
    ).stdout
    found = re.search(rf"^([0-9a-f]+) T {name}$", listed, re.MULTILINE)
    assert found is not None
    return int(found[1], 16)


def _build_id(program: Path) -> str:
    notes = subprocess.run(
        ["llvm-readelf-19", "--notes", str(program)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = re.search("Build ID: ([0-9a-f]+)", notes)
    assert found is not None
    return found[1]


def test_symbolize_a_tombstone(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = _symbol(program, "outer")
    log = tmp_path / "log"
    log.write_text(
        "F DEBUG   : backtrace:\n"
        f"F DEBUG   :   #00 pc {address:016x}  /data/local/tmp/mace_run/mace_run "
        f"(outer+4) (BuildId: {_build_id(program)})\n"
        "F DEBUG   :   #01 pc 000000000004a0b8  /system/lib64/libc.so (abort+12)\n"
    )
    assert main(["symbolize", f"--log={log}", f"--symbols={program}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"#00 {address:#x} /data/local/tmp/mace_run/mace_run"
    assert re.match(r" +outer at .*look\.c:8", lines[1])
    assert lines[2] == "#01 0x4a0b8 /system/lib64/libc.so"


def test_symbolize_a_sanitizer_report_with_inlined_calls(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The multiplication, which is inner's: the last instructions of outer.
    begin, end = _symbol(program, "outer"), _symbol(program, "main")
    text = "".join(
        f"    #{i} {0x550000 + a:#x} in outer (/opt/app/mace_run/mace_run+{a:#x})\n"
        for i, a in enumerate(range(begin, end, 4))
    )
    log = tmp_path / "log"
    log.write_text("==12==ERROR: AddressSanitizer: SEGV\n" + text)
    assert main(["symbolize", f"--log={log}", f"--symbols={program.parent}"]) == 0
    output = capsys.readouterr().out
    assert re.search(r"inner at .*look\.c:6.*\n +\(inlined by\) outer at", output)


def test_symbolize_another_build(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = "0123456789abcdef0123456789abcdef01234567"
    log = tmp_path / "log"
    log.write_text(f"#00 pc 0000000000001000  /x/mace_run (BuildId: {other})\n")
    assert main(["symbolize", f"--log={log}", f"--symbols={program}"]) == 2
    message = capsys.readouterr().err
    assert f"mace_run on the device is build {other}" in message
    assert _build_id(program) in message


def test_symbolize_nothing(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    log.write_text("all is well\n")
    assert main(["symbolize", f"--log={log}", f"--symbols={program}"]) == 2
    assert "holds no backtrace" in capsys.readouterr().err
    log.write_text("#00 pc 00001000  /x/libother.so\n")
    assert main(["symbolize", f"--log={log}", f"--symbols={program}"]) == 2
    assert "no symbols for libother.so: run with --debug_mode" in (
        capsys.readouterr().err
    )
    assert main(["symbolize", f"--log={log}", "--symbols=/no/such"]) == 2
    assert "--symbols=/no/such: no such file or folder" in capsys.readouterr().err
    log_file = tmp_path / "text"
    log_file.write_text("text")
    assert main(["symbolize", f"--log={log}", f"--symbols={log_file}"]) == 2
    assert "is no program or library" in capsys.readouterr().err


def test_symbols_without_lines_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = compile_look(tmp_path)
    log = tmp_path / "log"
    log.write_text(f"#00 pc {_symbol(bare, 'outer'):016x}  /x/mace_run\n")
    assert main(["symbolize", f"--log={log}", f"--symbols={bare}"]) == 0
    told = capsys.readouterr()
    assert "outer" in told.out
    assert "has no source lines: run with --debug_mode" in told.err

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Backtraces of a real program: from addresses to lines."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from mace.python.tools.debug import main
from mace.python.tools.debug.testing import compile_look


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

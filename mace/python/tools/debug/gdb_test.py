# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""gdb with the real gdbserver, and what a program of Android needs besides."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mace.python.tools.debug import main
from mace.python.tools.debug.conftest import compile_c
from test.device_farm.farm import Running

# Line numbers count: the tests ask for them.
_SOURCE = """\
#include <stdio.h>
#include <unistd.h>
volatile int rounds;
__attribute__((noinline)) int outer(int x) {
  printf("outer %d\\n", x);
  return 3 * x;
}
int main(int count, char **words) {
  printf("begun\\n");
  fflush(stdout);
  while (count > 1 && rounds < 4000) {
    usleep(10000);
    rounds = rounds + 1;
  }
  return outer(count) == 3 ? 0 : 1;
}
"""


def _look(folder: Path, *flags: str) -> Path:
    return compile_c(folder / "look", _SOURCE, "-g", *flags)


def _needs_both() -> None:
    if shutil.which("gdb") is None and shutil.which("gdb-multiarch") is None:
        pytest.skip("there is neither gdb nor gdb-multiarch")
    if shutil.which("gdbserver") is None:
        pytest.skip("there is no gdbserver")


def _gdb(program: Path, *flags: str) -> int:
    words = [f"--program={program}", "--target_abi=host", "--devices_to_run=host"]
    return main(["gdb", *words, f"--output_dir={program.parent}", "--batch", *flags])


def test_gdbserver_starts_a_program(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _needs_both()
    commands = ["break outer", "continue", "bt", "print x", "continue"]
    status = _gdb(
        _look(tmp_path), "--port=16117", *(f"--ex={word}" for word in commands)
    )
    told = capfd.readouterr()
    assert status == 0, told
    assert re.search(
        r"Breakpoint 1, outer \(x=(?:x@entry=)?1\) at .*look\.c:5", told.out
    )
    assert re.search(r"#1 .* main .*look\.c:15", told.out)
    assert "$1 = 1" in told.out
    assert "exited normally" in told.out
    # What the program printed went to gdbserver.
    assert "outer 1" in told.err


def test_gdbserver_attaches_to_a_program(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _needs_both()
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    if os.geteuid() != 0 and scope.is_file() and scope.read_text().strip() != "0":
        pytest.skip(f"{scope} forbids to attach to a program that runs")
    program = _look(tmp_path)
    with subprocess.Popen(
        [str(program), "stay"], stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        commands = ["up 20", "set var rounds = 5000", "info locals", "bt"]
        status = _gdb(
            program,
            "--port=16118",
            f"--attach={running.pid}",
            *(f"--ex={word}" for word in commands),
        )
        told = capfd.readouterr()
        # It goes on when gdb is gone, with what gdb has changed.
        assert running.stdout.read() == "outer 2\n"
        assert running.wait() == 1
    assert status == 0, told
    assert re.search(r"main \(count=.*look\.c:1[123]", told.out)
    assert "detached" in told.out
    # It runs where it was: no copy of it was made.
    assert not list(tmp_path.rglob("debug/look"))


def test_a_process_that_is_not_there(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _needs_both()
    # The largest number of a process, plus one.
    status = _gdb(_look(tmp_path), "--port=16119", f"--attach={1 << 22}")
    assert status == 2
    message = capfd.readouterr().err
    assert "gdbserver --attach :16119 4194304 ended:" in message
    assert "No such process" in message


def test_libraries_of_a_phone(
    phones: list[Running], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dynamic program of Android: gdb gets the phone's libraries, and is told."""
    if shutil.which("gdb-multiarch") is None:
        pytest.skip("there is no gdb-multiarch")
    loader = "-Wl,--dynamic-linker=/system/bin/linker64"
    program = _look(tmp_path, "--target=aarch64-linux-gnu", loader)
    server = tmp_path / "gdbserver"
    server.touch()
    status = main(
        [
            *("gdb", "--dry_run", f"--program={program}", f"--gdbserver={server}"),
            *(f"--output_dir={tmp_path}", f"--devices_to_run={phones[0].address}"),
        ]
    )
    assert status == 0
    lines = capsys.readouterr().out.splitlines()
    system = f"{tmp_path}/MI_6/sysroot/system"
    fetched = [line.split(" pull ")[1] for line in lines if " pull " in line]
    names = ["libc.so", "libm.so", "libdl.so", "liblog.so"]
    assert fetched == [
        f"/system/bin/linker64 {system}/bin/linker64",
        *(f"/system/lib64/{name} {system}/lib64/{name}" for name in names),
    ]
    (gdb,) = (line for line in lines if "target remote" in line)
    assert f"set sysroot {tmp_path}/MI_6/sysroot" in gdb
    assert f"set solib-search-path {system}/bin:{system}/lib64" in gdb
    # A line that is typed must have somewhere to copy to.
    before = lines[: lines.index(next(line for line in lines if " pull " in line))]
    for folder in ("bin", "lib64"):
        assert any(f"{system}/{folder}" in line for line in before if "mkdir" in line)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Debugging commands against emulated devices, the real adb, ssh and gdb."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from pathlib import Path, PurePosixPath

import pytest

from mace.python.tools.debug import main
from mace.python.tools.devices.adb import AdbDevice
from mace.python.tools.devices.adb_client import find_adb
from test.device_farm.farm import Farm, Running

# Line numbers count: the tests ask for them.
_SOURCE = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static inline __attribute__((always_inline)) int inner(int x) {
  return x * 3;
}
__attribute__((noinline)) int outer(int x) {
  printf("outer %d\\n", x);
  return inner(x) + 1;
}
int main(int count, char **words) {
  if (count > 1 && !strcmp(words[1], "hold")) {
    char *memory = malloc(32 << 20);
    memset(memory, 1, 32 << 20);
    sleep(4);
    return memory[5] - 1;
  }
  return outer(count) == 4 ? 0 : 1;
}
"""
_OUTER_LINE = 9


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For 64-bit ARM, static, with lines."""
    return _compile(tmp_path_factory.mktemp("program"), "mace_run", "-g")


def _compile(folder: Path, name: str, *flags: str) -> Path:
    (folder / "look.c").write_text(_SOURCE)
    command = ["clang-19", "--target=aarch64-linux-gnu", "-fuse-ld=lld", "-static"]
    command += ["-O1", "-Wl,--build-id=sha1", *flags, str(folder / "look.c")]
    try:
        subprocess.run([*command, "-o", str(folder / name)], check=True)
    except FileNotFoundError:
        pytest.skip("there is no clang-19 to make an ARM program")
    return folder / name


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


# symbolize


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
    bare = _compile(tmp_path, "mace_run")
    log = tmp_path / "log"
    log.write_text(f"#00 pc {_symbol(bare, 'outer'):016x}  /x/mace_run\n")
    assert main(["symbolize", f"--log={log}", f"--symbols={bare}"]) == 0
    told = capsys.readouterr()
    assert "outer" in told.out
    assert "has no source lines: run with --debug_mode" in told.err


# logcat


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


# memory


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


# gdb


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


def _check_session(output: str) -> None:
    assert re.search(rf"Breakpoint 1, outer \(x=1\) at .*look\.c:{_OUTER_LINE}", output)
    assert re.search(r"#1 .* main .*look\.c:19", output)
    assert "$1 = 1" in output
    assert "exited normally" in output


def test_gdb_on_a_phone(
    phones: list[Running],
    program: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    _needs_gdb()
    status = main(
        [
            "gdb",
            *_SESSION,
            f"--program={program}",
            f"--output_dir={tmp_path}",
            "--port=16017",
            f"--devices_to_run={phones[0].address}",
        ]
    )
    output = capfd.readouterr().out
    assert status == 0, output
    _check_session(output)
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
    _needs_gdb()
    status = main(
        [
            "gdb",
            *_SESSION,
            f"--program={program}",
            f"--output_dir={tmp_path}",
            "--port=16018",
            f"--device_yml={farm.devices_yml}",
            "--devices_to_run=nanopi",
            "--target_abi=arm64",
        ]
    )
    output = capfd.readouterr().out
    assert status == 0, output
    _check_session(output)


def test_gdb_emulated(
    program: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without an ABI and without adb: no phone is meant."""
    _needs_gdb()

    def no_adb() -> None:
        raise AssertionError("asked for adb")

    monkeypatch.setattr("mace.python.tools.devices.survey.find_adb", no_adb)
    status = main(
        [
            "gdb",
            *_SESSION,
            f"--program={program}",
            f"--output_dir={tmp_path}",
            "--port=16019",
            "--devices_to_run=qemu-arm64",
        ]
    )
    output = capfd.readouterr().out
    assert status == 0, output
    _check_session(output)


def test_gdb_says_what_would_be_typed(
    phones: list[Running],
    program: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _needs_gdb()
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
    _needs_gdb()
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
    _needs_gdb()
    assert main(["gdb", f"--program={program}"]) == 2
    message = capsys.readouterr().err
    assert "there are 2 devices: MI 6 (" in message
    assert "choose one by --devices_to_run=NAME" in message


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

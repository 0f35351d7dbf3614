# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""`bazel_adb_run.py` with a stand-in for Bazel, on this computer and on phones.

What it builds are shell scripts, which run wherever they are sent. The real Bazel
and the native tests have their turn in test/devices.
"""

from __future__ import annotations

import csv
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.bazel_run.command import main
from mace.python.tools.devices.adb import AdbDevice
from mace.python.tools.devices.adb_client import find_adb
from mace.python.tools.devices.lease import device_lease
from test.device_farm.farm import Running

_TARGET = "//some/room:look"
_WORK = "/data/local/tmp/mace_run"
_WAIT_S = 40.0

_TESTS = """\
[==========] Running 3 tests from 1 test suite.
[==========] 3 tests from 1 test suite ran. (5 ms total)
[  PASSED  ] 2 tests.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] PoolTest.Odd
"""
_BENCHMARK = "MACE_BM_SOFTMAX_1_1000   12345.6   100   324.1   -\n"


class Stand:
    """A stand-in for Bazel, and the tool that calls it.

    Attributes:
        output: folder of logs and results.
    """

    def __init__(self, folder: Path) -> None:
        self.output = folder / "output"
        self._bin = folder / "bazel-bin"
        self._log = folder / "bazel.log"
        self._tools = folder / "tools"
        self._tools.mkdir()
        self._write_bazel("")

    @property
    def path(self) -> str:
        """Goes before the PATH."""
        return str(self._tools)

    def tool(self, name: str, text: str) -> None:
        """Puts a program of this computer on the PATH."""
        path = self._tools / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def _write_bazel(self, trouble: str) -> None:
        self.tool(
            "bazel",
            f'echo "$@" >>{self._log}\n'
            f'case " $* " in *" info "*) echo {self._bin}; exit ;; esac\n{trouble}',
        )

    def fails(self) -> None:
        """Lets builds end with an error."""
        self._write_bazel('echo "ERROR: no such package some/room" >&2; exit 1\n')

    def builds(self, text: str, shell: str = "/bin/sh", size: int = 0) -> None:
        """Says what the target is: a script, of at least `size` bytes."""
        path = self._bin / "some" / "room" / "look"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{shell}\n{text}\nexit\n" + "#" * size)
        path.chmod(0o755)

    def commands(self) -> list[list[str]]:
        """Arguments of every call of Bazel that built something."""
        lines = [line.split() for line in self._log.read_text().splitlines()]
        return [words for words in lines if "build" in words]

    def run(self, *flags: str) -> int:
        """Calls the tool; its exit status."""
        words = [f"--target={_TARGET}", f"--output_dir={self.output}"]
        return main([*words, *flags])

    def here(self, *flags: str) -> int:
        """Runs the target on this computer."""
        return self.run("--run_target=True", "--target_abis=host", *flags)

    def log(self, place: str = "host_host") -> str:
        """What was written of a run."""
        return (self.output / f"look_{place}.log").read_text()


@pytest.fixture
def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stand]:
    made = Stand(tmp_path)
    monkeypatch.setenv("PATH", made.path, prepend=":")
    for name in ("BAZEL", "BAZEL_STARTUP_FLAGS", "BAZEL_FLAGS", "ANDROID_NDK_HOME"):
        monkeypatch.delenv(name, raising=False)
    # No devices.yml of somebody who works here.
    monkeypatch.chdir(tmp_path)
    yield made


# What is built


def test_without_run_target_it_is_only_built(
    stand: Stand, capsys: pytest.CaptureFixture[str]
) -> None:
    stand.builds("echo never")
    assert stand.run("--target_abis=host,armhf") == 0
    assert [words[-1] for words in stand.commands()] == [_TARGET, _TARGET]
    told = capsys.readouterr()
    assert "never" not in told.out
    assert "bazel-bin/some/room/look (--run_target=True runs it)" in told.err
    assert not stand.output.exists()


@pytest.mark.parametrize(
    "flag, config",
    [
        ("--debug_mode", "--config=debug"),
        ("--address_sanitizer", "--config=asan"),
    ],
)
def test_how_it_is_built(stand: Stand, flag: str, config: str) -> None:
    stand.builds("echo run")
    assert stand.here() == 0
    assert config not in stand.commands()[0]
    assert stand.here(flag) == 0
    assert config in stand.commands()[1]


def test_a_build_that_fails(stand: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    stand.fails()
    assert stand.here() == 2
    message = capsys.readouterr().err
    assert f"{_TARGET} failed:\nERROR: no such package some/room" in message
    assert not list(stand.output.glob("*.log"))


def test_no_label(stand: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in ("mace/ops:ops_test", "//mace/...", "//mace/ops:a b"):
        assert main([f"--target={wrong}", "--run_target=True"]) == 2
        message = capsys.readouterr().err
        assert f"{wrong!r} is no label of a program" in message
        assert "such as //mace/ops:ops_test" in message


def test_a_target_that_is_no_program(
    stand: Stand, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stand.here() == 2
    assert f"{_TARGET} is no program: building it made no" in capsys.readouterr().err


def test_flags_are_checked(stand: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    for flag, hint in (
        ("--stdout_processor=some", "unittest"),
        ("--vlog_level=6", "0"),
        ("--target_abis=mips", "arm64-v8a"),
        ("--args='open", "quot"),
        ("--time_limit=0", "1"),
    ):
        assert stand.here(flag) == 2
        message = capsys.readouterr().err
        assert flag.partition("=")[0] in message
        assert hint in message


# What runs, and how


def test_arguments_and_environment(stand: Stand) -> None:
    stand.builds('for one in "$@"; do echo "[$one]"; done; env')
    args = """--args=--filter=.*BM.* 'two words'"""
    assert stand.here(args, "--vlog_level=3", "--address_sanitizer") == 0
    log = stand.log()
    assert "[--filter=.*BM.*]\n[two words]\n" in log
    assert "MACE_CPP_MIN_VLOG_LEVEL=3\n" in log
    assert "ASAN_OPTIONS=abort_on_error=1:" in log
    assert stand.here() == 0
    assert "MACE_CPP_MIN_VLOG_LEVEL=0\n" in stand.log()


@pytest.mark.parametrize(
    "processor, message, has_table",
    [
        ("auto", "2 of 3 tests passed; failed: PoolTest.Odd", True),
        ("unittest", "2 of 3 tests passed; failed: PoolTest.Odd", False),
        ("ops_benchmark", "exit status 1", True),
        ("none", "exit status 1", False),
    ],
)
def test_what_is_made_of_the_output(
    stand: Stand,
    capsys: pytest.CaptureFixture[str],
    processor: str,
    message: str,
    has_table: bool,
) -> None:
    stand.builds(f"cat <<'END'\n{_TESTS}{_BENCHMARK}END\nexit 1")
    assert stand.here(f"--stdout_processor={processor}") == 1
    output = capsys.readouterr().out
    # As it was printed, and summed up.
    assert _TESTS in output
    assert message in output
    table = stand.output / "look_host_host.csv"
    assert table.exists() == has_table
    if has_table:
        with open(table, encoding="utf-8", newline="") as stream:
            (row,) = csv.DictReader(stream)
        assert row["benchmark"] == "MACE_BM_SOFTMAX_1_1000"
        assert float(row["time_ns"]) == 12345.6


def test_results_of_tests_are_brought_back(stand: Stand) -> None:
    stand.builds('echo "<testsuites/>" >"${GTEST_OUTPUT#xml:}"; ls "$TMPDIR"')
    assert stand.here() == 0
    assert (stand.output / "look_host_host.xml").read_text() == "<testsuites/>\n"


def test_hardware_events_are_counted(stand: Stand) -> None:
    stand.tool("perf", 'echo "perf $1 $2"; shift 3; exec "$@"')
    stand.builds('echo "counted $1"')
    assert stand.here("--simpleperf", "--args=all") == 0
    assert stand.log() == "perf stat -e\ncounted all\n"


def test_a_crash(stand: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    stand.builds("echo begun; kill -SEGV $$")
    assert stand.here() == 1
    assert "crashed (signal 11)" in capsys.readouterr().out
    assert stand.log().startswith("begun\n")


def test_switches_of_earlier_versions(
    stand: Stand, capsys: pytest.CaptureFixture[str]
) -> None:
    stand.builds("echo run")
    old = ["neon", "quantize", "bfloat16", "fp16", "rpcmem", "hta"]
    assert stand.here(*(f"--enable_{name}=true" for name in old)) == 0
    warnings = capsys.readouterr().err
    for name in old:
        assert f"--enable_{name} has no effect" in warnings
    assert stand.here("--enable_neon") == 0
    assert stand.here("--enable_neon=perhaps") == 2


# Phones


def _phone_flags(phone: Running) -> tuple[str, ...]:
    return ("--run_target=True", f"--devices_to_run={phone.address}")


def test_phones_by_soc(
    stand: Stand, phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    stand.builds("getprop ro.board.platform", "/system/bin/sh")
    assert stand.run("--run_target=True", "--target_socs=MSM8937") == 0
    assert stand.log("Redmi_Go_armeabi-v7a") == "msm8937\n"
    assert len(list(stand.output.glob("*.log"))) == 1
    assert stand.run("--run_target=True", "--target_socs=no_such") == 2
    message = capsys.readouterr().err
    assert "on SoC no_such (target_socs)" in message
    assert "SoC msm8998" in message


def test_any_one_phone(stand: Stand, phones: list[Running]) -> None:
    stand.builds("getprop ro.board.platform", "/system/bin/sh")
    assert stand.run("--run_target=True", "--target_socs=random") == 0
    (log,) = stand.output.glob("*.log")
    assert log.read_text() in ("msm8998\n", "msm8937\n")


def test_simpleperf_of_a_phone(stand: Stand, phones: list[Running]) -> None:
    path = "/data/local/tmp/simpleperf"
    script = '#!/system/bin/sh\\necho "counting $3"\\nshift 3\\nexec "$@"\\n'
    device = AdbDevice(find_adb(), phones[0].address)
    device.probe()
    device.shell(f"printf '{script}' >{path}; chmod 755 {path}")
    stand.builds("echo counted", "/system/bin/sh")
    try:
        assert stand.run(*_phone_flags(phones[0]), "--simpleperf") == 0
    finally:
        device.shell(f"rm -f {path}")
        device.close()
    counting, counted = stand.log("MI_6_arm64-v8a").splitlines()
    assert counting.startswith("counting cpu-cycles,instructions,cache-references")
    assert counted == "counted"


def test_no_profiler(
    stand: Stand, phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    stand.builds("echo run", "/system/bin/sh")
    assert stand.run(*_phone_flags(phones[0]), "--simpleperf") == 1
    assert "MI 6 has no simpleperf" in " ".join(capsys.readouterr().out.split())


# Troubles


def test_a_crash_on_a_phone(
    stand: Stand, phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    stand.builds("log -t MACE close to the end; kill -ABRT $$", "/system/bin/sh")
    assert stand.run(*_phone_flags(phones[0])) == 1
    assert "crashed (signal 6)" in capsys.readouterr().out
    log = stand.log("MI_6_arm64-v8a")
    assert "--- log of MI 6 ---" in log
    assert "MACE: close to the end" in log


def test_another_abi(
    stand: Stand, phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    flags = (*_phone_flags(phones[1]), "--target_abis=arm64-v8a")
    assert stand.run(*flags) == 2
    message = capsys.readouterr().err
    assert "no device runs programs for arm64-v8a" in message
    assert "armeabi-v7a" in message
    # Nothing was built for nothing.
    assert not (stand.output.parent / "bazel.log").exists()


def test_a_program_that_cannot_be_started(
    stand: Stand, phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    stand.builds("echo run", "/no/such/shell")
    assert stand.run(*_phone_flags(phones[0])) == 1
    output = " ".join(capsys.readouterr().out.split())
    assert "the program for arm64-v8a cannot be started on a device that" in output


def test_a_full_phone(
    stand: Stand, phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    stand.builds("echo run", "/system/bin/sh", size=2_000_000)
    phones[0].fault("full", free_bytes=1_000_000)
    # The other phone is not kept from its work.
    assert stand.run("--run_target=True") == 1
    output = " ".join(capsys.readouterr().out.split())
    assert "cannot copy look (2.0 MB) to MI 6" in output
    assert "no space left there" in output
    assert stand.log("Redmi_Go_armeabi-v7a") == "run\n"
    phones[0].clear()
    assert stand.run(*_phone_flags(phones[0])) == 0


def test_a_phone_in_use(
    stand: Stand,
    phones: list[Running],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MACE_DEVICE_WAIT_S", "0")
    stand.builds("echo run", "/system/bin/sh")
    device = AdbDevice(find_adb(), phones[0].address)
    device.probe()
    with device_lease(device):
        assert stand.run(*_phone_flags(phones[0])) == 1
    device.close()
    assert "is in use by" in " ".join(capsys.readouterr().out.split())
    assert stand.run(*_phone_flags(phones[0])) == 0


def test_a_phone_that_is_lost(
    stand: Stand, phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    """In the middle of a run; the other phone goes on, and so does the next run."""
    text = "getprop ro.board.platform; touch started; "
    text += '[ "$(getprop ro.board.platform)" = msm8937 ] || sleep 60'
    stand.builds(text, "/system/bin/sh")
    trouble = threading.Thread(target=_crash_once_started, args=(phones[0],))
    trouble.start()
    assert stand.run("--run_target=True") == 1
    trouble.join()
    output = " ".join(capsys.readouterr().out.split())
    assert "look on MI 6 (arm64-v8a): FAILED, lost MI 6" in output
    # What it had said until then.
    log = stand.log("MI_6_arm64-v8a")
    assert log.startswith("msm8998\n--- log of MI 6 ---\n")
    assert stand.log("Redmi_Go_armeabi-v7a") == "msm8937\n"
    find_adb().revive(phones[0].address)
    stand.builds("rm started; echo again", "/system/bin/sh")
    assert stand.run("--run_target=True") == 0
    assert stand.log("MI_6_arm64-v8a") == "again\n"


def _crash_once_started(phone: Running) -> None:
    look = ["adb", "-s", phone.address, "shell", f"ls {_WORK}/started"]
    end = time.monotonic() + _WAIT_S
    while time.monotonic() < end:
        done = subprocess.run(
            look,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode == 0:
            break
        time.sleep(0.1)
    phone.fault("crash", away_s=1)

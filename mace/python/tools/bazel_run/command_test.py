# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""`bazel_adb_run.py` with a stand-in for Bazel, on this computer."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.bazel_run.bazel_run import benchmark_rows, find_profiler
from mace.python.tools.bazel_run.bazel_run import test_figures as figures_of
from mace.python.tools.bazel_run.command import main
from mace.python.tools.bazel_run.conftest import TARGET, Stand
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices import DeviceError, FoundDevice
from mace.python.tools.devices.adb import AdbDevice, find_adb
from test.device_farm.farm import Running

_TESTS = """\
[==========] Running 3 tests from 1 test suite.
[==========] 3 tests from 1 test suite ran. (5 ms total)
[  PASSED  ] 2 tests.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] PoolTest.Odd
"""
_BENCHMARK = "MACE_BM_SOFTMAX_1_1000   12345.6   100   324.1   -\n"


# What is built


def test_without_run_target_it_is_only_built(
    stand: Stand, capsys: pytest.CaptureFixture[str]
) -> None:
    stand.builds("echo never")
    assert stand.run("--target_abis=host,armhf") == 0
    assert [words[-1] for words in stand.commands()] == [TARGET, TARGET]
    told = capsys.readouterr()
    assert "never" not in told.out
    assert "programs/host/look (--run_target=True runs it)" in told.err
    for abi in ("host", "armhf"):
        assert (stand.output / "programs" / abi / "look").is_file()


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
    assert f"{TARGET} failed:\nERROR: no such package some/room" in message
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
    assert f"{TARGET} is no program: building it made no" in capsys.readouterr().err


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
    ("flags", "gpu"),
    [
        ((), False),
        (("--args=--filter=MACE_BM_CONV_2D_*_GPU",), True),
        (("--args=--filter=MACE_BM_CONV_2D_*_CPU",), False),
        (("--enable_opencl",), True),
        (("--enable_opencl=false", "--args=--filter=*_GPU"), False),
    ],
)
def test_when_a_program_has_the_gpu(
    stand: Stand, flags: tuple[str, ...], gpu: bool
) -> None:
    stand.builds("exit")
    assert stand.here(*flags) == 0
    (command,) = stand.commands()
    assert ("--define=opencl=true" in command) == gpu
    # A driver cannot be loaded by a program that is linked statically.
    assert ("--config=static" in command) != gpu


@pytest.mark.parametrize(
    ("flags", "dsp"),
    [
        ((), False),
        (("--args=--filter=MACE_BM_CONV_2D_*_HEXAGON",), True),
        (("--enable_hexagon",), True),
        (("--enable_hexagon=false", "--args=--filter=*_HEXAGON"), False),
    ],
)
def test_when_a_program_has_the_dsp(
    stand: Stand, flags: tuple[str, ...], dsp: bool
) -> None:
    stand.builds('env; [ -z "$MACE_HEXAGON_SKEL" ] || cat ./mace_hexagon_skel')
    stand.builds_for_the_dsp()
    assert stand.here(*flags) == 0
    commands = stand.commands()
    assert ("--define=hexagon=true" in commands[0]) == dsp
    assert any("--config=hexagon_v67" in words for words in commands) == dsp
    log = stand.log()
    assert ("MACE_HEXAGON_SKEL=" in log) == dsp
    assert ("MACE_HEXAGON_EMULATOR=" in log) == dsp


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


_FAILED = """\
[==========] Running 3 tests from 1 test suite.
[  FAILED  ] A.two/1, where GetParam() = 3 (0 ms)
[==========] 3 tests from 1 test suite ran. (1 ms total)
[  PASSED  ] 1 test.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] A.one
[  FAILED  ] 1 test, listed below:
[  FAILED  ] A.two/1, where GetParam() = 3

 1 FAILED TEST
"""
_BENCHMARK_OUTPUT = """\
Benchmark                        Time(ns)  Iterations   Input(MB/s)  GMACPS
MACE_BM_CONV_2D_1_8_float_CPU      1234.5        1000         512.0    3.25
MACE_BM_SOFTMAX_1_8_float_CPU       12345         100         512.0       -
"""


def test_a_failed_test_program() -> None:
    figures = figures_of(_FAILED)
    assert figures is not None
    assert (figures.ran, figures.passed, figures.skipped) == (3, 1, 1)
    assert figures.failed == ("A.two/1",)
    assert figures.line() == "1 of 3 tests passed, 1 skipped"


def test_an_unfinished_test_program() -> None:
    assert figures_of(_FAILED.partition(" ran.")[0]) is None
    assert figures_of("") is None


def test_benchmarks() -> None:
    assert benchmark_rows(_BENCHMARK_OUTPUT) == [
        ("MACE_BM_CONV_2D_1_8_float_CPU", "1234.5", "1000", "512.0", "3.25"),
        ("MACE_BM_SOFTMAX_1_8_float_CPU", "12345", "100", "512.0", "-"),
    ]


_SCRIPT = "#!/system/bin/sh\necho profiling $*\n"


@pytest.fixture
def phone(
    phones: list[Running], monkeypatch: pytest.MonkeyPatch
) -> Iterator[FoundDevice]:
    monkeypatch.delenv("ANDROID_NDK_HOME", raising=False)
    device = AdbDevice(find_adb(), phones[0].address)
    properties = device.probe()
    device.prepare()
    yield FoundDevice(device, properties, (Abi.ARM64_V8A,))
    device.run(["sh", "-c", "rm -rf /data/local/tmp/simpleperf bazel_run"])
    device.close()


def test_none(phone: FoundDevice) -> None:
    with pytest.raises(DeviceError, match="MI 6 has no simpleperf, and ANDROID_NDK"):
        find_profiler(phone)


def test_pushed_by_hand(phone: FoundDevice) -> None:
    path = "/data/local/tmp/simpleperf"
    phone.device.run(["sh", "-c", f"echo '{_SCRIPT}' >{path}; chmod 755 {path}"])
    assert find_profiler(phone) == path


def test_taken_from_the_ndk(
    phone: FoundDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "source.properties").write_text("Pkg.Revision = 25.2.9519653\n")
    compiler = tmp_path / "toolchains" / "llvm" / "prebuilt" / "linux-x86_64" / "bin"
    compiler.mkdir(parents=True)
    (compiler / "clang").touch()
    folder = tmp_path / "simpleperf" / "bin" / "android" / "arm64"
    folder.mkdir(parents=True)
    (folder / "simpleperf").write_text(_SCRIPT)
    (folder / "simpleperf").chmod(0o755)
    monkeypatch.setenv("ANDROID_NDK_HOME", str(tmp_path))
    profiler = find_profiler(phone)
    ran = phone.device.run([profiler, "stat"])
    assert (ran.status, ran.output) == (0, "profiling stat\n")

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds a program, runs it on all matching devices, copies results back."""

from __future__ import annotations

import csv
import dataclasses
import logging
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rich.console import Console

from mace.python.tools.atomic import atomic_write
from mace.python.tools.bazel import (
    Variant,
    build_program,
    choose_variant,
    full_label,
    sanitizer_environment,
    sanitizer_summary,
)
from mace.python.tools.build_tools import find_ndk
from mace.python.tools.command_line.progress import Meter, show_progress
from mace.python.tools.command_line.results import print_text
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices import (
    SCRATCH,
    CommandResult,
    DeviceError,
    DeviceQuery,
    DeviceStoppedError,
    FoundDevice,
    close_all,
    device_lease,
    find_devices,
    trouble_of,
    write_log,
)
from mace.python.tools.devices.lock import on_each_device
from mace.python.tools.errors import MissingToolError, UnsupportedError
from mace.python.tools.run.accelerator_files import DspFiles
from mace.python.tools.run.options import RunOptions

_RAN = re.compile(r"^\[==========\] (\d+) tests? from .* ran\.", re.MULTILINE)
_PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?", re.MULTILINE)
_SKIPPED = re.compile(r"^\[  SKIPPED \] (\d+) tests?", re.MULTILINE)
_FAILED = re.compile(r"^\[  FAILED  \] ([\w./]+)(?:, where .*)?$", re.MULTILINE)
_BENCHMARK = re.compile(
    r"^(MACE_BM_\S+|BM_\S+)\s+([\d.]+)\s+(\d+)\s+([\d.]+)\s+([\d.]+|-)\s*$",
    re.MULTILINE,
)

BENCHMARK_COLUMNS = ("benchmark", "time_ns", "iterations", "input_mb_s", "gmacps")


@dataclass(frozen=True)
class TestFigures:
    """The end of a googletest program."""

    __test__ = False  # for pytest: a name, not a test

    ran: int
    passed: int
    skipped: int
    failed: tuple[str, ...]

    def line(self) -> str:
        """In one line, without the names."""
        text = f"{self.passed} of {self.ran} tests passed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def test_figures(output: str) -> TestFigures | None:
    """Reads the output; None if it is not that of a finished googletest program."""
    ran = _RAN.search(output)
    if ran is None:
        return None
    passed = _PASSED.search(output)
    skipped = _SKIPPED.search(output)
    # googletest prints a failure when it happens, and again at the end.
    failed = tuple(dict.fromkeys(_FAILED.findall(output[ran.end() :])))
    return TestFigures(
        ran=int(ran[1]),
        passed=int(passed[1]) if passed else 0,
        skipped=int(skipped[1]) if skipped else 0,
        failed=failed,
    )


def benchmark_rows(output: str) -> list[tuple[str, ...]]:
    """The lines of a benchmark program; `BENCHMARK_COLUMNS` names the values."""
    return [tuple(row) for row in _BENCHMARK.findall(output)]


_PUSHED = PurePosixPath("bazel_run") / "simpleperf"
# The usual place of a manual installation.
_BY_HAND = "/data/local/tmp/simpleperf"
_NDK_FOLDERS = {Abi.ARM64_V8A: "arm64", Abi.ARMEABI_V7A: "arm"}


def find_profiler(item: FoundDevice) -> str:
    """The profiler to call on a prepared device; the NDK's is taken along.

    Raises:
        DeviceError: there is none; says how to get one.
    """
    device, abi = item.device, item.abis[0]
    if not abi.is_android:
        found = device.run(["sh", "-c", "command -v perf"])
        if found.status == 0:
            return "perf"
        raise DeviceError(
            f"--simpleperf: {item.properties.name} has no perf; install it there "
            "(apt install linux-perf)"
        )
    search = f"command -v simpleperf || {{ test -x {_BY_HAND} && echo {_BY_HAND}; }}"
    found = device.run(["sh", "-c", search])
    if found.status == 0:
        return found.output.strip()
    ndk = find_ndk()
    if ndk is not None:
        folder = ndk.home / "simpleperf" / "bin" / "android" / _NDK_FOLDERS[abi]
        if (folder / "simpleperf").is_file():
            device.push(folder / "simpleperf", _PUSHED)
            return f"./{_PUSHED}"
    raise DeviceError(
        f"--simpleperf: {item.properties.name} has no simpleperf, and ANDROID_NDK_HOME "
        f"names no NDK to take it from; or push one to {_BY_HAND}"
    )


_LOG = logging.getLogger(__name__)

# Most capable first: without --target_abis, each device uses the first that it can run.
ANY_DEVICE = (Abi.ARM64_V8A, Abi.ARM64, Abi.ARMEABI_V7A, Abi.ARMHF)

_PROGRAMS = PurePosixPath("bazel_run") / "bin"
_RESULTS = SCRATCH / "results"

# Hardware counters that every version of simpleperf and perf supports.
_EVENTS = "cpu-cycles,instructions,cache-references,cache-misses,branch-misses"

_CANNOT_START = (126, 127)


@dataclass(frozen=True)
class BazelRunOptions:
    """What to build and where to run it.

    Attributes:
        target: Bazel's label of the program.
        run_target: run it; otherwise only build it.
        arguments: the program's.
        abis: to build for; empty: what each device runs best.
        socs: lower case, "all" or "random".
        output_dir: where logs and results go.
        gpu: with the GPU runtime; None: if the arguments name benchmarks on the GPU.
        dsp: with the DSP runtime, likewise.
        simpleperf: count hardware events while it runs.
        processor: what to make of the output: "auto", "none", "unittest" or
            "ops_benchmark".
        time_limit_s: end the program after so long.
    """

    target: str
    run_target: bool = False
    arguments: tuple[str, ...] = ()
    abis: tuple[Abi, ...] = ()
    socs: tuple[str, ...] = ("all",)
    devices_to_run: tuple[str, ...] = ()
    device_yml: Path | None = None
    output_dir: Path = Path("build") / "bazel_run"
    debug: bool = False
    address_sanitizer: bool = False
    gpu: bool | None = None
    dsp: bool | None = None
    simpleperf: bool = False
    processor: str = "auto"
    time_limit_s: float = 3600.0
    vlog_level: int = 0


@dataclass(frozen=True)
class Outcome:
    """How the program ended on one device.

    Attributes:
        status: its exit status; None if it did not run to its end.
        message: in one line.
        files: the log and the results that were brought back.
    """

    device: str
    abi: Abi
    status: int | None
    message: str
    files: tuple[Path, ...] = ()

    @property
    def passed(self) -> bool:
        return self.status == 0


def bazel_run(options: BazelRunOptions, console: Console) -> list[Outcome]:
    """Builds and, if asked to, runs the program.

    Args:
        console: where the program's output goes.

    Returns:
        one outcome per device and ABI; none when it was only built.

    Raises:
        MaceError: it cannot be built, or no device matches.
    """
    label = full_label(options.target)
    if not options.run_target:
        for abi in options.abis or ANY_DEVICE[:1]:
            path = _program(label, abi, options)
            _LOG.info("%s: %s (--run_target=True runs it)", abi.value, path)
        return []
    devices = find_devices(
        DeviceQuery(
            abis=options.abis or ANY_DEVICE,
            work_root=options.output_dir / "work",
            socs=options.socs,
            wanted=options.devices_to_run,
            device_yml=options.device_yml,
            any_abi=not options.abis,
        )
    )
    try:
        found = devices.found
        if not options.abis:
            found = [dataclasses.replace(d, abis=d.abis[:1]) for d in found]
        abis = dict.fromkeys(abi for item in found for abi in item.abis)
        programs = {abi: _program(label, abi, options) for abi in abis}
        counts = {item.properties.name: len(item.abis) for item in found}
        with show_progress(counts, console) as meter:
            places = [item.device for item in found]
            dsp = None
            if _with_dsp(options):
                dsp = DspFiles.of(places, RunOptions(build_dir=options.output_dir))
            session = _Session(
                label, options, programs, dsp, console, meter, threading.Lock()
            )
            groups = on_each_device(found, session.run_on)
    finally:
        close_all(devices)
    outcomes = [outcome for group in groups for outcome in group]
    for silent in devices.silent:
        outcomes += [
            Outcome(silent.name, abi, None, silent.reason)
            for abi in (silent.abis if options.abis else silent.abis[:1])
        ]
    return outcomes


def _program(label: str, abi: Abi, options: BazelRunOptions) -> Path:
    variant = _variant(abi, options)
    name = label.rpartition(":")[2].rpartition("/")[2]
    copy = options.output_dir / "programs" / variant.name / name
    return build_program(label, variant, copy)


def _variant(abi: Abi, options: BazelRunOptions) -> Variant:
    gpu = _wants(options, options.gpu, "_GPU")
    dsp = _with_dsp(options)
    return choose_variant(abi, options.debug, options.address_sanitizer, gpu, dsp)


def _with_dsp(options: BazelRunOptions) -> bool:
    return _wants(options, options.dsp, "_HEXAGON")


def _wants(options: BazelRunOptions, asked: bool | None, suffix: str) -> bool:
    """Whether a device is asked for, or a benchmark of that name."""
    if asked is not None:
        return asked
    return any(suffix in argument for argument in options.arguments)


@dataclass(frozen=True)
class _Session:
    """The data that the threads of all devices share."""

    label: str
    options: BazelRunOptions
    programs: Mapping[Abi, Path]
    # None: the program does not use the DSP.
    dsp: DspFiles | None
    console: Console
    meter: Meter
    # Held while a text is printed on the console.
    printing: threading.Lock

    @property
    def name(self) -> str:
        return self.label.rpartition(":")[2]

    def run_on(self, item: FoundDevice) -> list[Outcome]:
        outcomes: list[Outcome] = []
        name = item.properties.name
        trouble = ""
        try:
            self.meter.begin(name, "waiting")
            with device_lease(item.device):
                for abi in item.abis:
                    if trouble:
                        message = f"not run: {trouble}"
                        outcomes.append(Outcome(name, abi, None, message))
                    else:
                        outcome, trouble = self._attempt(item, abi)
                        outcomes.append(outcome)
                    self.meter.done(name)
        except DeviceStoppedError:
            raise
        except DeviceError as error:
            # The device stays in use.
            outcomes += [
                Outcome(name, abi, None, str(error))
                for abi in item.abis[len(outcomes) :]
            ]
        return outcomes

    def _attempt(self, item: FoundDevice, abi: Abi) -> tuple[Outcome, str]:
        """Runs once; also returns why the device cannot be used again, or None."""
        try:
            return self._run(item, abi), ""
        except DeviceStoppedError:
            raise
        except (MissingToolError, UnsupportedError) as error:
            # It has no DSP.
            return Outcome(item.properties.name, abi, None, str(error)), ""
        except DeviceError as error:
            trouble = trouble_of(item.device)
            name = item.properties.name
            log = self._path(item, abi, ".log")
            write_log(log, item.device, name, error.output)
            return Outcome(name, abi, None, str(error), (log,)), trouble

    def _run(self, item: FoundDevice, abi: Abi) -> Outcome:
        device = item.device
        program = _PROGRAMS / self.name
        step = self._step(item, abi)
        step("sending")
        device.prepare()
        device.push(self.programs[abi], program)
        of_dsp = self.dsp.begin(device, abi) if self.dsp else {}
        folder = device.work_dir / _RESULTS
        device.remove(_RESULTS)
        device.make_folder(_RESULTS / "tmp")
        step("running")
        result = device.run(
            [*self._profiler(item), f"./{program}", *self.options.arguments],
            env={
                **(sanitizer_environment() if self.options.address_sanitizer else {}),
                **of_dsp,
                # No /tmp on Android.
                "TMPDIR": str(folder / "tmp"),
                "TEST_TMPDIR": str(folder / "tmp"),
                "GTEST_OUTPUT": f"xml:{folder / 'test.xml'}",
                "MACE_CPP_MIN_VLOG_LEVEL": str(self.options.vlog_level),
            },
            time_limit_s=self.options.time_limit_s,
        )
        step("fetching results of")
        try:
            files = self._keep(item, abi, result)
            device.remove(_RESULTS)
        except DeviceError as error:
            error.output = result.output
            raise
        with self.printing:
            heading = f"{self.name} on {item.properties.name} ({abi.value})"
            print_text(self.console, f"\n{heading}:\n{result.output}")
        status = None if result.timed_out else result.status
        message = self._message(item, abi, result)
        return Outcome(item.properties.name, abi, status, message, tuple(files))

    def _step(self, item: FoundDevice, abi: Abi) -> Callable[[str], None]:
        """Receives the current step, for the display of progress."""
        program = f"{self.name} ({abi.value})"
        return lambda what: self.meter.begin(item.properties.name, f"{what} {program}")

    def _profiler(self, item: FoundDevice) -> list[str]:
        if not self.options.simpleperf:
            return []
        return [find_profiler(item), "stat", "-e", _EVENTS]

    def _keep(self, item: FoundDevice, abi: Abi, result: CommandResult) -> list[Path]:
        """Writes the log, and copies results back if there are any."""
        files = [self._path(item, abi, ".log")]
        if result.status > 128 or result.status in _CANNOT_START or result.timed_out:
            write_log(files[0], item.device, item.properties.name, result.output)
        else:
            with atomic_write(files[0], "w") as stream:
                stream.write(result.output)
        if item.device.has_file(_RESULTS / "test.xml"):
            files.append(self._path(item, abi, ".xml"))
            item.device.pull(_RESULTS / "test.xml", files[-1])
        rows = benchmark_rows(result.output)
        if rows and self.options.processor in ("auto", "ops_benchmark"):
            files.append(self._path(item, abi, ".csv"))
            with atomic_write(files[-1], "w") as stream:
                writer = csv.writer(stream, lineterminator="\n")
                writer.writerows([BENCHMARK_COLUMNS, *rows])
        return files

    def _path(self, item: FoundDevice, abi: Abi, suffix: str) -> Path:
        stem = f"{self.name}_{item.properties.name}_{abi.value}"
        stem = re.sub(r"[^0-9A-Za-z.+-]", "_", stem)
        return self.options.output_dir / f"{stem}{suffix}"

    def _message(self, item: FoundDevice, abi: Abi, result: CommandResult) -> str:
        if result.timed_out:
            return f"ended after {self.options.time_limit_s:.0f} s"
        if result.status in _CANNOT_START:
            last = result.output.strip().rpartition("\n")[2]
            can = ", ".join(a.value for a in item.properties.abis)
            return (
                f"the program for {abi.value} cannot be started on a device that "
                f"says it runs {can}: {last}"
            )
        if result.status > 128:
            found = sanitizer_summary(result.output)
            why = f": {found}" if found else ""
            return f"crashed (signal {result.status - 128}){why}"
        figures = None
        if self.options.processor in ("auto", "unittest"):
            figures = test_figures(result.output)
        if figures is not None and figures.failed:
            shown = ", ".join(figures.failed[:5])
            more = ", ..." if len(figures.failed) > 5 else ""
            return f"{figures.line()}; failed: {shown}{more}"
        if figures is not None:
            return figures.line()
        return "done" if result.status == 0 else f"exit status {result.status}"

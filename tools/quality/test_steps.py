# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The steps of `tools/test.sh` and how the output of each is counted."""

from __future__ import annotations

import enum
import re
import sys
from dataclasses import dataclass, replace
from typing import Callable, Dict, Iterable, Mapping, Sequence, Tuple

from mace.python.tools.build_tools import bazel_command
from tools.quality.pocl import FOLDER, variables

# Native code that has to hold on every target.
_NATIVE = (
    *("//mace/core/...", "//mace/kernels/...", "//mace/ops/..."),
    "//mace/runtimes/...",
    *("//test/allocation_failure/...", "//test/bands/..."),
)
# Failures of every call of the GPU's driver, its defects, and what its check finds.
_GPU_FAULTS = (
    "//test/opencl:constants_test",
    "//test/opencl:engine_test",
    "//test/opencl:out_of_range_test",
    "//test/opencl:selftest_test",
)
# About other devices than this computer, and how fast it is: targets that the step
# `host` leaves out where this computer is all that counts, and files of such code.
_TARGETS_OF_OTHERS = (
    *("-//mace/kernels/hexagon/...", "-//mace/runtimes/hexagon/..."),
    *("-//mace/runtimes/delegate/...", "-//mace/runtimes/hta/..."),
    *("-//mace/runtimes/neuron/...", "-//mace/runtimes/qnn/..."),
    *("-//mace/examples/delegate/...", "-//test/delegates/...", "-//test/hexagon/..."),
    *("-//benchmarks/...", "-//mace/ops:ops_benchmark_test"),
    "-//mace/ops/testing:benchmark_test",
)
OF_OTHERS = re.compile(r"hexagon|delegate|/hta/|/neuron/|/qnn/|benchmark")
# What runs all kernels but once, for a core that other steps do not have. Larger
# cases only repeat instructions: ops_test runs these kernels as well.
_KERNELS = (
    *("//mace/kernels/cpu/...", "-//mace/kernels/cpu/conv:direct_test"),
    *("-//mace/kernels/cpu/dwconv:dwconv_test",),
    *("-//mace/kernels/cpu/winograd:conv_winograd_test",),
    *("//mace/ops:ops_test", "//mace/ops/testing:all_ops_test"),
)
# The 49 tests of ops_test, of 369, that take four fifths of its time in emulation.
# Steps `arm64` and `armhf` run them; where the same objects run again, they do not.
# WinogradConvTest.OfManyChannels is long, too, but for cores without dotprod alone.
LONGEST_OPS_TESTS = (
    "ActivationOpTest.EveryKindMatchesItsFormula",
    "ConcatTest.JoinsAlongEveryAxis",
    "Conv2DTypesTest.Bf16Activations",
    "Conv2DTypesTest.Bf16Arithmetic",
    "Conv2DTypesTest.Fp16Arithmetic",
    "CumSumOpTest.AddsWhatIsStoredIn16Bits",
    "Deconv2DTest.Depths",
    "Deconv2DTest.FewChannels",
    "Deconv2DTest.FewChannelsOfLargeImages",
    "Deconv2DTest.KernelsAndStrides",
    "Deconv2DTest.ManyRows",
    "DepthwiseDeconv2dTest.KernelsAndStrides",
    "DynamicQuantizeMatMulTest.LargeOnes",
    "DynamicQuantizeMatMulTest.RowsAndColumns",
    "EltwiseOpTest.BroadcastsAsNumPyDoes",
    "EltwiseOpTest.BroadcastsNumbersOf16Bits",
    "FullyConnectedTest.AddsAResidualBeforeTheActivation",
    "GridSampleOpTest.SamplesImages",
    "GridSampleOpTest.SamplesVolumes",
    "Int16Conv2DTest.LargeSums",
    "Int16DepthwiseTest.LargeSums",
    "MatMulIntegerTest.LargeOnes",
    "MatMulTest.LongSums",
    "MatMulTest.ManyRows",
    "MatMulTest.ManyTiles",
    "PoolingTest.MatchesTheReference",
    "QuantizedMatMulTest.ManyTasks",
    "QuantizedSoftmaxTest.LongRows",
    "RecurrentTest.MatchesTheReference",
    "RecurrentTest.RowsThatThreadsDivide",
    "RecurrentTest.UnitsThatThreadsDivide",
    "ReduceTest.EveryModeOverEverySetOfAxes",
    "ResizeTest.ComputesInFloatForSixteenBits",
    "ResizeTest.EveryNumberOfChannels",
    "ScatterTest.Slices",
    "SmallGroupsTest.Bf16Arithmetic",
    "SmallGroupsTest.EveryWidth",
    "SmallGroupsTest.OthersAreProducts",
    "SmallGroupsTest.WideImages",
    "SoftmaxTest.MatchesTheReferenceAlongEveryAxis",
    "TransposeTest.EveryPermutationOf16Bits",
    "TransposeTest.EveryPermutationOf32Bits",
    "TransposeTest.EveryPermutationOf64Bits",
    "TransposeTest.EveryPermutationOf8Bits",
    "TransposeTest.FewChannels",
    "WinogradConvTest.FromSixteenBitFilters",
    "WinogradConvTest.KeepsNoCopyOfALargeFilter",
    "WinogradConvTest.WithDilation",
    "WinogradConvTest.WithinTheHint",
)
# For Bazel: programs and libraries are linked as they were compiled.
_BAZEL_FLAGS = "BAZEL_FLAGS"
QUICK_LINKS = "--features=-lto_link"
# What every step may need, as tasks of tools/setup.sh.
SETUP_TASKS = ("test",)
COMMANDS = "test/docs/commands_test.py"
# Builds the Python package of libraries that earlier steps build.
_WHEEL = "test/wheel"
_DEVICES = "test/devices"
# Builds all of the library anew, for each ABI.
_ANDROID = "test/android_ndk"
# Compiles OpenCL kernels in qemu.
_OPENCL_ARM64 = "test/opencl_arm64"
# The frameworks' models, read and compared in Python alone.
IMPORTERS = ("mace/python/tools/importers", "mace/python/rare_ops")
# Networks and operators in the engine, beside their frameworks.
_NETWORKS = "test/conformance"
# What the steps `networks` and `python` leave to others.
IN_OTHER_STEPS = (COMMANDS, _DEVICES, _ANDROID, _OPENCL_ARM64, *IMPORTERS, _WHEEL)
VARIABLE = "MACE_TEST_THIS_COMPUTER"
# Which operators' cases and which pages' commands are tried, separated by commas; all,
# if the variable is not set.
OPS_VARIABLE = "MACE_TEST_OPS"
PAGES_VARIABLE = "MACE_TEST_PAGES"
# How tests in Python know that they are only asked about this computer (test/here.py).
_HERE = ("env", f"{VARIABLE}=1")
# The fewest instructions of the processor that each engine can do with: ours, then
# TensorFlow's, oneDNN's and PyTorch's. What is right by definition is right with these.
_LOWEST = (
    "env",
    "MACE_CPU_ISA=sse41",
    "TF_ENABLE_ONEDNN_OPTS=0",
    "ONEDNN_MAX_CPU_ISA=SSE41",
    "ATEN_CPU_CAPABILITY=default",
)
# Tests in Python that run much of the native code.
_RUN_NATIVE = (_NETWORKS, "mace/python/runtime")
# Those among them that do not, or choose the instruction set themselves.
_OF_ANY_ISA = (
    "test/conformance/onnx/isas_test.py",
    "test/conformance/onnx/light_models_test.py",
    "test/conformance/pytorch/recorded_test.py",
)
# About nothing else than other processors and devices.
_ELSEWHERE = ("test/device_farm", "test/hexagon_sdk", "mace/java")
_BAZEL_RESULT = re.compile(
    r"^//\S+ +(?:\(cached\) )?(PASSED|FLAKY|FAILED|TIMEOUT|NO STATUS|INCOMPLETE)",
    re.MULTILINE,
)
_NO_RESTART = "--max-worker-restart=0"
_PYTEST_COUNT = re.compile(r"(\d+) (passed|failed|errors?)\b")
_PYTEST_END = re.compile(r" in \d+(?:\.\d+)?s\b")


@dataclass(frozen=True)
class Counts:
    """Tests that passed and that failed."""

    passed: int
    failed: int

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.passed + other.passed, self.failed + other.failed)


def count_bazel(output: str, status: int) -> Counts:
    """Test programs, from the lines that Bazel ends with."""
    results = _BAZEL_RESULT.findall(output)
    passed = sum(result in ("PASSED", "FLAKY") for result in results)
    failed = len(results) - passed
    # A build that breaks has no results, yet is no success.
    return Counts(passed, max(failed, 1) if status else failed)


def count_pytest(output: str, status: int) -> Counts:
    """Tests, from the line that pytest ends with."""
    lines = [line for line in output.splitlines() if _PYTEST_END.search(line)]
    found: Dict[str, int] = {}
    for number, word in _PYTEST_COUNT.findall(lines[-1]) if lines else []:
        found[word[:6]] = found.get(word[:6], 0) + int(number)
    failed = found.get("failed", 0) + found.get("error", 0) + found.get("errors", 0)
    passed = found.get("passed", 0)
    if status or not passed:
        failed = max(failed, 1)
    return Counts(passed, failed)


def count_one(output: str, status: int) -> Counts:
    """One test: the command itself."""
    del output
    return Counts(int(status == 0), int(status != 0))


class Tier(enum.Enum):
    """Which calls of `tools/test.sh` run a step."""

    # Every call: what this computer itself shows, in a coffee break.
    USUAL = ""
    # Other processors, devices, systems and builds.
    ALL = "with --all"
    # It takes too long or downloads too much for every run.
    BY_NAME = "by name alone"


@dataclass(frozen=True)
class Step:
    """One named part of the tests.

    Attributes:
        name: for --only.
        summary: what it shows, in a few words.
        command: what is run, in the root of the checkout.
        count: turns output and exit status into counts.
        tier: which calls run it.
        events: where in the checkout the command has Bazel say what came of
            each test; empty if it isn't Bazel.
        profile: likewise, where Bazel says how long each action took.
        cores: how many processors keep it busy; steps run side by side as long
            as there are enough (run_steps.CORES).
        writes: what no two steps may have at the same time, by any name. "build":
            `build`, and what Bazel builds for one target with different flags.
        overtakes: whether it may begin before steps above it that wait for processors.
        tasks: of tools/setup.sh that it needs besides SETUP_TASKS.
        here: the command in place of `command` where this computer is all that counts,
            and what it leaves out is not asked for; empty if it is the same.
        whole_links: whether it links what users get: optimised as a whole, which takes
            up to 40 s a program. Other steps (QUICK_LINKS) test the same objects.
        still_minutes: after which it is ended if nothing moves (motion.py); however
            long it takes otherwise, it goes on.
    """

    name: str
    summary: str
    command: Tuple[str, ...]
    count: Callable[[str, int], Counts]
    tier: Tier = Tier.ALL
    events: str = ""
    profile: str = ""
    cores: int = 2
    writes: str = ""
    overtakes: bool = True
    tasks: Tuple[str, ...] = ()
    here: Tuple[str, ...] = ()
    whole_links: bool = False
    still_minutes: float = 20.0


def _ignored(paths: Iterable[str]) -> Tuple[str, ...]:
    """Flags of pytest that leave files or folders out."""
    return tuple(f"--ignore={path}" for path in paths)


def _pytest(
    *arguments: str, processes: int = 1, together: str = "file"
) -> Tuple[str, ...]:
    """Runs tests.

    Args:
        together: what one process runs of several: "file", or "group" for tests that
            need no other test but those with their mark `xdist_group`.
    """
    words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    # With a new process in place of one that crashed, the others may wait for ever.
    # In the order of conftest.py.
    order = (f"--dist=load{together}", "--no-loadscope-reorder")
    several = (f"--numprocesses={processes}", *order, _NO_RESTART)
    return (*words, *(several if processes > 1 else ()), "--durations=200", *arguments)


def pytest_step(step: Step, environment: Sequence[str], tests: Sequence[str]) -> Step:
    """A step of pytest that runs a few files of tests.

    Args:
        step: with these among many.
        environment: variables, as NAME=VALUE.
        tests: the files.
    """
    processes = 2 if step.cores > 1 and len(tests) > 1 else 1
    command = ("env", *environment, *_pytest(*tests, processes=processes))
    return replace(step, command=command, here=())


def variables_of(step: Step, environment: Mapping[str, str]) -> Dict[str, str]:
    """The environment in which a step runs.

    Args:
        step: any.
        environment: of the whole run.
    """
    return dict(environment) if step.whole_links else _linking_quickly(environment)


def _linking_quickly(environment: Mapping[str, str]) -> Dict[str, str]:
    flags = f"{environment.get(_BAZEL_FLAGS, '')} {QUICK_LINKS}".strip()
    return {**environment, _BAZEL_FLAGS: flags}


def steps(environment: Mapping[str, str]) -> Tuple[Step, ...]:
    """All steps, in the order they run.

    Args:
        environment: says which Bazel to run and how, see build_tools.bazel_command.
    """
    bazel = bazel_command(_linking_quickly(environment))
    pocl = (
        # The tests share what it keeps.
        f"--sandbox_writable_path={FOLDER}",
        *(f"--test_env={name}={value}" for name, value in variables().items()),
    )

    def native(
        name: str,
        summary: str,
        *targets: str,
        config: str = "",
        cpu: str = "",
        options: Sequence[str] = (),
        tier: Tier = Tier.ALL,
        everything: bool = False,
    ) -> Step:
        flags = [f"--config={config or name}", *options]
        if cpu:
            flags.append(f"--test_env=MACE_QEMU_CPU={cpu}")
            flags.append(f"--test_arg=--gtest_filter=-{':'.join(LONGEST_OPS_TESTS)}")
        events = f"build/test/{name}.events.json"
        profile = f"build/test/{name}.profile.gz"
        output = (
            "--color=no",
            # A line every now and then: how far it is, and what it waits for.
            *("--curses=no", "--show_progress_rate_limit=30"),
            f"--build_event_json_file={events}",
            f"--profile={profile}",
        )
        words = bazel.words("test", "--keep_going", *output, *flags)
        rest = ("--", *targets)
        # Programs that are not tests, mainly benchmarks, are built as well.
        more = ("--nobuild_tests_only",) if everything else ()
        return Step(
            name,
            summary,
            (*words, *more, *rest),
            count_bazel,
            tier,
            events,
            profile,
            here=(*words, *rest, *_TARGETS_OF_OTHERS) if everything else (),
        )

    return (
        native(
            "host",
            "native tests on this computer",
            "//...",
            options=("--test_tag_filters=-opencl",),
            tier=Tier.USUAL,
            everything=True,
        ),
        native(
            "gpu",
            "OpenCL, by PoCL on this computer's processor",
            "//...",
            config="host",
            options=("--test_tag_filters=opencl", *pocl),
        ),
        Step(
            "demo",
            "the first command of the README",
            ("bash", "tools/demo.sh"),
            count_one,
            whole_links=True,
        ),
        native("arm64", "native tests, 64-bit ARM in qemu", *_NATIVE),
        native(
            "base-arm64",
            "kernels on 64-bit ARM without any extension",
            *_KERNELS,
            config="arm64",
            cpu="cortex-a53",
        ),
        native("armhf", "native tests, 32-bit ARM in qemu", *_NATIVE),
        native(
            "hexagon",
            "what runs on the DSP, in qemu",
            "//mace/kernels/hexagon/...",
        ),
        native(
            "sanitize",
            "native tests, addresses and undefined behaviour",
            *_NATIVE,
            *_GPU_FAULTS,
            options=pocl,
        ),
        native(
            "tsan",
            "thread pool and engine, data races",
            *("//mace/core/...", "//mace/runtimes/..."),
            # Plans in one thread, with all operators and kernels.
            "-//mace/runtimes/opencl/plan:plan_test",
        ),
        Step(
            "standalone",
            "libmace outside of Bazel, three ABIs, whole and for one network",
            ("bash", "test/standalone/link_test.sh"),
            count_one,
            cores=1,
            writes="build",
            whole_links=True,
        ),
        Step(
            "linked",
            "models as code outside of Bazel, three ABIs",
            ("bash", "test/standalone/linked_models_test.sh"),
            count_one,
            cores=1,
            writes="build",
            whole_links=True,
        ),
        Step(
            "baseline",
            "the oldest Linux that libmace runs on",
            ("bash", "test/standalone/baseline_test.sh"),
            count_one,
            cores=1,
            writes="build",
            whole_links=True,
        ),
        # It replaces libraries that `baseline` reads.
        Step(
            "install",
            "an installed libmace: CMake, pkg-config, encrypted models",
            ("bash", "test/standalone/install_test.sh"),
            count_one,
            cores=1,
            writes="build",
            whole_links=True,
        ),
        Step(
            "wheel",
            "the Python package, installed outside of the checkout",
            _pytest(_WHEEL),
            count_pytest,
            cores=1,
            writes="build",
            whole_links=True,
        ),
        Step(
            "gpu-arm64",
            "OpenCL on 64-bit ARM, by PoCL in qemu",
            _pytest(_OPENCL_ARM64),
            count_pytest,
            cores=1,
            writes="build",
        ),
        Step(
            "commands",
            "what README and documentation tell to type",
            _pytest(COMMANDS),
            count_pytest,
            Tier.USUAL,
            cores=1,
            writes="build",
            here=(*_HERE, *_pytest(COMMANDS)),
        ),
        Step(
            "docs",
            "the documentation builds without a warning",
            ("bash", "tools/build_docs.sh"),
            count_one,
            cores=1,
            writes="build",
            tasks=("docs",),
        ),
        # Beside those that write the build folder, on the core that is free. First come
        # those that never wait for Bazel: it serves one step at a time.
        Step(
            "importers",
            "models of all frameworks as the converter reads them",
            (*_LOWEST, *_pytest(*IMPORTERS)),
            count_pytest,
            Tier.USUAL,
            cores=1,
        ),
        Step(
            "check",
            "form, types and house rules",
            (sys.executable, "tools/check.py", "--all"),
            count_one,
            cores=1,
        ),
        Step(
            "android",
            "libmace for Android, by a stand-in for the NDK",
            _pytest(_ANDROID),
            count_pytest,
            cores=1,
            whole_links=True,
        ),
        Step(
            "fuzz",
            "readers of files, for a minute",
            ("bash", "test/fuzz/run_fuzzers.sh", "--seconds", "60"),
            count_one,
            cores=1,
        ),
        # It keeps copies of the programs that it builds.
        Step(
            "networks",
            "networks and operators beside their frameworks",
            _pytest(_NETWORKS),
            count_pytest,
            Tier.USUAL,
            cores=1,
            here=(*_HERE, *_pytest(_NETWORKS)),
        ),
        # The last ones build programs with other flags than the steps of libraries and
        # packages, beside which Bazel would link for each in turn. More processes than
        # one: they share what the others leave, and in the end have all.
        Step(
            "python",
            "converter and tools",
            _pytest(*_ignored((*IN_OTHER_STEPS, _NETWORKS)), processes=2),
            count_pytest,
            Tier.USUAL,
            cores=1,
            overtakes=False,
            here=(
                *_HERE,
                *_pytest(
                    *_ignored((*IN_OTHER_STEPS, _NETWORKS, *_ELSEWHERE)), processes=2
                ),
            ),
        ),
        Step(
            "lowest",
            "networks and the Python package, on the lowest instruction set",
            (
                *(*_HERE, *_LOWEST[1:]),
                *_pytest(*_RUN_NATIVE, *_ignored(_OF_ANY_ISA), processes=2),
            ),
            count_pytest,
            cores=1,
            overtakes=False,
        ),
        Step(
            "devices",
            "the tools on phones and boards of the device farm",
            _pytest(_DEVICES, processes=4, together="group"),
            count_pytest,
            # Half of the time it waits for what it makes slow or silent.
            cores=1,
            overtakes=False,
        ),
        Step(
            "images",
            "both Docker images are built; the Python package and README inside",
            ("bash", "test/docker/build.sh"),
            count_one,
            writes="build",
            tier=Tier.BY_NAME,
            tasks=("images",),
            whole_links=True,
        ),
    )

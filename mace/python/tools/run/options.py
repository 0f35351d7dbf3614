# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The options of ``converter.py run`` (and of its old form ``benchmark``)."""

from __future__ import annotations

import argparse
import dataclasses
import enum
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.command_line import flags
from mace.python.tools.command_line.options import (
    OLD,
    CommandOptions,
    Group,
    add_old_flag,
    add_options,
    flag,
    read_options,
    same_flag,
)
from mace.python.tools.config import limits
from mace.python.tools.config.effect import Asked, no_effect, refused
from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.errors import UsageError
from mace.python.tools.wording import listed, near_file


class CpuAffinityPolicy(enum.IntEnum):
    """On which cores the threads run; values as in the public C++ API."""

    NONE = 0
    BIG_ONLY = 1
    LITTLE_ONLY = 2
    HIGH_PERFORMANCE = 3
    POWER_SAVE = 4


class GpuHint(enum.IntEnum):
    """Level of a GPU performance or priority hint, as in the public API."""

    DEFAULT = 0
    LOW = 1
    NORMAL = 2
    HIGH = 3


@dataclass(frozen=True)
class LayerRange:
    """A slice ``start:stop`` of the layers in run order, as Python counts.

    Either end may be None (open) or negative (counted from the last).
    """

    start: int | None = None
    stop: int | None = None

    def indices(self, count: int) -> range:
        """The layer numbers chosen out of `count` layers."""
        return range(count)[self.start : self.stop]


def layer_range(text: str) -> LayerRange | None:
    """``START:END`` as Python slices, one layer ``N``, or -1 for none."""
    if text.strip() == "-1":
        return None
    ends = [part.strip() for part in text.split(":")]
    numbers = [flags.int_or_none(end) if end else None for end in ends]
    wrong = any(end and number is None for end, number in zip(ends, numbers))
    if wrong or len(ends) > 2 or (len(ends) == 1 and numbers[0] is None):
        raise argparse.ArgumentTypeError(
            f"found {text!r}, accepted: START:END such as 0:10 or : for all, or one "
            "layer number"
        )
    if len(ends) == 1:
        first = numbers[0]
        assert first is not None
        return LayerRange(first, first + 1 if first != -1 else None)
    return LayerRange(numbers[0], numbers[1])


_RUN = Group("run")
_VALIDATION = Group("validation")
_DEVICES = Group("devices")
_CPU = Group("CPU")


def _group_of(title: str, *runtimes: Runtime) -> Group:
    names = listed(runtime.value for runtime in runtimes)
    there = any(runtime.in_release for runtime in runtimes)
    what = f"for runtime {names}"
    return Group(title, what if there else f"{what}: not in this release, no effect")


_ACCELERATORS = (Runtime.HTA, Runtime.HTP, Runtime.APU)
_GPU = _group_of("GPU", Runtime.GPU)
_ACCELERATOR = _group_of("accelerators", *_ACCELERATORS)
_ON_GPU = {Runtime.GPU: "the run"}
_ON_ACCELERATOR = dict.fromkeys(_ACCELERATORS, "the compiled model")
_ON_APU = {Runtime.APU: "the run"}

# Options that do not apply to samples of --input_dir, which are run once.
_NOT_WITH_SAMPLES = (
    "validate",
    "benchmark",
    "round",
    "duration",
    "warmup_rounds",
    "restart_round",
    "full",
    "json",
    "report",
    "fallback",
)


def _samples(asked: Asked) -> str:
    problems = []
    wrong = [
        f"--{item.name}"
        for item in dataclasses.fields(RunOptions)
        if item.name in _NOT_WITH_SAMPLES
        and getattr(asked.options, item.name) != item.default
    ]
    if wrong:
        problems.append(
            f"samples are run once each; leave out {', '.join(wrong)}, or --input_dir"
        )
    if asked.options.quantize_stat and asked.options.output_dir is not None:
        problems.append("--quantize_stat keeps no outputs; leave out --output_dir")
    if asked.options.output_dir is None and not asked.options.quantize_stat:
        problems.append("needs --output_dir: where the outputs go")
    return "; ".join(problems)


@dataclass(frozen=True)
class RunOptions(CommandOptions):
    """What a run is asked for, besides the deployment."""

    benchmark: bool = flag(False, "measure every operator", group=_RUN)
    round: int = flag(
        1, "number of times to run the model", flags.integer(1), group=_RUN, metavar="N"
    )
    duration: float = flag(
        0.0,
        "run the model for so long, instead of --round times (default 0: by rounds)",
        flags.number(0, 604800),
        group=_RUN,
        metavar="SECONDS",
    )
    warmup_rounds: int = flag(
        1,
        "untimed runs before the others (default 1)",
        flags.integer(1),
        group=_RUN,
        metavar="N",
    )
    full: bool = flag(
        False,
        "with --benchmark: print all tables of mace_run, with every operator",
        group=_RUN,
    )
    json: str = flag(
        "",
        "write all results as JSON to FILE; -: to standard output, and everything "
        "else to standard error",
        str,
        group=_RUN,
        metavar="FILE",
    )
    restart_round: int = flag(
        1,
        "number of times to start the whole process",
        flags.integer(1),
        group=_RUN,
        metavar="N",
    )
    fake_warmup: bool = flag(
        False, "prepare the engine instead of a first, untimed run", group=_RUN
    )
    # No flag of `run`: `explain` asks for the plan of a run, and for no run.
    plan_only: bool = False
    quantize_stat: bool = flag(
        False,
        "print the range of every tensor for each sample in --input_dir, computed in "
        "floats on this computer: the first step of post-training quantization",
        group=_RUN,
    )
    input_dir: Path | None = flag(
        None,
        "run every sample in DIR: raw files <input><suffix>, one suffix per sample; "
        "needs --output_dir or --quantize_stat",
        flags.path,
        refused(_samples, "with flags for a single set of inputs"),
        group=_RUN,
        metavar="DIR",
    )
    output_dir: Path | None = flag(
        None,
        "keep outputs in DIR, as <output>, or as <output><suffix> for samples",
        flags.path,
        group=_RUN,
        metavar="DIR",
    )
    # Limits the time of a program that hangs.
    time_limit: int = flag(
        4 * 3600,
        "time limit of each start of mace_run",
        flags.integer(1),
        group=_RUN,
        metavar="SECONDS",
    )
    watch_memory: int = flag(
        0,
        "interval at which to measure the memory of mace_run; on Android with "
        "dumpsys meminfo too (default 0: never)",
        flags.integer(0),
        group=_RUN,
        metavar="SECONDS",
    )
    report: bool = flag(False, "write JSON and HTML reports", group=_RUN)
    report_dir: Path | None = flag(
        None,
        "where reports go (default <build_dir>/<library_name>/report); implies "
        "--report",
        flags.path,
        group=_RUN,
        metavar="DIR",
    )
    runtime_failure_ratio: float = flag(
        0.0,
        "share of runs that fail on purpose, to test recovery (default 0)",
        flags.ratio,
        group=_RUN,
        metavar="0..1",
    )
    mace_lib_type: str = flag(
        "static",
        "library to link mace_run with",
        None,
        no_effect("mace_run contains the library, and is run as it is", "if dynamic"),
        group=_RUN,
        choices=("static", "dynamic"),
    )
    validate: bool = flag(
        False, "compare with the framework the model comes from", group=_VALIDATION
    )
    layers: LayerRange | None = flag(
        None,
        "with --validate: compare these layers too, counted as Python slices (: for "
        "all); all numbers go to <build_dir>/<library_name>/model/<runtime>/log.csv",
        layer_range,
        group=_VALIDATION,
        metavar="START:END",
    )
    bisect: bool = flag(
        False,
        "with --validate: if an output is wrong, find the first wrong operator",
        group=_VALIDATION,
    )
    fallback: str = flag(
        "none",
        "python: if mace_run for this computer has no kernels for a model, or cannot "
        "be built, compute the model with NumPy, to validate its conversion",
        group=_VALIDATION,
        choices=("none", "python"),
    )
    caffe_env: str = flag(
        "docker",
        "where Caffe runs",
        None,
        no_effect(limits.NO_CONTAINER),
        group=_VALIDATION,
        choices=("docker", "local"),
    )
    device_yml: Path | None = flag(
        None, flags.DEVICE_YML_HELP, flags.path, group=_DEVICES, metavar="FILE"
    )
    devices_to_run: tuple[str, ...] = flag(
        (),
        "only these devices, by name or serial number; host is this computer, and "
        "qemu emulates a board",
        flags.words,
        group=_DEVICES,
        metavar="NAME[,NAME]",
    )
    num_threads: int = flag(
        -1,
        "number of threads (default -1: the library chooses)",
        flags.thread_count,
        group=_CPU,
        metavar="N",
        was=("omp_num_threads",),
    )
    cpu_affinity_policy: CpuAffinityPolicy = flag(
        CpuAffinityPolicy.BIG_ONLY,
        "0 NONE, 1 BIG_ONLY, 2 LITTLE_ONLY, 3 HIGH_PERFORMANCE, 4 POWER_SAVE",
        flags.choice(CpuAffinityPolicy),
        group=_CPU,
        metavar="0..4",
    )
    gpu_perf_hint: GpuHint = flag(
        GpuHint.HIGH,
        "performance: 0 DEFAULT, 1 LOW, 2 NORMAL, 3 HIGH (default 3)",
        flags.choice(GpuHint),
        group=_GPU,
        metavar="0..3",
        on=_ON_GPU,
    )
    gpu_priority_hint: GpuHint = flag(
        GpuHint.HIGH,
        "priority: 0 DEFAULT, 1 LOW, 2 NORMAL, 3 HIGH (default 3)",
        flags.choice(GpuHint),
        group=_GPU,
        metavar="0..3",
        on=_ON_GPU,
    )
    gpu_out_of_range_check: bool = flag(
        False,
        "fail at the first operator whose result has NaN or Inf; slow",
        group=_GPU,
        on=_ON_GPU,
        was=("check_gpu_out_of_memory",),
    )
    tuning: bool = flag(
        False,
        "tune kernels for the device and copy the result to "
        "<build_dir>/<library_name>/opencl; without it, if the file names target_socs",
        group=_GPU,
        on=_ON_GPU,
    )
    disable_tuning: bool = flag(
        False, "do not tune kernels for the device", group=_GPU, on=_ON_GPU
    )
    cl_binary_to_code: bool = flag(
        False,
        "also write the copied compiled kernels and tuned parameters as C++ code",
        group=_GPU,
        on=_ON_GPU,
    )
    opencl_cache_reuse_policy: int = flag(
        1,
        "1: reuse compiled kernels of an earlier run, 0: compile again (default 1)",
        flags.integer(0, 1),
        group=_GPU,
        metavar="0|1",
        on=_ON_GPU,
    )
    accelerator_cache_policy: int = flag(
        0,
        "compiled model: 0 none, 1 store, 2 load, 3 load or else store",
        flags.integer(0, 3),
        group=_ACCELERATOR,
        metavar="0..3",
        on=_ON_ACCELERATOR,
    )
    accelerator_binary_file: Path | None = flag(
        None,
        "compiled model to load",
        flags.path,
        group=_ACCELERATOR,
        metavar="FILE",
        on=_ON_ACCELERATOR,
    )
    accelerator_storage_file: Path | None = flag(
        None,
        "where to store the compiled model",
        flags.path,
        group=_ACCELERATOR,
        metavar="FILE",
        on=_ON_ACCELERATOR,
    )
    apu_boost_hint: int = flag(
        100,
        "APU boost",
        flags.integer(0, 100),
        group=_ACCELERATOR,
        metavar="0..100",
        on=_ON_APU,
    )
    apu_preference_hint: int = flag(
        1,
        "APU prefers 0 low power, 1 fast answer, 2 sustained speed",
        flags.integer(0, 2),
        group=_ACCELERATOR,
        metavar="0..2",
        on=_ON_APU,
    )
    use_system_libhexagon_nn: bool = flag(
        False,
        "use the libhexagon_nn of the device",
        None,
        no_effect(limits.NO_NNLIB),
        group=OLD,
    )


@dataclass(frozen=True)
class BuildOptions(CommandOptions):
    """Options of `build`."""

    tuning: bool = same_flag(RunOptions, "tuning")


def add_run_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `run`."""
    add_options(parser, RunOptions)
    add_old_flag(
        parser, "validate_all_layers", "validate_all_layers", "--validate --layers=:"
    )
    add_old_flag(parser, "example")


def run_options(args: argparse.Namespace) -> RunOptions:
    """The options that a command line asks for.

    Raises:
        UsageError: flags that contradict, or name what is not there.
    """
    options = read_options(RunOptions, args)
    if getattr(args, "validate_all_layers", False):
        options = dataclasses.replace(options, validate=True, layers=LayerRange())
    if options.layers is not None and not options.validate:
        raise UsageError("--layers needs --validate: there is nothing to compare with")
    if options.bisect and not options.validate:
        raise UsageError("--bisect needs --validate: there is nothing to compare with")
    if options.full and not options.benchmark:
        raise UsageError("--full needs --benchmark: there are no tables without it")
    if options.duration and options.round != 1:
        raise UsageError(
            "--duration and --round exclude each other: how long, or how often"
        )
    if options.duration >= options.time_limit:
        raise UsageError(
            f"--duration={options.duration:g} is not below the limit of each start, "
            f"--time_limit={options.time_limit}; allow more time"
        )
    if options.fake_warmup and options.warmup_rounds != 1:
        raise UsageError("--fake_warmup and --warmup_rounds exclude each other")
    check_device_file(options.device_yml)
    if options.quantize_stat and options.input_dir is None:
        raise UsageError("--quantize_stat needs --input_dir: the folder of samples")
    if options.tuning and options.disable_tuning:
        raise UsageError("--tuning and --disable_tuning exclude each other")
    if options.input_dir is not None and not options.input_dir.is_dir():
        near = near_file(options.input_dir)
        raise UsageError(f"--input_dir={options.input_dir}: no such folder{near}")
    implied = options.report or options.report_dir is not None
    return dataclasses.replace(options, report=implied)


def check_device_file(path: Path | None) -> None:
    """Whether the file of --device_yml, if one is given, is there.

    Raises:
        UsageError: it is not.
    """
    if path is not None and not path.is_file():
        raise UsageError(f"--device_yml={path}: no such file{near_file(path)}")

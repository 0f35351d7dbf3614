# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The flags of `run`, and of `benchmark`, its earlier form."""

from __future__ import annotations

import argparse

from mace.python.tools.cli import flags
from mace.python.tools.cli.options import CpuAffinityPolicy, GpuHint, RunOptions
from mace.python.tools.cli.shared_flags import (
    add_deployment,
    add_logging,
    add_old_switch,
    add_quantize_stat,
)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `run`."""
    parser.epilog = "Needs the output of: converter.py convert --config=FILE"
    add_deployment(parser)
    group = parser.add_argument_group("run")
    _add_benchmark_switch(group)
    group.add_argument(
        "--round",
        type=flags.integer(1),
        default=1,
        metavar="N",
        help="how often to run the model (default 1)",
    )
    group.add_argument(
        "--restart_round",
        type=flags.integer(1),
        default=1,
        metavar="N",
        help="how often to start the whole process anew (default 1)",
    )
    flags.add_switch(
        group, "--fake_warmup", "prepare the engine instead of a first, untimed run"
    )
    add_quantize_stat(
        group,
        "run every sample in DIR: raw files <input><suffix>, one suffix per sample; "
        "needs --output_dir",
    )
    group.add_argument(
        "--output_dir",
        type=flags.path,
        metavar="DIR",
        help="keep outputs in DIR, as <output> or, of samples, <output><suffix>",
    )
    group.add_argument(
        "--time_limit",
        type=flags.integer(1),
        default=RunOptions.time_limit,
        metavar="SECONDS",
        help=f"end a start of mace_run after so long (default {RunOptions.time_limit})",
    )
    group.add_argument(
        "--watch_memory",
        type=flags.integer(0),
        default=0,
        metavar="SECONDS",
        help="look at the memory of mace_run this often while it runs, on Android by "
        "dumpsys meminfo too (default 0: never)",
    )
    flags.add_switch(group, "--report", "write JSON and HTML reports")
    group.add_argument(
        "--report_dir",
        type=flags.path,
        metavar="DIR",
        help="where reports go (default: beside the model); implies --report",
    )
    group.add_argument(
        "--runtime_failure_ratio",
        type=flags.ratio,
        default=0.0,
        metavar="0..1",
        help="share of runs that fail on purpose, to test recovery (default 0)",
    )
    group.add_argument(
        "--mace_lib_type",
        choices=("static", "dynamic"),
        default="static",
        help="library that mace_run links (default static; this release refuses "
        "dynamic)",
    )
    _add_validation(parser)
    _add_devices(parser)
    _add_cpu(parser)
    _add_gpu(parser)
    _add_accelerator(parser)
    _add_old_run_flags(parser)
    add_logging(parser)


def add_benchmark(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `run`, with measuring switched on."""
    add_run(parser)
    parser.set_defaults(benchmark=True)


def _add_benchmark_switch(group: argparse._ActionsContainer) -> None:
    flags.add_switch(group, "--benchmark", "measure every operator")


def _add_validation(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("validation")
    flags.add_switch(
        group, "--validate", "compare with the framework the model comes from"
    )
    group.add_argument(
        "--layers",
        type=flags.layer_range,
        metavar="START:END",
        help="with --validate: compare these layers too, counted as Python slices "
        "(: for all); all numbers go to "
        "<build_dir>/<library_name>/model/<runtime>/log.csv",
    )
    group.add_argument(
        "--caffe_env",
        choices=("docker", "local"),
        default="docker",
        help="for platform caffe, which this release does not convert: where Caffe "
        "runs (default docker)",
    )


def _add_devices(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("devices")
    flags.add_device_yml(group)
    group.add_argument(
        "--devices_to_run",
        type=flags.words,
        default=(),
        metavar="NAME[,NAME]",
        help="only these devices, by name or serial number; host is this "
        "computer, and qemu emulates a board",
    )


def _add_cpu(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("CPU")
    group.add_argument(
        "--num_threads",
        type=flags.thread_count,
        default=-1,
        metavar="N",
        help="number of threads (default -1: the library chooses)",
    )
    group.add_argument(
        "--cpu_affinity_policy",
        type=flags.choice(CpuAffinityPolicy),
        default=CpuAffinityPolicy.BIG_ONLY,
        metavar="0..4",
        help="0 NONE, 1 BIG_ONLY, 2 LITTLE_ONLY, 3 HIGH_PERFORMANCE, 4 POWER_SAVE "
        "(default 1)",
    )


def _add_gpu(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "GPU", "for runtime gpu, on which this release does not run models yet"
    )
    for name, what in (
        ("--gpu_perf_hint", "performance"),
        ("--gpu_priority_hint", "priority"),
    ):
        group.add_argument(
            name,
            type=flags.choice(GpuHint),
            default=GpuHint.HIGH,
            metavar="0..3",
            help=f"{what}: 0 DEFAULT, 1 LOW, 2 NORMAL, 3 HIGH (default 3)",
        )
    flags.add_switch(
        group, "--gpu_out_of_range_check", "check kernels for accesses out of range"
    )
    flags.add_switch(group, "--disable_tuning", "do not tune kernels for target_socs")
    group.add_argument(
        "--opencl_cache_reuse_policy",
        type=flags.integer(0, 1),
        default=1,
        metavar="0|1",
        help="reuse compiled kernels of an earlier run (default 1)",
    )


def _add_accelerator(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "DSP, HTA and APU",
        "for runtimes dsp, hta, htp and apu, which this release does not have",
    )
    group.add_argument(
        "--accelerator_cache_policy",
        type=flags.integer(0, 3),
        default=0,
        metavar="0..3",
        help="compiled model: 0 none, 1 store, 2 load, 3 APU load or store (default 0)",
    )
    for name, what in (
        ("--accelerator_binary_file", "compiled model to load"),
        ("--accelerator_storage_file", "where to store the compiled model"),
    ):
        group.add_argument(name, type=flags.path, metavar="FILE", help=what)
    group.add_argument(
        "--apu_boost_hint",
        type=flags.integer(0, 100),
        default=100,
        metavar="0..100",
        help="APU boost (default 100)",
    )
    group.add_argument(
        "--apu_preference_hint",
        type=flags.integer(0, 2),
        default=1,
        metavar="0..2",
        help="APU prefers 0 low power, 1 fast answer, 2 sustained speed (default 1)",
    )
    flags.add_switch(
        group, "--use_system_libhexagon_nn", "use the libhexagon_nn of the device"
    )


def _add_old_run_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("accepted from earlier versions")
    group.add_argument(
        "--omp_num_threads",
        action=flags.OldFlag,
        dest="num_threads",
        advice="is now called --num_threads",
        type=flags.thread_count,
        metavar="N",
        help="now --num_threads",
    )
    add_old_switch(
        group, "--validate_all_layers", "validate_all_layers", "--validate --layers=:"
    )
    add_old_switch(
        group,
        "--check_gpu_out_of_memory",
        "gpu_out_of_range_check",
        "--gpu_out_of_range_check",
    )
    add_old_switch(group, "--example", argparse.SUPPRESS, "")

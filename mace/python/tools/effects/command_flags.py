# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What every flag of the commands on deployment files does.

Flags that replace a key of the file (`REPLACING_KEYS`) do what the key does.
"""

from __future__ import annotations

from collections.abc import Mapping

from mace.python.tools.cli.options import RunOptions
from mace.python.tools.config import ModelFormat, Runtime
from mace.python.tools.effects.effect import (
    Asked,
    Command,
    Effect,
    no_effect,
    not_caffe,
    refused,
    unless_device,
)

# What a sample of --input_dir is not: it is run once, its outputs are kept.
_NOT_WITH_SAMPLES = ("validate", "benchmark", "round", "restart_round", "report")

REPLACING_KEYS = frozenset(
    {"target_abis", "target_socs", "model_graph_format", "model_data_format"}
)


def _builds_nothing(asked: Asked) -> str:
    if asked.deployment.model_graph_format is ModelFormat.CODE:
        return ""
    return "convert builds no program"


def _samples_without_statistics(asked: Asked) -> str:
    if getattr(asked.options, "quantize_stat", None) is not None:
        return ""
    return "is for --quantize_stat, which is not given"


def _samples(asked: Asked) -> str:
    options = asked.options
    assert isinstance(options, RunOptions)
    problems = []
    defaults = RunOptions()
    wrong = [
        name
        for name in _NOT_WITH_SAMPLES
        if getattr(options, name) != getattr(defaults, name)
    ]
    if wrong:
        problems.append(
            f"samples are run once each; leave out {_flags(wrong)}, or --input_dir"
        )
    if options.output_dir is None and options.quantize_stat is None:
        problems.append("needs --output_dir: where the outputs go")
    return "; ".join(problems)


def _flags(names: list[str]) -> str:
    return ", ".join(f"--{name}" for name in names)


def _dynamic(asked: Asked) -> str:
    if asked.value != "dynamic":
        return ""
    return "dynamic: mace_run contains the library; leave the flag out or give static"


def _no_binaries(asked: Asked) -> str:
    if Runtime.GPU not in asked.devices:
        return ""
    return "convert makes no OpenCL binaries; leave it out"


_GPU_FLAG = Effect("", unless_device(Runtime.GPU))
_ACCELERATOR_FLAG = Effect(
    "", unless_device(Runtime.DSP, Runtime.HTA, Runtime.HTP, Runtime.APU)
)
_APU_FLAG = Effect("", unless_device(Runtime.APU))
_PROGRAM = no_effect(
    "unless `model_graph_format` is `code`", _builds_nothing, Command.CONVERT
)

FLAGS: Mapping[str, Effect] = {
    "config": Effect("the deployment file"),
    "build_dir": Effect("the folder of the output"),
    "debug_mode": Effect("the programs that are built", _PROGRAM),
    "address_sanitizer": Effect("the programs that are built", _PROGRAM),
    "verbose": Effect("messages"),
    "vlog_level": Effect("messages, and the log of `mace_run`"),
    # Convert.
    "quantize_stat": Effect(
        "",
        refused("always", lambda _: "tensor ranges cannot be collected yet"),
    ),
    "input_dir": Effect(
        "the samples that are run",
        (
            *no_effect(
                "without `--quantize_stat`",
                _samples_without_statistics,
                Command.CONVERT,
            ),
            *refused(
                "with flags that are for one set of inputs",
                _samples,
                Command.RUN,
            ),
        ),
    ),
    "dump_passes": Effect("writes the graph after every pass"),
    "enable_micro": Effect(
        "",
        refused("always", lambda _: "is not supported; leave it out", Command.CONVERT),
    ),
    "cl_binary_to_code": Effect(
        "", (*unless_device(Runtime.GPU), *refused("for runtime gpu", _no_binaries))
    ),
    # Run.
    **{
        name: Effect("the run")
        for name in (
            "benchmark",
            "round",
            "restart_round",
            "validate",
            "layers",
            "device_yml",
            "devices_to_run",
            "num_threads",
            "cpu_affinity_policy",
            "fake_warmup",
            "runtime_failure_ratio",
            "time_limit",
            "watch_memory",
        )
    },
    "output_dir": Effect("where outputs are kept"),
    "report": Effect("reports"),
    "report_dir": Effect("where reports go"),
    "mace_lib_type": Effect("", refused("if dynamic", _dynamic)),
    "caffe_env": Effect("", no_effect("unless `platform` is caffe", not_caffe)),
    "gpu_perf_hint": _GPU_FLAG,
    "gpu_priority_hint": _GPU_FLAG,
    "gpu_out_of_range_check": _GPU_FLAG,
    "disable_tuning": _GPU_FLAG,
    "opencl_cache_reuse_policy": _GPU_FLAG,
    "accelerator_cache_policy": _ACCELERATOR_FLAG,
    "accelerator_binary_file": _ACCELERATOR_FLAG,
    "accelerator_storage_file": _ACCELERATOR_FLAG,
    "apu_boost_hint": _APU_FLAG,
    "apu_preference_hint": _APU_FLAG,
    "use_system_libhexagon_nn": Effect("", unless_device(Runtime.DSP)),
}

# Flag -> where its value is in the options, if not under its own name.
_PLACES = {
    "dump_passes": "dump_passes_dir",
    "accelerator_cache_policy": "accelerator.cache_policy",
    "accelerator_binary_file": "accelerator.binary_file",
    "accelerator_storage_file": "accelerator.storage_file",
    "apu_boost_hint": "accelerator.apu_boost_hint",
    "apu_preference_hint": "accelerator.apu_preference_hint",
    "use_system_libhexagon_nn": "accelerator.use_system_libhexagon_nn",
}


def place_of(flag: str) -> str:
    """The dotted name of the field of the options that holds a flag's value."""
    return _PLACES.get(flag, flag)

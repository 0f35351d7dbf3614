# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a command is asked to do, as typed values.

The command line fills these and hands them to the room that does the work.
What a flag changes in the deployment itself (``--target_abis``,
``--target_socs``, ``--model_graph_format``, ``--model_data_format``) is already
merged into the `Deployment` and therefore not repeated here.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path

# Where converted models, libraries and reports go unless told otherwise.
DEFAULT_BUILD_DIR = Path("build")


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


@dataclass(frozen=True)
class QuantizeStatOptions:
    """Collecting tensor ranges over sample inputs (``--quantize_stat``)."""

    # One sub-folder or file set per sample, see docs/user/quantization.
    input_dir: Path


@dataclass(frozen=True)
class ConvertOptions:
    """Options of ``converter.py convert``."""

    # Converted models go to `build_dir/<library_name>/model`.
    build_dir: Path = DEFAULT_BUILD_DIR
    quantize_stat: QuantizeStatOptions | None = None
    # The samples for `quantize_stat`.
    input_dir: Path | None = None
    # Write the graph after every pass into this folder, for debugging.
    dump_passes_dir: Path | None = None
    # Also emit the interpreter-free form for microcontrollers.
    enable_micro: bool = False
    # Emit compiled OpenCL kernels as C++ arrays beside the binary files.
    cl_binary_to_code: bool = False
    # Of programs; convert builds none.
    debug_mode: bool = False
    address_sanitizer: bool = False
    vlog_level: int = 0


@dataclass(frozen=True)
class AcceleratorOptions:
    """Hints and caches of NPU-like runtimes (DSP, HTA, APU)."""

    cache_policy: int = 0
    binary_file: Path | None = None
    storage_file: Path | None = None
    apu_boost_hint: int = 100
    apu_preference_hint: int = 1
    use_system_libhexagon_nn: bool = False


@dataclass(frozen=True)
class RunOptions:
    """Options of ``converter.py run`` (and of its old form ``benchmark``)."""

    # Root under which `convert` wrote; results of this run go there too.
    build_dir: Path = DEFAULT_BUILD_DIR
    # How often the model runs, and how often the process is started anew.
    round: int = 1
    restart_round: int = 1
    # Compare with the framework the model came from.
    validate: bool = False
    # With `validate`: compare these layers too; None: outputs only.
    layers: LayerRange | None = None
    # Print the operator statistics.
    benchmark: bool = False
    # -1: let the library choose.
    num_threads: int = -1
    cpu_affinity_policy: CpuAffinityPolicy = CpuAffinityPolicy.BIG_ONLY
    gpu_perf_hint: GpuHint = GpuHint.HIGH
    gpu_priority_hint: GpuHint = GpuHint.HIGH
    gpu_out_of_range_check: bool = False
    disable_tuning: bool = False
    opencl_cache_reuse_policy: int = 1
    fake_warmup: bool = False
    # Where Caffe runs for validation: 'docker' or 'local'.
    caffe_env: str = "docker"
    vlog_level: int = 0
    # Boards to run on; None: a `devices.yml` in the working directory, if any.
    device_yml: Path | None = None
    # Serials or names; empty: every device that matches the deployment.
    devices_to_run: tuple[str, ...] = ()
    quantize_stat: QuantizeStatOptions | None = None
    # Samples to run instead of one input set; outputs go to `output_dir`.
    input_dir: Path | None = None
    output_dir: Path | None = None
    # End a start of the program after so many seconds: a hung one must not hang us.
    time_limit: int = 4 * 3600
    # Look at the program's memory every so many seconds; 0: never.
    watch_memory: int = 0
    # Write JSON and HTML reports, to `report_dir` or beside the model.
    report: bool = False
    report_dir: Path | None = None
    # Share of runs that fail on purpose, to test recovery; 0 in earnest.
    runtime_failure_ratio: float = 0.0
    # Which library `mace_run` links: 'static' or 'dynamic'.
    mace_lib_type: str = "static"
    debug_mode: bool = False
    address_sanitizer: bool = False
    accelerator: AcceleratorOptions = AcceleratorOptions()

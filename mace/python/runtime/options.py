# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How a model runs."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Optional, Union

from mace.python.installation import cache_dir
from mace.python.runtime.accelerators import AcceleratorOptions, set_accelerators
from mace.python.runtime.library import AFFINITIES, DEVICES, CGpu, check, library
from mace.python.tools.data_type import Precision
from mace.python.tools.errors import UsageError

_SIZE_BYTES = ctypes.sizeof(ctypes.c_size_t)
PRECISIONS = tuple(item.value for item in Precision)

Runtime = Literal["cpu", "gpu", "dsp", "hta", "apu", "htp"]
Affinity = Literal["none", "big_only", "little_only", "high_performance", "power_save"]
PrecisionName = Literal["fp16_fp32", "bf16_fp32", "bf16_bf16", "fp32_fp32", "fp16_fp16"]


@dataclass(frozen=True)
class RunOptions:
    """How a model runs.

    Attributes:
        runtimes: ``"cpu"``, ``"gpu"``, ``"dsp"``, ``"hta"``, ``"apu"``, ``"htp"``, as
            far as the library has them, or several in order of preference: each
            operator runs on the first that can run it and makes the model faster. If
            ``"cpu"`` is one of several, a computer without the others runs the model,
            too. None: what the model was converted for, and the CPU.
        threads: of the CPU; None: one for each big core.
        affinity: the cores that threads are bound to: ``"none"``, ``"big_only"``,
            ``"little_only"``, ``"high_performance"``, ``"power_save"``.
        precision: of weights and arithmetic, for a model that `load` converts: a
            `data_type` of a deployment file, one of `PRECISIONS`; None: 32 bits. A
            converted model has its own.
        check_range: fail at the first operator that produces NaN or infinity, and name
            it. Costs a pass over every tensor.
        check_weights: compare the checksum of the weights when the model is loaded.
        memory_limit: the most bytes that the library may hold for the model: weights,
            states and intermediate tensors. Loading or running it fails if it needs
            more. None: any.
        gpu_storage: a folder for compiled kernels, which makes the next start faster;
            None: ``opencl`` in the folder of caches.
        accelerators: what the DSP and accelerators are asked for.
    """

    runtimes: Union[Runtime, Sequence[Runtime], None] = None
    threads: Optional[int] = None
    affinity: Affinity = "none"
    precision: Optional[PrecisionName] = None
    check_range: bool = False
    check_weights: bool = False
    memory_limit: Optional[int] = None
    gpu_storage: Union[str, os.PathLike[str], None] = None
    accelerators: AcceleratorOptions = field(default_factory=AcceleratorOptions)

    def __post_init__(self) -> None:
        for name in self.devices or ():
            _among("runtimes", name, DEVICES)
        if self.runtimes is not None and not self.devices:
            raise UsageError(f"runtimes: found none; accepted: {', '.join(DEVICES)}")
        _among("affinity", self.affinity, AFFINITIES)
        if self.precision is not None:
            _among("precision", self.precision, PRECISIONS)
        threads = self.threads
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise UsageError(f"threads: found {threads!r}, accepted: 1, 2, ...")
        limit = self.memory_limit
        if limit is not None and (
            not isinstance(limit, int) or not 0 < limit < 1 << (8 * _SIZE_BYTES)
        ):
            raise UsageError(f"memory_limit: found {limit!r}, accepted: 1, 2, ...")

    @property
    def devices(self) -> Optional[tuple[str, ...]]:
        """The runtimes as a tuple."""
        if self.runtimes is None or isinstance(self.runtimes, str):
            return None if self.runtimes is None else (self.runtimes,)
        return tuple(self.runtimes)


def _among(key: str, found: Any, accepted: Any) -> None:
    if found not in accepted:
        raise UsageError(f"{key}: found {found!r}, accepted: {', '.join(accepted)}")


def devices_of_hint(runtime: str) -> tuple[str, ...]:
    """The devices for a model that was converted for a `runtime`, the CPU last."""
    wanted = [name for name in ("gpu",) if name in runtime.split("+")]
    return (*wanted, "cpu")


@contextlib.contextmanager
def native_config(options: RunOptions, devices: Sequence[str]) -> Iterator[Any]:
    """A mace_config with these options, while the body runs.

    Raises:
        EngineError: the library refuses one.
        UsageError: the folder for kernels cannot be made.
    """
    c = library()
    config = ctypes.c_void_p()
    check(c.mace_config_create(ctypes.byref(config)))
    try:
        numbers = (ctypes.c_int * len(devices))(*(DEVICES[name] for name in devices))
        check(c.mace_config_set_devices(config, numbers, len(devices)))
        threads = -1 if options.threads is None else options.threads
        if threads != -1 or options.affinity != "none":
            affinity = AFFINITIES[options.affinity]
            check(c.mace_config_set_cpu_threads(config, threads, affinity))
        if options.check_range:
            check(c.mace_config_set_out_of_range_check(config, 1))
        if options.check_weights:
            check(c.mace_config_set_weights_check(config, 1))
        if options.memory_limit is not None:
            check(c.mace_config_set_memory_limit(config, options.memory_limit))
        if "gpu" in devices:
            storage = os.fsencode(_gpu_storage(options))
            check(c.mace_config_set_gpu(config, ctypes.byref(CGpu(storage))))
        set_accelerators(c, config, options.accelerators)
        yield config
    finally:
        c.mace_config_destroy(config)


def _gpu_storage(options: RunOptions) -> Path:
    folder = Path(options.gpu_storage or cache_dir() / "opencl")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"gpu_storage: {folder} cannot be made: {error}") from error
    return folder

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""One start of `mace_run` on a device: its files, its flags, its results."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from mace.python.tools.accelerator_facts import device_environment
from mace.python.tools.bazel import sanitizer_environment, sanitizer_summary
from mace.python.tools.config.vocabulary import DataFormat, Runtime
from mace.python.tools.data_type import DataType
from mace.python.tools.devices import (
    NO_SPACE,
    SCRATCH,
    CommandResult,
    Device,
    DeviceError,
    memory,
)
from mace.python.tools.devices.memory import MemorySample
from mace.python.tools.errors import MaceError
from mace.python.tools.export.model_file import ModelFile
from mace.python.tools.run.accelerator_files import OpenclStore
from mace.python.tools.run.inputs import element_type, tensor_file_name
from mace.python.tools.run.options import RunOptions

Array = npt.NDArray[Any]

PROGRAM = PurePosixPath("mace_run")

# Lines of progress among the output of the program, and the text in them.
_PROGRESS = re.compile(r"^I progress\.cc:\d+ (.*)\n", re.MULTILINE)
_PROGRESS_S = 1

_BAD_REQUEST = 2
# Exit statuses of the shell that starts the program, for example for another ABI.
_CANNOT_EXECUTE, _NOT_FOUND = 126, 127


class RunnerError(MaceError):
    """`mace_run` refused the model or a flag."""


@dataclass(frozen=True)
class Port:
    """An input or output, as passed to `mace_run`."""

    name: str
    shape: tuple[int, ...]
    data_type: DataType
    data_format: DataFormat


@dataclass(frozen=True)
class Request:
    """What to run.

    Attributes:
        runtimes: by subgraph; one entry is for the whole model.
        inputs: with the array each is fed.
        benchmark: print and report operator statistics.
        timed: run as often or as long as the options say; otherwise once.
        opencl: where the GPU's files are; None if no subgraph is for the GPU.
        dsp: variables by which the DSP's code is found; none if no subgraph is for it.
        check_weights: refuse weights whose checksum is not the model's. Costs
            reading them; once is enough for files that stay where they are.
    """

    model: ModelFile
    runtimes: Mapping[str, Runtime]
    inputs: Sequence[tuple[Port, Array]]
    outputs: Sequence[Port]
    opencl: OpenclStore | None = None
    dsp: Mapping[str, str] = field(default_factory=dict)
    benchmark: bool = False
    measure_peak: bool = False
    out_of_range_check: bool = True
    check_weights: bool = True
    rounds: int = 1
    timed: bool = True

    @property
    def uses_accelerator(self) -> bool:
        """Whether a part of the model is for a vendor's accelerator."""
        return any(runtime.is_delegate for runtime in self.runtimes.values())


@dataclass(frozen=True)
class Answer:
    """What came back.

    Attributes:
        text: everything the program printed.
        report: its JSON report.
        outputs: arrays by tensor name, in the layout the port asked for.
        failure: empty, or why the run failed although the request was right.
        started: false when the device does not execute such a program.
        memory: of the program while it ran, if `RunOptions.watch_memory`.
    """

    text: str
    report: dict[str, Any]
    outputs: Mapping[str, Array] = field(default_factory=dict)
    failure: str = ""
    started: bool = True
    memory: tuple[MemorySample, ...] = ()


def run_on_device(
    device: Device,
    request: Request,
    options: RunOptions,
    progress: Callable[[str], None] | None = None,
) -> Answer:
    """Pushes, runs and pulls; only program and model remain on the device.

    Args:
        progress: gets the rounds and the time left of a long run, about once a second.

    Raises:
        RunnerError: the model or a flag is refused.
        DeviceError: the device is gone.
    """
    folder = PurePosixPath(request.model.graph_path.stem)
    exchange = SCRATCH / "io"
    files = _model_files(request.model, folder)
    for local_path, path in files.values():
        device.push(local_path, path)
    with tempfile.TemporaryDirectory(prefix="mace_run_") as local:
        try:
            _push_inputs(device, request, Path(local), exchange)
            if request.opencl:
                device.make_folder(request.opencl.folder)
            if request.uses_accelerator:
                _push_compiled(device, options, exchange)
            with _listening(device, progress):
                result = device.run(
                    [
                        f"./{PROGRAM}",
                        *(f"--{flag}={path}" for flag, (_, path) in files.items()),
                        *_arguments(request, options, exchange),
                    ],
                    env=_environment(device, request, options),
                    time_limit_s=options.time_limit,
                    watch_memory_s=options.watch_memory,
                )
            result = replace(result, output=_PROGRESS.sub("", result.output))
            try:
                answer = _collect(device, request, result, Path(local), exchange)
                if request.uses_accelerator:
                    _pull_compiled(device, options, exchange)
                if result.timed_out:
                    answer = replace(answer, failure=_too_long(options))
                if options.watch_memory:
                    samples = _memory_samples(device, Path(local))
                    answer = replace(answer, memory=samples)
            except DeviceError as error:
                error.output = result.output
                raise
        except BaseException:
            # The error matters more than a device that disconnects afterwards.
            with contextlib.suppress(DeviceError):
                device.remove(exchange)
            raise
        device.remove(exchange)
        return answer


@contextlib.contextmanager
def _listening(
    device: Device, progress: Callable[[str], None] | None
) -> Iterator[None]:
    """Passes the last line of progress on while a program runs."""

    def heard(output: str) -> None:
        lines = _PROGRESS.findall(output)
        if lines and progress is not None:
            progress(lines[-1].strip())

    device.heard = None if progress is None else heard
    try:
        yield
    finally:
        device.heard = None


def _file_name(prefix: str, port: Port, ports: Iterable[Port]) -> str:
    """The file of a tensor; no other of `ports` has the same."""
    return f"{prefix}_{tensor_file_name(port.name, [p.name for p in ports])}"


def _push_inputs(
    device: Device, request: Request, local: Path, exchange: PurePosixPath
) -> None:
    ports = [port for port, _ in request.inputs]
    for port, array in request.inputs:
        path = local / _file_name("in", port, ports)
        np.ascontiguousarray(array, element_type(port.data_type)).tofile(path)
        device.push(path, exchange / path.name)


def _model_files(
    model: ModelFile, folder: PurePosixPath
) -> dict[str, tuple[Path, PurePosixPath]]:
    """Flags that name a file of the model, with the paths here and on the device."""
    files = {}
    if not model.graph_linked:
        files["model_file"] = (model.graph_path, folder / "model.pb")
    if not model.data_linked:
        files["model_data_file"] = (model.data_path, folder / "model.data")
    return files


def _runtime_flag(runtimes: Mapping[str, Runtime]) -> str:
    if len(runtimes) == 1:
        return "".join(_device_list(runtime) for runtime in runtimes.values())
    return ",".join(
        f"{name}={_device_list(runtime)}" for name, runtime in runtimes.items()
    )


def _device_list(runtime: Runtime) -> str:
    """An accelerator that is not there leaves its operators to the CPU."""
    return f"{runtime.value}+cpu" if runtime.is_delegate else runtime.value


# The compiled model of an accelerator on the device.
_COMPILED, _STORED = "accelerator.bin", "accelerator_stored.bin"


def _push_compiled(
    device: Device, options: RunOptions, exchange: PurePosixPath
) -> None:
    local = _compiled_file(options)
    # A missing one is reported by the accelerator, or made by it.
    if local is not None and local.is_file():
        device.push(local, exchange / _COMPILED)


def _pull_compiled(
    device: Device, options: RunOptions, exchange: PurePosixPath
) -> None:
    target = options.accelerator_storage_file or _compiled_file(options)
    stored = exchange / _STORED
    if target is not None and device.has_file(stored):
        device.pull(stored, target.expanduser())


def _compiled_file(options: RunOptions) -> Path | None:
    found = options.accelerator_binary_file
    if found is None and options.accelerator_cache_policy == _LOAD_OR_STORE:
        found = options.accelerator_storage_file
    return None if found is None else found.expanduser()


_LOAD_OR_STORE = 3


def _accelerator_flags(options: RunOptions, exchange: PurePosixPath) -> list[str]:
    flags = [f"--accelerator_cache_policy={options.accelerator_cache_policy}"]
    if _compiled_file(options) is not None:
        flags.append(f"--accelerator_binary_file={exchange / _COMPILED}")
    both = options.accelerator_cache_policy == _LOAD_OR_STORE
    if options.accelerator_storage_file is not None or (both and len(flags) > 1):
        flags.append(f"--accelerator_storage_file={exchange / _STORED}")
    return flags


def _apu_flags(options: RunOptions) -> list[str]:
    return [
        f"--apu_boost_hint={options.apu_boost_hint}",
        f"--apu_preference_hint={options.apu_preference_hint}",
    ]


def _arguments(
    request: Request,
    options: RunOptions,
    exchange: PurePosixPath,
) -> list[str]:
    arguments = [
        f"--model_name={request.model.graph_path.stem}",
        f"--runtime={_runtime_flag(request.runtimes)}",
        *_port_flags("input", [port for port, _ in request.inputs]),
        *_port_flags("output", request.outputs),
        f"--input_file={exchange / 'in'}",
        f"--output_file={exchange / 'out'}",
        f"--report_json={exchange / 'report.json'}",
        *_lengths(request, options),
        f"--progress_seconds={_PROGRESS_S}",
        f"--num_threads={options.num_threads}",
        f"--cpu_affinity_policy={int(options.cpu_affinity_policy)}",
        f"--vlog_level={options.vlog_level}",
        f"--out_of_range_check={str(request.out_of_range_check).lower()}",
        f"--check_weights={str(request.check_weights).lower()}",
    ]
    if request.opencl:
        arguments += _gpu_flags(options)
    if request.uses_accelerator:
        arguments += _accelerator_flags(options, exchange)
    if Runtime.APU in request.runtimes.values():
        arguments += _apu_flags(options)
    if options.fake_warmup:
        arguments.append("--fake_warmup")
    if options.plan_only:
        arguments.append("--plan_only")
    if request.benchmark:
        arguments.append("--benchmark")
    if request.measure_peak:
        arguments.append("--measure_peak")
    return arguments


def _lengths(request: Request, options: RunOptions) -> list[str]:
    """How many runs, or how long. Only those that are timed, not for layers."""
    if not request.timed:
        return []
    if options.duration:
        found = [f"--duration={options.duration}"]
    else:
        found = [f"--round={request.rounds}"]
    if not options.fake_warmup:
        found.append(f"--warmup_rounds={options.warmup_rounds}")
    return found


def _gpu_flags(options: RunOptions) -> list[str]:
    return [
        f"--gpu_perf_hint={int(options.gpu_perf_hint)}",
        f"--gpu_priority_hint={int(options.gpu_priority_hint)}",
        f"--opencl_cache_reuse_policy={options.opencl_cache_reuse_policy}",
        f"--gpu_out_of_range_check={str(options.gpu_out_of_range_check).lower()}",
    ]


def _port_flags(side: str, ports: Sequence[Port]) -> list[str]:
    return [
        f"--{side}_node=" + ",".join(p.name.replace(",", "\\,") for p in ports),
        f"--{side}_shape="
        + ":".join(",".join(map(str, p.shape)) or "scalar" for p in ports),
        f"--{side}_data_type=" + ",".join(p.data_type.value for p in ports),
        f"--{side}_data_format=" + ",".join(p.data_format.value for p in ports),
    ]


def _environment(
    device: Device, request: Request, options: RunOptions
) -> dict[str, str]:
    env = sanitizer_environment() if options.address_sanitizer else {}
    if request.opencl:
        env.update(request.opencl.environment)
    if request.uses_accelerator and not device.is_local:
        env.update(device_environment(os.environ))
    env.update(request.dsp)
    if options.runtime_failure_ratio > 0:
        env["MACE_RUNTIME_FAILURE_RATIO"] = str(options.runtime_failure_ratio)
    return env


def _collect(
    device: Device,
    request: Request,
    result: CommandResult,
    local: Path,
    exchange: PurePosixPath,
) -> Answer:
    if result.status in (1, _BAD_REQUEST) and NO_SPACE.search(result.output):
        raise device.full(f"{PROGRAM} cannot write its results on {device.label}")
    if result.status == _BAD_REQUEST:
        raise RunnerError(f"{request.model.graph_path}: {_errors(result.output)}")
    if result.timed_out:
        return Answer(result.output, {})
    if result.status > 128:
        return Answer(
            result.output,
            {},
            failure=f"mace_run crashed (signal {result.status - 128}); last output: "
            + _errors(result.output),
        )
    if result.status in (_CANNOT_EXECUTE, _NOT_FOUND):
        return Answer(
            result.output,
            {},
            failure=f"mace_run cannot be started: {_errors(result.output)}",
            started=False,
        )
    report_path = local / "report.json"
    device.pull(exchange / "report.json", report_path)
    report = json.loads(report_path.read_text(encoding="utf-8"))
    failure = report["non_finite"] or "" if result.status != 0 else ""
    if result.status != 0 and not failure:
        return Answer(result.output, report, failure=_errors(result.output))
    outputs: dict[str, Array] = {}
    if not report["options"]["plan_only"]:
        outputs = _pull_outputs(device, request, report, local, exchange)
    return Answer(result.output, report, outputs, failure)


def _too_long(options: RunOptions) -> str:
    return (
        f"ended after {options.time_limit} s without result; --time_limit=SECONDS "
        "allows more"
    )


def _memory_samples(device: Device, local: Path) -> tuple[MemorySample, ...]:
    path = local / "memory"
    device.pull(memory.LOG, path)
    return tuple(memory.parse_samples(path.read_text(encoding="utf-8")))


def _pull_outputs(
    device: Device,
    request: Request,
    report: dict[str, Any],
    local: Path,
    exchange: PurePosixPath,
) -> dict[str, Array]:
    # The shape in this run, which may differ from the declared one.
    shapes = {item["name"]: tuple(item["shape"]) for item in report["outputs"]}
    outputs = {}
    for port in request.outputs:
        path = local / _file_name("out", port, request.outputs)
        device.pull(exchange / path.name, path)
        array = np.fromfile(path, element_type(port.data_type))
        outputs[port.name] = array.reshape(shapes[port.name])
    return outputs


def _errors(text: str) -> str:
    """The program's error lines without prefix; if there are none, its last lines."""
    summary = sanitizer_summary(text)
    if summary:
        return summary
    lines = text.strip().splitlines()
    errors = [re.sub(r"^E \S+:\d+ ", "", line) for line in lines if line[:2] == "E "]
    return "\n".join(errors or lines[-3:])

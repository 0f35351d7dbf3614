# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs all models on all devices at the same time; locks each device meanwhile."""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from rich.console import Console

from mace.python.tools.command_line.fitting import without_source
from mace.python.tools.command_line.progress import Meter, show_progress
from mace.python.tools.command_line.results import print_text
from mace.python.tools.config.vocabulary import Abi, Runtime
from mace.python.tools.devices import (
    DeviceError,
    DeviceStoppedError,
    FoundDevice,
    SilentDevice,
    device_lease,
    trouble_of,
)
from mace.python.tools.devices.together import on_each_device
from mace.python.tools.errors import MaceError
from mace.python.tools.report.results import ModelRun
from mace.python.tools.run import summary
from mace.python.tools.run.dsp_files import DspFiles, uses_dsp
from mace.python.tools.run.invocation import PROGRAM, RunnerError
from mace.python.tools.run.model_run import (
    Place,
    PreparedModel,
    joint_runtime,
    run_model,
    with_log,
)
from mace.python.tools.run.opencl_files import OpenclFiles, uses_gpu
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.python_run import HINT, may_be_python, run_in_python


@dataclass(frozen=True)
class Job:
    """The work of every device, once for each of its ABIs."""

    model: PreparedModel
    runtimes: Mapping[str, Runtime]

    @property
    def runtime(self) -> Runtime:
        """The runtime of the model."""
        return joint_runtime(self.runtimes)


@dataclass(frozen=True)
class _Plan:
    """The data that the threads of all devices share."""

    jobs: Sequence[Job]
    programs: Mapping[Abi, Path]
    log_dir: Path
    options: RunOptions
    opencl: OpenclFiles
    dsp: DspFiles
    console: Console
    # By ABI, why there is no program; its models are computed in Python.
    without: Mapping[Abi, str]
    # Held while a text is printed on the console.
    printing: threading.Lock
    # Whether there are several devices or ABIs.
    several: bool

    @property
    def gpu_jobs(self) -> list[Job]:
        return [job for job in self.jobs if uses_gpu(job.runtimes.values())]


def run_on_devices(
    found: Sequence[FoundDevice],
    jobs: Sequence[Job],
    programs: Mapping[Abi, Path],
    log_dir: Path,
    options: RunOptions,
    opencl: OpenclFiles,
    dsp: DspFiles,
    console: Console,
    without: Mapping[Abi, str] = MappingProxyType({}),
) -> list[ModelRun]:
    """Runs every job on every device, for each of its ABIs.

    If a device fails, the others continue; its runs have a failure.

    Args:
        programs: `mace_run` for each ABI of a device.
        without: ABIs that have none, and why; their models are computed in Python.
        opencl, dsp: the files of the jobs that are for the GPU and for the DSP.

    Raises:
        MaceError: the request is wrong, and there is only one device and ABI;
            with more, a device's refusal is its failure.
    """
    plan = _Plan(
        jobs=jobs,
        programs=programs,
        log_dir=log_dir,
        options=options,
        opencl=opencl,
        dsp=dsp,
        console=console,
        without=without,
        printing=threading.Lock(),
        several=sum(len(item.abis) for item in found) > 1,
    )
    counts = {item.properties.name: len(jobs) * len(item.abis) for item in found}
    with show_progress(counts, console) as meter:
        runs = on_each_device(found, lambda item: _device_runs(item, plan, meter))
    return [run for of_device in runs for run in of_device]


def silent_runs(silent: Sequence[SilentDevice], jobs: Sequence[Job]) -> list[ModelRun]:
    """The failures of devices that did not answer at all."""
    return [
        ModelRun(
            job.model.config.name, abi, device.name, job.runtime, failure=device.reason
        )
        for device in silent
        for abi in device.abis
        for job in jobs
    ]


def _device_runs(item: FoundDevice, plan: _Plan, meter: Meter) -> list[ModelRun]:
    device, name = item.device, item.properties.name
    runs: list[ModelRun] = []
    todo = [(abi, job) for abi in item.abis for job in plan.jobs]
    try:
        meter.begin(name, "waiting")
        with device_lease(device):
            lost = ""
            for abi, job in todo:
                meter.begin(name, f"{job.model.config.name} ({abi.value})")
                if lost:
                    run = _failed(item, abi, job, lost)
                else:
                    run, lost = _attempt(item, abi, job, plan, meter)
                _show(run, plan)
                runs.append(run)
                meter.done(name)
                if not lost and plan.gpu_jobs and job is plan.gpu_jobs[-1]:
                    plan.opencl.collect(device, item.properties, abi)
    except DeviceStoppedError:
        raise
    except DeviceError as error:
        # The device is in use, or it cannot be prepared.
        runs += [_failed(item, abi, job, str(error)) for abi, job in todo[len(runs) :]]
        _show(runs[-1], plan)
    return runs


def _attempt(
    item: FoundDevice, abi: Abi, job: Job, plan: _Plan, meter: Meter
) -> tuple[ModelRun, str]:
    """Runs once; also returns why the device cannot be used again, or None."""
    opencl = plan.opencl.store(abi) if job in plan.gpu_jobs else None
    place = Place(item.device, item.properties, abi, job.runtimes, plan.log_dir, opencl)
    options = plan.options
    if plan.several and options.output_dir is not None:
        folder = re.sub(r"[^0-9A-Za-z.+-]", "_", f"{place.properties.name}_{abi.value}")
        options = dataclasses.replace(options, output_dir=options.output_dir / folder)

    def show(text: str) -> None:
        with plan.printing:
            if plan.several:
                heading = f"{job.model.config.name} on {place.properties.name}"
                print_text(plan.console, f"\n{heading} ({abi.value}):\n")
            if options.benchmark and not options.full:
                text = summary.without_tables(text)
            if not options.vlog_level:
                text = summary.without_kept_outputs(text)
            # Who asks for the library's log wants to know where lines come from.
            shown = text if options.vlog_level else without_source(text)
            print_text(plan.console, shown)

    def progress(how_far: str) -> None:
        meter.advance(place.properties.name, how_far)

    try:
        if abi in plan.without:
            reason = plan.without[abi]
            return run_in_python(job.model, place, options, reason), ""
        # This also checks whether a device that was lost is back.
        item.device.prepare()
        item.device.push(plan.programs[abi], PROGRAM)
        if opencl and job is plan.gpu_jobs[0]:
            plan.opencl.begin(item.device, abi)
        if uses_dsp(job.runtimes.values()):
            place = dataclasses.replace(place, dsp=plan.dsp.begin(item.device, abi))
        return run_model(job.model, place, options, show, progress), ""
    except DeviceStoppedError:
        raise
    except DeviceError as error:
        trouble = trouble_of(item.device)
        failure = with_log(str(error), job.model.config.name, place, error.output)
        lost = f"not run: {trouble}" if trouble else ""
        return _failed(item, abi, job, failure), lost
    except MaceError as error:
        if may_be_python(abi, error):
            if options.fallback == "python":
                return run_in_python(job.model, place, options, str(error)), ""
            error = RunnerError(f"{error}\n{HINT}")
        if not plan.several:
            raise error
        return _failed(item, abi, job, str(error)), ""


def _failed(item: FoundDevice, abi: Abi, job: Job, failure: str) -> ModelRun:
    return ModelRun(
        job.model.config.name, abi, item.properties.name, job.runtime, failure=failure
    )


def _show(run: ModelRun, plan: _Plan) -> None:
    with plan.printing:
        if not plan.options.full:
            summary.print_benchmark(plan.console, run)
        summary.print_comparisons(plan.console, run, plan.several)
        summary.print_layers(plan.console, run)

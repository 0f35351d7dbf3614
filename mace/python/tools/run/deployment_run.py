# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs every model of a deployment on every device that the file selects."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from rich.console import Console

from mace.python.installation import CHECKOUT
from mace.python.tools.atomic import atomic_write, check_writable
from mace.python.tools.bazel import BuildError
from mace.python.tools.build_tools import NDK_VARIABLE, find_ndk
from mace.python.tools.command_line.progress import Meter, show_progress
from mace.python.tools.command_line.results import (
    make_console,
    print_text,
    without_source,
)
from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.effect import Command, check_effects
from mace.python.tools.config.vocabulary import Abi, Runtime
from mace.python.tools.devices import (
    DeviceError,
    DeviceQuery,
    DeviceStoppedError,
    FoundDevice,
    SilentDevice,
    close_all,
    device_lease,
    find_devices,
    trouble_of,
)
from mace.python.tools.devices.lock import on_each_device
from mace.python.tools.errors import MaceError, MissingToolError
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.report.results import ModelRun, RunReport
from mace.python.tools.run import summary
from mace.python.tools.run.accelerator_files import (
    DspFiles,
    OpenclFiles,
    uses_dsp,
    uses_gpu,
)
from mace.python.tools.run.conversion import bring_up_to_date
from mace.python.tools.run.invocation import PROGRAM, RunnerError
from mace.python.tools.run.model_run import (
    Place,
    PreparedModel,
    joint_runtime,
    prepare_model,
    run_model,
    with_log,
)
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.program import find_program
from mace.python.tools.run.python_run import HINT, may_be_python, run_in_python
from mace.python.tools.validate.comparison import write_log


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


_LOG = logging.getLogger(__name__)

# The name of the runtime's folder in the documented path of log.csv.
_LOG_ALIAS = "runtime_in_yaml"


@dataclass(frozen=True)
class DeploymentRuns:
    """Every model on every device.

    Attributes:
        models: by name.
    """

    models: Mapping[str, PreparedModel]
    runs: list[ModelRun]


def run_deployment(
    deployment: Deployment,
    options: RunOptions,
    console: Console | None = None,
    opened: OpenedModels | None = None,
) -> RunReport:
    """Runs the deployment; validates, benchmarks and reports as the options say.

    Args:
        console: where results are printed; None: standard output.
        opened: models that the command has opened already; None: none.

    Raises:
        MaceError: what is missing or wrong in the request. Wrong results and
            failed runs, also for want of a device that was there before, are
            in the report.
    """
    # With --json=-, standard output is for programs.
    stream = sys.stderr if options.json == "-" else sys.stdout
    console = console or make_console(stream)
    if options.json not in ("", "-"):
        check_writable(Path(options.json).expanduser().absolute().parent)
    check_effects(Command.RUN, deployment, options)
    if options.report:
        check_writable(_report_dir(deployment, options))
    if options.output_dir is not None:
        check_writable(options.output_dir)
    runtimes = {name: _runtimes(m) for name, m in deployment.models.items()}
    if options.validate:
        for of_model in runtimes.values():
            log_dir = _log_dir(deployment, options) / joint_runtime(of_model).value
            check_writable(log_dir)
    done = run_models(deployment, options, console, runtimes, True, opened)
    runs = done.runs
    if options.report:
        runs = [
            _write_report(deployment, done.models[r.model], r, options) for r in runs
        ]
    report = RunReport(tuple(runs))
    if options.validate:
        _write_logs(deployment, options, report)
    if options.report:
        _write_overview(deployment, options, report)
    summary.print_summary(console, report)
    if options.json:
        _write_json(options.json, deployment, report)
    return report


def _write_json(path: str, deployment: Deployment, report: RunReport) -> None:
    from mace.python.tools.report import report_json

    content = report_json(deployment.library_name, report)
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    if path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    with atomic_write(Path(path).expanduser(), "w") as stream:
        stream.write(text)


def _runtimes(model: ModelConfig) -> Mapping[str, Runtime]:
    """By subgraph, what of its runtime the library has; `check_effects` has reported
    the rest.
    """
    found = {part.name or "": part.runtime.available for part in model.subgraphs}
    first, *others = set(found.values())
    return found if others else {"": first}


def run_models(
    deployment: Deployment,
    options: RunOptions,
    console: Console,
    runtimes: Mapping[str, Mapping[str, Runtime]],
    tunes: bool = False,
    opened: OpenedModels | None = None,
) -> DeploymentRuns:
    """Runs every model on every device that the deployment means.

    Args:
        console: where the output of `mace_run` and comparisons are printed.
        runtimes: by model and subgraph, which devices `mace_run` is asked for; one
            entry is for the whole model.
        tunes: whether to tune the GPU's kernels and copy its files, if the deployment
            or the options ask for that.
        opened: models that the command has opened already; None: none.

    Raises:
        MaceError: as `run_deployment` does.
    """
    devices = find_devices(_query(deployment, options))
    try:
        if deployment.stands_for_model:
            bring_up_to_date(deployment, options, opened)
        models = {
            model.name: prepare_model(deployment, model, options)
            for model in deployment.models.values()
        }
        jobs = [Job(model, runtimes[name]) for name, model in models.items()]
        dsp = any(uses_dsp(of_model.values()) for of_model in runtimes.values())
        abis = dict.fromkeys(abi for item in devices.found for abi in item.abis)
        programs: dict[Abi, Path] = {}
        without: dict[Abi, str] = {}
        for abi in abis:
            gpu = _with_gpu(abi, runtimes)
            others = _with_accelerators(abi, runtimes)
            try:
                programs[abi] = find_program(abi, options, deployment, gpu, dsp, others)
            except (BuildError, MissingToolError) as error:
                if abi is not Abi.HOST:
                    raise
                if options.fallback != "python":
                    _LOG.info("%s", HINT)
                    raise
                without[abi] = str(error)
        log_dir = options.build_dir / deployment.library_name / "run" / "logs"
        places = [item.device for item in devices.found]
        runs = run_on_devices(
            devices.found,
            jobs,
            programs,
            log_dir,
            options,
            OpenclFiles.of(deployment, options, tunes),
            DspFiles.of(places, options) if dsp else DspFiles(),
            console,
            without,
        )
    finally:
        close_all(devices)
    runs += silent_runs(devices.silent, jobs)
    return DeploymentRuns(models, runs)


def _with_gpu(abi: Abi, runtimes: Mapping[str, Mapping[str, Runtime]]) -> bool:
    """Whether `mace_run` has to have the GPU runtime."""
    wanted = {
        runtime for of_model in runtimes.values() for runtime in of_model.values()
    }
    if not Runtime.GPU.in_release or not uses_gpu(wanted):
        return False
    if Runtime.GPU in wanted:
        return True
    if CHECKOUT is None:
        _LOG.warning(
            "%s: mace_run for the GPU is built in a checkout of MACE; the installed "
            "package has it for the CPU, so that models for cpu+gpu run there (in "
            "Python, mace.load runs them on the GPU)",
            abi.value,
        )
        return False
    if not abi.is_android or find_ndk() is not None:
        return True
    _LOG.warning(
        "%s: without an NDK (%s), mace_run is linked statically and cannot load the "
        "OpenCL driver; models for cpu+gpu run on the CPU",
        abi.value,
        NDK_VARIABLE,
    )
    return False


def _with_accelerators(
    abi: Abi, runtimes: Mapping[str, Mapping[str, Runtime]]
) -> tuple[str, ...]:
    """The accelerators whose adapters `mace_run` has to have."""
    wanted = {
        runtime.value
        for of_model in runtimes.values()
        for runtime in of_model.values()
        if runtime.is_delegate
    }
    if not wanted or not abi.is_android or find_ndk() is not None:
        return tuple(sorted(wanted))
    _LOG.warning(
        "%s: without an NDK (%s), mace_run is linked statically and cannot load the "
        "library of %s; models run on the CPU",
        abi.value,
        NDK_VARIABLE,
        ", ".join(sorted(wanted)),
    )
    return ()


def _query(deployment: Deployment, options: RunOptions) -> DeviceQuery:
    return DeviceQuery(
        abis=deployment.target_abis,
        work_root=options.build_dir / deployment.library_name / "run",
        socs=deployment.target_socs,
        wanted=options.devices_to_run,
        device_yml=options.device_yml,
    )


def _report_dir(deployment: Deployment, options: RunOptions) -> Path:
    return options.report_dir or (
        options.build_dir / deployment.library_name / "report"
    )


def _log_dir(deployment: Deployment, options: RunOptions) -> Path:
    return options.build_dir / deployment.library_name / "model"


def _write_report(
    deployment: Deployment, model: PreparedModel, run: ModelRun, options: RunOptions
) -> ModelRun:
    from mace.python.tools.report import write_reports

    files = write_reports(_report_dir(deployment, options), run, model.file)
    for path in files:
        _LOG.info("report: %s", path)
    return dataclasses.replace(run, files=tuple(files))


def _write_overview(
    deployment: Deployment, options: RunOptions, report: RunReport
) -> None:
    from mace.python.tools.report import write_overview

    folder = _report_dir(deployment, options)
    for path in write_overview(folder, deployment.library_name, report):
        _LOG.info("report of all runs: %s", path)


def _write_logs(deployment: Deployment, options: RunOptions, report: RunReport) -> None:
    """Writes `log.csv` of each runtime, with the layers and outputs of all models."""
    folder = _log_dir(deployment, options)
    several = len(report.runs) > len({run.runtime for run in report.runs})
    for runtime in dict.fromkeys(run.runtime for run in report.runs):
        rows = []
        for run in report.runs:
            if run.runtime is not runtime:
                continue
            found = [layer.comparison for layer in run.layers] + list(run.comparisons)
            place = f"{run.device}/{run.abi.value}/".replace("host/host/", "host/")
            prefix = f"{run.model}/{place}" if several else ""
            rows += [dataclasses.replace(c, name=prefix + c.name) for c in found]
        path = folder / runtime.value / "log.csv"
        write_log(path, rows)
        _link(folder / _LOG_ALIAS, runtime.value)
        _LOG.info("validation log: %s", path)


def _link(link: Path, target: str) -> None:
    """Makes the documented path work literally, too."""
    # Optional: some file systems do not support links.
    with contextlib.suppress(OSError):
        if link.is_symlink():
            link.unlink()
        if not link.exists():
            link.symlink_to(target)

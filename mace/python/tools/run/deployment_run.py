# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs every model of a deployment on every device that the file selects."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from mace.python.installation import CHECKOUT
from mace.python.tools.android_ndk import VARIABLE, find_ndk
from mace.python.tools.atomic import atomic_write, check_writable
from mace.python.tools.bazel import BuildError
from mace.python.tools.command_line.results import make_console
from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.effect import Command, check_effects
from mace.python.tools.config.vocabulary import Abi, Runtime
from mace.python.tools.devices import DeviceQuery, close_all, find_devices
from mace.python.tools.errors import MissingToolError
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.report.results import ModelRun, RunReport
from mace.python.tools.run import summary
from mace.python.tools.run.convert_first import bring_up_to_date
from mace.python.tools.run.device_runs import Job, run_on_devices, silent_runs
from mace.python.tools.run.dsp_files import DspFiles, uses_dsp
from mace.python.tools.run.model_run import PreparedModel, joint_runtime, prepare_model
from mace.python.tools.run.opencl_files import OpenclFiles, uses_gpu
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.program import find_program
from mace.python.tools.run.python_run import HINT
from mace.python.tools.validate.comparison import write_log

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
        VARIABLE,
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
        VARIABLE,
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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Every model of a deployment, on every device it is meant for."""

from __future__ import annotations

import dataclasses
import logging
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt
from rich.console import Console

from mace.python.tools.cli.options import RunOptions
from mace.python.tools.config.deployment import (
    Abi,
    Deployment,
    ModelConfig,
    Runtime,
)
from mace.python.tools.devices import (
    EMULATOR,
    Device,
    DeviceProperties,
    EmulatorDevice,
    find_devices,
)
from mace.python.tools.errors import UnsupportedError, UsageError
from mace.python.tools.run import checking, samples, summary
from mace.python.tools.run.inputs import SEED, make_inputs
from mace.python.tools.run.invocation import (
    PROGRAM,
    Answer,
    Port,
    Request,
    run_on_device,
)
from mace.python.tools.run.model_file import ModelFile, TensorInfo, read_model_file
from mace.python.tools.run.program import find_program
from mace.python.tools.run.results import (
    LayerComparison,
    ModelRun,
    RunReport,
    Times,
)
from mace.python.tools.validate import similarity_threshold
from mace.python.tools.validate.log_csv import write_log

_LOG = logging.getLogger(__name__)

Array = npt.NDArray[Any]

# The documented path of log.csv names the runtime's folder like this.
_LOG_ALIAS = "runtime_in_yaml"


@dataclass(frozen=True)
class _Prepared:
    """A model with all that does not depend on the device."""

    config: ModelConfig
    file: ModelFile
    inputs: Mapping[str, Array]
    layers: list[checking.Layer]
    expected: checking.Expected | None


def run_deployment(
    deployment: Deployment, options: RunOptions, console: Console | None = None
) -> RunReport:
    """Runs, and as the options ask validates, benchmarks and reports.

    Args:
        console: where results are printed; None: standard output.

    Raises:
        MaceError: what is missing or wrong in the request. Wrong results and
            failed runs are in the report.
    """
    console = console or summary.make_console(sys.stdout)
    _check(deployment, options)
    prepared = [_prepare(deployment, model, options) for model in deployment.models]
    runs = []
    for abi, device, properties in _devices(deployment, options):
        device.push(find_program(abi, options), PROGRAM)
        for model in prepared:
            for runtime in _runtimes(model.config):
                run = _run_model(
                    device, model, runtime, abi, properties, options, console
                )
                summary.print_comparisons(console, run)
                summary.print_layers(console, run)
                if options.report:
                    run = _write_report(deployment, model, run, options)
                runs.append(run)
    report = RunReport(tuple(runs))
    if options.validate:
        _write_logs(deployment, options, report)
    summary.print_summary(console, report)
    return report


def _check(deployment: Deployment, options: RunOptions) -> None:
    """Refuses what this version cannot run, all of it in one message."""
    problems = []
    if options.quantize_stat is not None:
        problems.append("--quantize_stat: tensor ranges cannot be collected yet")
    if options.input_dir is not None and options.benchmark:
        problems.append("--benchmark with --input_dir: benchmark one set of inputs")
    for model in deployment.models:
        if len(model.subgraphs) != 1:
            problems.append(
                f"models.{model.name}.subgraphs: {len(model.subgraphs)} subgraphs; "
                "give each its own model"
            )
        if Runtime.CPU not in model.subgraphs[0].runtime.devices:
            problems.append(
                f"models.{model.name}.runtime: {model.subgraphs[0].runtime.value} "
                "cannot be run yet; use cpu or cpu+gpu"
            )
    if problems:
        raise UnsupportedError(
            f"{deployment.source} asks for what cannot be run yet:\n  "
            + "\n  ".join(problems)
        )


def _runtimes(model: ModelConfig) -> list[Runtime]:
    for runtime in model.subgraphs[0].runtime.devices:
        if runtime is Runtime.CPU:
            continue
        _LOG.warning(
            "%s: runtime %s cannot be run yet and is left out",
            model.name,
            runtime.value,
        )
    return [Runtime.CPU]


def _devices(
    deployment: Deployment, options: RunOptions
) -> Iterator[tuple[Abi, Device, DeviceProperties]]:
    work = options.build_dir / deployment.library_name / "run"
    seen = []
    count = 0
    for abi in deployment.target_abis:
        for device in find_devices(abi, work, options.devices_to_run):
            properties = device.probe()
            seen.append(properties.serial)
            wanted = options.devices_to_run
            names = {properties.name, properties.serial}
            if isinstance(device, EmulatorDevice):
                names.add(EMULATOR)
            if wanted and not names & set(wanted):
                continue
            count += 1
            yield abi, device, properties
    if count == 0:
        raise UsageError(
            f"--devices_to_run={','.join(options.devices_to_run)}: none of these is "
            f"there; found: {', '.join(seen) or 'no device'}"
        )


def _prepare(
    deployment: Deployment, model: ModelConfig, options: RunOptions
) -> _Prepared:
    folder = options.build_dir / deployment.library_name / "model"
    file = read_model_file(folder / f"{model.name}.pb")
    inputs: Mapping[str, Array] = {}
    if options.input_dir is None:
        inputs = make_inputs(model.subgraphs[0])
        if any(info.validation_data is None for info in model.subgraphs[0].inputs):
            _LOG.info("%s: inputs are random, seed %d", model.name, SEED)
    layers: list[checking.Layer] = []
    expected = None
    if options.validate and options.input_dir is None:
        if options.layers is not None:
            layers = checking.choose_layers(file, options.layers)
        expected = checking.expected_outputs(model, file, inputs, layers)
    return _Prepared(model, file, inputs, layers, expected)


def _run_model(
    device: Device,
    model: _Prepared,
    runtime: Runtime,
    abi: Abi,
    properties: DeviceProperties,
    options: RunOptions,
    console: Console,
) -> ModelRun:
    run = ModelRun(model.config.name, abi, properties.name, runtime)
    runner = samples.SampleRunner(device, model.file, runtime, options)
    if options.input_dir is not None:
        samples.run_folder(runner, model.file, options)
        return run
    request = _request(model, runtime, options)
    times: list[Times] = []
    answer = Answer("", {})
    for _ in range(options.restart_round):
        answer = run_on_device(device, request, options)
        summary.print_text(console, answer.text)
        if answer.failure:
            return dataclasses.replace(
                run, failure=answer.failure, times=tuple(times), report=answer.report
            )
        times.append(_times(answer))
    run = dataclasses.replace(run, times=tuple(times), report=answer.report)
    if model.expected is not None:
        run = dataclasses.replace(
            run,
            reference=model.expected.source,
            comparisons=checking.compare_outputs(
                model.config, model.file, runtime, model.expected, answer.outputs
            ),
            layers=_compare_layers(device, model, runtime, options),
        )
    if options.validate:
        scripts = samples.run_scripts(model.config.subgraphs[0], runner)
        run = dataclasses.replace(run, accuracy=scripts)
    return run


def _request(model: _Prepared, runtime: Runtime, options: RunOptions) -> Request:
    return Request(
        model=model.file,
        runtime=runtime,
        inputs=_input_ports(model),
        outputs=[_output_port(model, tensor) for tensor in model.file.outputs],
        benchmark=options.benchmark,
        measure_peak=options.benchmark and options.report,
        rounds=options.round,
    )


def _input_ports(model: _Prepared) -> list[tuple[Port, Array]]:
    ports = []
    for tensor in model.file.inputs:
        array = model.inputs[tensor.name]
        ports.append(
            (
                Port(tensor.name, array.shape, tensor.data_type, tensor.data_format),
                array,
            )
        )
    return ports


def _output_port(model: _Prepared, tensor: TensorInfo) -> Port:
    """Its buffer: the framework's result tells the size best, then the file."""
    shape = tensor.shape
    if not tensor.is_static:
        declared = {o.name: o.shape for o in model.config.subgraphs[0].outputs}
        shape = declared.get(tensor.name, shape)
    if any(dim < 0 for dim in shape) and model.expected is not None:
        # Only its size matters: the run tells the shape.
        shape = (int(model.expected.outputs[tensor.name].size),)
        return Port(tensor.name, shape, tensor.data_type, tensor.data_format)
    if any(dim < 0 for dim in shape):
        raise UsageError(
            f"the shape of output {tensor.name} is not known; give its largest shape "
            "in output_shapes"
        )
    return Port(tensor.name, shape, tensor.data_type, tensor.data_format)


def _compare_layers(
    device: Device, model: _Prepared, runtime: Runtime, options: RunOptions
) -> tuple[LayerComparison, ...]:
    if not model.layers or model.expected is None:
        return ()
    subgraph = model.config.subgraphs[0]
    threshold = similarity_threshold(
        runtime, subgraph.validation_threshold, model.config.quantize.enabled
    )
    results = []
    for group in checking.layer_groups(model.layers):
        request = Request(
            model=model.file,
            runtime=runtime,
            inputs=_input_ports(model),
            outputs=[layer.port for layer in group],
            # A layer with NaN is what one looks for.
            out_of_range_check=False,
        )
        answer = run_on_device(device, request, options)
        if answer.failure:
            _LOG.error("%s: layers: %s", model.config.name, answer.failure)
            break
        for layer in group:
            result = checking.compare_layer(
                layer, model.expected, answer.outputs[layer.tensor.name], threshold
            )
            if result is not None:
                results.append(result)
    return tuple(results)


def _times(answer: Answer) -> Times:
    last = answer.report["restarts"][-1]
    return Times(
        capability=answer.report["capability_ms"],
        init=last["init_ms"],
        warmup=last["warmup_ms"],
        run=last["run_ms"]["avg"],
    )


def _write_report(
    deployment: Deployment, model: _Prepared, run: ModelRun, options: RunOptions
) -> ModelRun:
    from mace.python.tools.report import write_reports

    folder = options.report_dir or (
        options.build_dir / deployment.library_name / "report"
    )
    files = write_reports(folder, run, model.file)
    for path in files:
        _LOG.info("report: %s", path)
    return dataclasses.replace(run, files=tuple(files))


def _write_logs(deployment: Deployment, options: RunOptions, report: RunReport) -> None:
    """`log.csv` of each runtime, layers and outputs of all models."""
    folder = options.build_dir / deployment.library_name / "model"
    several = len(report.runs) > len({run.runtime for run in report.runs})
    for runtime in dict.fromkeys(run.runtime for run in report.runs):
        rows = []
        for run in report.runs:
            if run.runtime is not runtime:
                continue
            found = [layer.comparison for layer in run.layers] + list(run.comparisons)
            prefix = f"{run.model}/{run.device}/" if several else ""
            rows += [dataclasses.replace(c, name=prefix + c.name) for c in found]
        path = folder / runtime.value / "log.csv"
        write_log(path, rows)
        _link(folder / _LOG_ALIAS, runtime.value)
        _LOG.info("validation log: %s", path)


def _link(link: Path, target: str) -> None:
    """Makes the literal spelling of the documented path work, too."""
    if link.is_symlink():
        link.unlink()
    if not link.exists():
        link.symlink_to(target)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one model on a device; the model is prepared once for all devices."""

from __future__ import annotations

import dataclasses
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from mace.python.tools.command_line.options import DEFAULT_BUILD_DIR
from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.limits import check_for_dsp
from mace.python.tools.config.problems import cited
from mace.python.tools.config.vocabulary import Abi, Runtime
from mace.python.tools.devices import Device, DeviceProperties, write_log
from mace.python.tools.devices.memory import MemorySample, memory_line, write_samples
from mace.python.tools.errors import CheckFailedError, UsageError
from mace.python.tools.export.model_file import (
    ModelFile,
    TensorInfo,
    as_declared,
    read_model_file,
)
from mace.python.tools.export.places import model_places
from mace.python.tools.report.results import LayerComparison, ModelRun, Times
from mace.python.tools.run import checking, samples
from mace.python.tools.run.accelerator_files import OpenclStore
from mace.python.tools.run.checking import find_first_wrong
from mace.python.tools.run.conversion import check_current
from mace.python.tools.run.inputs import SEED, make_inputs
from mace.python.tools.run.invocation import Answer, Port, Request, run_on_device
from mace.python.tools.run.options import RunOptions

_LOG = logging.getLogger(__name__)

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class PreparedModel:
    """A model, with everything that does not depend on the device.

    Attributes:
        layers: chosen by --layers, for finding a cause.
        checks: named by check_tensors; they decide like outputs.
        samples: of --input_dir, by their suffix.
    """

    config: ModelConfig
    file: ModelFile
    inputs: Mapping[str, Array]
    layers: list[checking.Layer]
    checks: list[checking.Layer]
    expected: checking.Expected | None
    samples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where a model runs.

    Attributes:
        runtimes: by subgraph; one entry is for the whole model.
        log_dir: where the logs of failed runs go.
        opencl, dsp: as in `Request`.
    """

    device: Device
    properties: DeviceProperties
    abi: Abi
    runtimes: Mapping[str, Runtime]
    log_dir: Path
    opencl: OpenclStore | None = None
    dsp: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def runtime(self) -> Runtime:
        """The runtime of the model."""
        return joint_runtime(self.runtimes)


def joint_runtime(runtimes: Mapping[str, Runtime]) -> Runtime:
    """The runtime that stands for those of all subgraphs; else that of the first."""
    devices = {device for item in runtimes.values() for device in item.devices}
    first = next(iter(runtimes.values()))
    return (
        first
        if set(first.devices) == devices
        else next((item for item in Runtime if set(item.devices) == devices), first)
    )


def prepare_model(
    deployment: Deployment, model: ModelConfig, options: RunOptions
) -> PreparedModel:
    """Reads the converted model and everything that is the same on every device.

    Raises:
        MaceError: it is not converted, or a file that it needs is missing.
    """
    with cited(model):
        return _prepare(deployment, model, options)


def _prepare(
    deployment: Deployment, model: ModelConfig, options: RunOptions
) -> PreparedModel:
    places = model_places(deployment, model.name, options.build_dir)
    source = [str(deployment.source)]
    if options.build_dir != DEFAULT_BUILD_DIR:
        source.append(f"--build_dir={options.build_dir}")
    converted = read_model_file(places, source)
    check_current(converted, model)
    check_for_dsp(model, converted.quantized_types)
    file = as_declared(converted, model.whole)
    if options.input_dir is not None:
        found = samples.find_samples(options.input_dir, file)
        return PreparedModel(model, file, {}, [], [], None, found)
    inputs = make_inputs(model.whole)
    states = model.whole.states or {}
    given = [info for info in model.whole.inputs if info.name not in states]
    if any(info.validation_data is None for info in given):
        _LOG.info("%s: inputs are random, seed %d", model.name, SEED)
    layers: list[checking.Layer] = []
    checks: list[checking.Layer] = []
    expected = None
    if options.validate:
        if options.layers is not None:
            layers = checking.choose_layers(file, options.layers)
        checks = checking.named_layers(model, file)
        expected = checking.expected_outputs(model, file, inputs, layers + checks)
        _check_known(model, checks, expected)
    return PreparedModel(model, file, inputs, layers, checks, expected)


def _check_known(
    model: ModelConfig, checks: list[checking.Layer], expected: checking.Expected
) -> None:
    sources = [check.tensor.source for check in checks]
    unknown = [name for name in sources if name not in expected.layers]
    if unknown:
        raise UsageError(
            f"models.{model.name}: check_tensors: {expected.source} does not give "
            f"{', '.join(unknown)}; leave them out"
        )


def run_model(
    model: PreparedModel,
    place: Place,
    options: RunOptions,
    show: Callable[[str], None],
    progress: Callable[[str], None] | None = None,
) -> ModelRun:
    """Runs a model, and compares its results as the options say.

    Args:
        show: takes what the program printed.
        progress: takes the rounds and the time left of a long run.

    Raises:
        DeviceError: the device is gone, or full.
        RunnerError: the program refuses the model or a flag.
    """
    run = ModelRun(model.config.name, place.abi, place.properties.name, place.runtime)
    runner = samples.SampleRunner(
        place.device, model.file, place.runtimes, options, place.opencl, place.dsp
    )
    if options.input_dir is not None:
        assert options.output_dir is not None
        samples.run_folder(
            runner, model.file, model.samples, options.input_dir, options.output_dir
        )
        return run
    run, answer = _starts(model, place, options, show, run, progress)
    if run.failure:
        return _look_for_the_cause(model, place, options, answer, run)
    if options.output_dir is not None:
        samples.write_outputs(options.output_dir, answer.outputs)
    if model.expected is not None:
        run = _compare(model, model.expected, place, options, answer, run)
        if run.failure:
            return run
        if options.bisect and not all(c.passed for c in run.comparisons):
            run = dataclasses.replace(run, first_wrong=_bisect(model, place, options))
    if options.validate:
        scripts = samples.run_scripts(model.config.whole, runner)
        run = dataclasses.replace(run, accuracy=scripts)
    return run


def _starts(
    model: PreparedModel,
    place: Place,
    options: RunOptions,
    show: Callable[[str], None],
    run: ModelRun,
    progress: Callable[[str], None] | None,
) -> tuple[ModelRun, Answer]:
    """Starts the program as often as requested; returns all figures and the last
    answer.
    """
    request = _request(model, place, options)
    times: list[Times] = []
    memory: list[MemorySample] = []
    answer = Answer("", {})
    for _ in range(options.restart_round):
        answer = run_on_device(place.device, request, options, progress)
        show(answer.text)
        memory += answer.memory
        if answer.failure:
            break
        times.append(_times(answer))
    tell_of_threads(options.num_threads, answer)
    if options.watch_memory:
        path = _log_path(model.config.name, place, "_memory.csv")
        write_samples(path, memory)
        show(f"memory of mace_run: {memory_line(memory)}; {path}\n")
    failure = answer.failure if answer.started else _wrong_abi(place, answer)
    if failure:
        failure = with_log(failure, model.config.name, place, answer.text)
    run = dataclasses.replace(
        run,
        failure=failure,
        times=tuple(times),
        report=answer.report,
        memory=tuple(memory),
    )
    return run, answer


def tell_of_threads(asked: int, answer: Answer) -> None:
    """Says that there are fewer cores than threads were asked for."""
    cores = answer.report.get("machine", {}).get("usable_cores")
    if cores is not None and asked > cores:
        _LOG.warning(
            "--num_threads=%d: the device has %d usable cores, and the library starts "
            "at most one thread for each",
            asked,
            cores,
        )


def _look_for_the_cause(
    model: PreparedModel,
    place: Place,
    options: RunOptions,
    answer: Answer,
    run: ModelRun,
) -> ModelRun:
    """Adds the requested layers to a failed run, if they can be computed. A NaN in an
    output makes a run fail; `--layers` shows which layer has the first one.
    """
    if model.expected is None or not answer.started:
        return run
    layers, missing = _compare_layers(
        "layers", model.layers, model, model.expected, place, options
    )
    return run if missing else dataclasses.replace(run, layers=layers)


def _wrong_abi(place: Place, answer: Answer) -> str:
    can = ", ".join(abi.value for abi in place.properties.abis)
    return (
        f"{answer.failure} (it is a program for {place.abi.value}, and "
        f"{place.properties.name} says that it runs {can}; choose by --target_abis)"
    )


def with_log(failure: str, model: str, place: Place, output: str, of: str = "") -> str:
    """A failure, with the path of a log with all output of the program and the system.

    Args:
        of: tells the file from others of the model, device and ABI.
    """
    path = _log_path(model, place, f"{of}.log")
    write_log(path, place.device, place.properties.name, output)
    return f"{failure}\nlog: {path}"


def _log_path(model: str, place: Place, suffix: str) -> Path:
    name = f"{model}_{place.properties.name}_{place.abi.value}"
    return place.log_dir / (re.sub(r"[^0-9A-Za-z.+-]", "_", name) + suffix)


def _request(model: PreparedModel, place: Place, options: RunOptions) -> Request:
    return Request(
        model=model.file,
        runtimes=place.runtimes,
        opencl=place.opencl,
        dsp=place.dsp,
        inputs=_input_ports(model),
        outputs=[_output_port(model, tensor) for tensor in model.file.outputs],
        benchmark=options.benchmark,
        measure_peak=options.benchmark and options.report,
        rounds=options.round,
    )


def _input_ports(model: PreparedModel) -> list[tuple[Port, Array]]:
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


def _output_port(model: PreparedModel, tensor: TensorInfo) -> Port:
    """The buffer of an output: its size comes from the framework's result, or the
    file.
    """
    shape = tensor.shape
    if not tensor.is_static:
        declared = {o.name: o.shape for o in model.config.whole.outputs if o.shape}
        shape = declared.get(tensor.name, shape)
    if any(dim < 0 for dim in shape) and model.expected is not None:
        # Only the size matters: the run reports the shape.
        shape = (int(model.expected.outputs[tensor.name].size),)
        return Port(tensor.name, shape, tensor.data_type, tensor.data_format)
    if any(dim < 0 for dim in shape):
        raise UsageError(
            f"the shape of output {tensor.name} is not known; give its largest shape "
            "in output_shapes"
        )
    return Port(tensor.name, shape, tensor.data_type, tensor.data_format)


def _compare(
    model: PreparedModel,
    expected: checking.Expected,
    place: Place,
    options: RunOptions,
    answer: Answer,
    run: ModelRun,
) -> ModelRun:
    """Compares outputs, check_tensors and layers with the framework's."""
    _LOG.info("%s: compared with %s", model.config.name, expected.source)
    outputs = checking.compare_outputs(
        model.config, model.file, place.runtime, expected, answer.outputs
    )
    checks, no_checks = _compare_layers(
        "check_tensors", model.checks, model, expected, place, options
    )
    layers, no_layers = _compare_layers(
        "layers", model.layers, model, expected, place, options
    )
    return dataclasses.replace(
        run,
        failure="\n".join(filter(None, (no_checks, no_layers))),
        reference=expected.source,
        comparisons=(*outputs, *(check.comparison for check in checks)),
        layers=layers,
    )


def _bisect(model: PreparedModel, place: Place, options: RunOptions) -> str:
    """What the search for the first wrong operator found."""
    source, nodes = "", dict[str, str]()

    def compare(layers: Sequence[checking.Layer]) -> Sequence[LayerComparison]:
        nonlocal source
        expected = checking.expected_outputs(
            model.config, model.file, model.inputs, layers
        )
        source = expected.source
        nodes.update(expected.nodes)
        results, failure = _compare_layers(
            "bisect", list(layers), model, expected, place, options
        )
        if failure:
            raise CheckFailedError(f"{model.config.name}: {failure}")
        return results

    found = find_first_wrong(checking.comparable_layers(model.file), compare)
    files = any(info.validation_data for info in model.config.whole.outputs)
    return found.text(source, nodes, files)


def _compare_layers(
    what: str,
    layers: list[checking.Layer],
    model: PreparedModel,
    expected: checking.Expected,
    place: Place,
    options: RunOptions,
) -> tuple[tuple[LayerComparison, ...], str]:
    """Runs the model for intermediate tensors and compares them.

    Args:
        what: what the layers are, for messages.

    Returns:
        Also why they could not be had, or nothing. Those that are missing then
        are failed comparisons: nothing passes unseen.
    """
    threshold = checking.least_similarity(model.config, model.file, place.runtime)
    drawn = checking.drawn_tensors(model.file.operators)
    results: list[LayerComparison] = []
    failure = ""
    for group in checking.layer_groups(layers):
        outputs: Mapping[str, Array] = {}
        if not failure:
            answer = _fetch_layers(group, model, place, options)
            outputs = answer.outputs
            if answer.failure:
                failure = with_log(
                    f"{what}: {answer.failure}",
                    model.config.name,
                    place,
                    answer.text,
                    f"_{what}",
                )
        for layer in group:
            array = outputs.get(layer.tensor.name)
            results += checking.compare_layer(
                layer, expected, array, threshold, drawn.get(layer.tensor.name, "")
            )
    return tuple(results), failure


def _fetch_layers(
    layers: list[checking.Layer],
    model: PreparedModel,
    place: Place,
    options: RunOptions,
) -> Answer:
    # The kernels of a model with other outputs are not those to tune.
    opencl = place.opencl and dataclasses.replace(place.opencl, tuning=False)
    request = Request(
        model=model.file,
        runtimes=place.runtimes,
        opencl=opencl,
        dsp=place.dsp,
        inputs=_input_ports(model),
        outputs=[layer.port for layer in layers],
        # The purpose may be to find a layer with NaN.
        out_of_range_check=False,
        timed=False,
        # Already checked in the run for the outputs.
        check_weights=False,
    )
    return run_on_device(place.device, request, options)


def _times(answer: Answer) -> Times:
    last = answer.report["restarts"][-1]
    return Times(
        capability=answer.report["capability_ms"],
        init=last["init_ms"],
        warmup=last["warmup_ms"],
        run=last["run_ms"]["avg"],
    )

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a graph on this computer with the native engine, for any of its tensors."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from mace.python.tools.command_line.options import CommandOptions
from mace.python.tools.config.deployment import ModelConfig
from mace.python.tools.config.vocabulary import Abi, DataFormat, Runtime
from mace.python.tools.convert.requests import export_options
from mace.python.tools.data_type import Precision
from mace.python.tools.devices.host import HostDevice
from mace.python.tools.errors import CheckFailedError, UsageError
from mace.python.tools.export import export_model
from mace.python.tools.export.model_file import ModelFile, as_declared, read_model_file
from mace.python.tools.export.places import ModelPlaces
from mace.python.tools.export.storage import Storage
from mace.python.tools.ir import DataFormat as GraphFormat
from mace.python.tools.ir import Graph, Value
from mace.python.tools.ir.evaluate import ShapeError, update_outputs
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, permute, static
from mace.python.tools.run.invocation import (
    PROGRAM,
    Answer,
    Port,
    Request,
    run_on_device,
)
from mace.python.tools.run.options import CpuAffinityPolicy, RunOptions
from mace.python.tools.run.program import find_program
from mace.python.tools.run.samples import SampleRunner, run_scripts

Array = npt.NDArray[Any]

# Tensors that one run returns: of at most this size, and so many.
_MOST_BYTES = 256 << 20
_MOST_TENSORS = 500
# How long a model runs when its time is measured, and how often at most.
_MEASURED_MS = 300.0
_MOST_ROUNDS = 1000
_RUNTIMES = {"": Runtime.CPU}


class Host:
    """This computer, with the program that runs models.

    Args:
        folder: for temporary files.
    """

    def __init__(self, folder: Path, options: CommandOptions) -> None:
        self._folder = folder
        self.options = RunOptions(
            build_dir=options.build_dir,
            debug_mode=options.debug_mode,
            address_sanitizer=options.address_sanitizer,
            cpu_affinity_policy=CpuAffinityPolicy.NONE,
        )
        self.device = HostDevice(folder / "device")
        self.device.prepare()
        self.device.push(find_program(Abi.HOST, self.options), PROGRAM)
        self._count = 0

    def network(self, model: ModelConfig, graph: Graph) -> Network:
        """Writes a graph, which the passes have rewritten, as a model to run."""
        self._count += 1
        return Network(self, model, graph, self._folder / f"network{self._count}")


@contextlib.contextmanager
def host(options: CommandOptions) -> Iterator[Host]:
    """This computer; what is written for it is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="mace_calibrate_") as folder:
        yield Host(Path(folder), options)


class Network:
    """A graph that runs. Made by `Host.network`.

    Attributes:
        file: the model, with the types that the application uses.
    """

    def __init__(
        self, place: Host, model: ModelConfig, graph: Graph, folder: Path
    ) -> None:
        self._place = place
        self._model = model
        self._graph = graph
        folder.mkdir(parents=True)
        # The file's name tells models apart on the device.
        path = folder / f"{folder.name}.pb"
        places = ModelPlaces(path, path.with_suffix(".data"))
        how = export_options(model)
        hints = {**how.hints, "data_type": Precision.FP32_FP32.value, "runtime": "cpu"}
        how = dataclasses.replace(
            how,
            storage=Storage.FLOAT32,
            pairs=False,
            eight_bit_weights=False,
            whatever_size=False,
            obfuscate=False,
            hints=hints,
        )
        with places.data.open("wb") as stream:
            message = export_model(graph, how, stream).model
        path.write_bytes(message.SerializeToString())
        self.file: ModelFile = as_declared(read_model_file(places), model.whole)
        self._sizes: dict[tuple[tuple[int, ...], ...], dict[str, Value]] = {}

    def tensors(
        self, inputs: Mapping[str, Array], names: Sequence[str]
    ) -> Iterator[tuple[str, Array]]:
        """Runs a sample; yields tensors by name, as they lie in memory.

        Args:
            inputs: of the application, by name.
            names: in the graph. Those of inputs are what the application gives.

        Raises:
            CheckFailedError: the run failed.
            UsageError: the inputs do not fit, or do not give the shape of a tensor.
        """
        values = self._values(inputs)
        given = [name for name in names if name in inputs]
        yield from ((name, inputs[name]) for name in given)
        left = [values[name] for name in names if name not in inputs]
        for group in _groups(left):
            yield from self._run(inputs, group).items()

    def least_ms(self, inputs: Mapping[str, Array]) -> float:
        """The least time of a run with these inputs, in milliseconds.

        Raises:
            CheckFailedError: the run failed.
        """
        found = self._times(inputs, 1)
        rounds = min(int(_MEASURED_MS / max(found, 1e-3)), _MOST_ROUNDS)
        return min(found, self._times(inputs, rounds)) if rounds > 1 else found

    def accuracy(self) -> dict[str, str]:
        """What each accuracy script of the model says, by its path.

        Raises:
            MaceError: a script fails, or a run.
        """
        runner = SampleRunner(
            self._place.device, self.file, _RUNTIMES, self._place.options
        )
        return run_scripts(self._model.whole, runner)

    def _times(self, inputs: Mapping[str, Array], rounds: int) -> float:
        values = self._values(inputs)
        outputs = [values[value.name] for value in self._graph.outputs]
        answer = self._answer(inputs, outputs, rounds)
        return float(answer.report["restarts"][-1]["run_ms"]["min"])

    def _run(
        self, inputs: Mapping[str, Array], group: Sequence[Value]
    ) -> Mapping[str, Array]:
        return self._answer(inputs, group).outputs

    def _answer(
        self, inputs: Mapping[str, Array], group: Sequence[Value], rounds: int = 1
    ) -> Answer:
        """Runs a sample, for these tensors."""
        request = Request(
            model=self.file,
            runtimes=_RUNTIMES,
            inputs=[
                (
                    Port(t.name, inputs[t.name].shape, t.data_type, t.data_format),
                    inputs[t.name],
                )
                for t in self.file.inputs
            ],
            outputs=[
                Port(v.name, static(v.shape) or (), v.dtype, DataFormat.NONE)
                for v in group
            ],
            out_of_range_check=False,
            check_weights=False,
            rounds=rounds,
        )
        answer = run_on_device(self._place.device, request, self._place.options)
        if answer.failure:
            raise CheckFailedError(f"{self._model.name}: {answer.failure}")
        return answer

    def _values(self, inputs: Mapping[str, Array]) -> Mapping[str, Value]:
        """The values of the graph, with the shapes that they have for these inputs."""
        shapes = tuple(inputs[tensor.name].shape for tensor in self.file.inputs)
        if shapes not in self._sizes:
            graph = self._graph.copy()
            for tensor, shape in zip(self.file.inputs, shapes):
                value = graph.values[tensor.name]
                is_image = graph.formats[tensor.name] is GraphFormat.NHWC
                is_nchw = is_image and tensor.data_format is DataFormat.NCHW
                value.shape = permute(shape, NCHW_TO_NHWC) if is_nchw else shape
            for op in graph.ops:
                try:
                    update_outputs(op)
                except ShapeError as error:
                    raise UsageError(
                        f"{self._model.name}: a sample does not fit the model: {error}"
                    ) from error
            self._sizes[shapes] = dict(graph.values)
        return self._sizes[shapes]


def _groups(values: Sequence[Value]) -> Iterator[list[Value]]:
    """So that one run need not return all."""
    left = list(values)
    while left:
        group: list[Value] = []
        size = 0
        later = []
        for value in left:
            shape = static(value.shape)
            if shape is None:
                raise UsageError(f"a run decides the shape of {value.name}")
            bytes_ = value.dtype.numpy.itemsize
            for dim in shape:
                bytes_ *= dim
            full = bool(group) and size + bytes_ > _MOST_BYTES
            if full or len(group) == _MOST_TENSORS:
                later.append(value)
            else:
                group.append(value)
                size += bytes_
        if group:
            yield group
        left = later

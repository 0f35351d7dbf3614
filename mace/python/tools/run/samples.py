# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Many samples through one model: folders of raw files, accuracy scripts."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mace.python.tools.atomic import atomic_write
from mace.python.tools.cli.options import RunOptions
from mace.python.tools.config.deployment import Runtime, SubgraphConfig
from mace.python.tools.devices import Device
from mace.python.tools.errors import CheckFailedError, UsageError
from mace.python.tools.fetch import fetch_file
from mace.python.tools.run.inputs import InputDataError, element_type
from mace.python.tools.run.invocation import Answer, Port, Request, run_on_device
from mace.python.tools.run.model_file import ModelFile
from mace.python.tools.validate.accuracy import run_accuracy_script

_LOG = logging.getLogger(__name__)

Array = npt.NDArray[Any]


class SampleRunner:
    """Runs a model again and again on one device.

    Args:
        runtime: where on the device it runs.
    """

    def __init__(
        self,
        device: Device,
        model_file: ModelFile,
        runtime: Runtime,
        options: RunOptions,
    ) -> None:
        self._device = device
        self._model = model_file
        self._runtime = runtime
        self._options = options

    def run(self, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        """Outputs by name.

        Raises:
            CheckFailedError: the run failed.
        """
        batch, declared = self._batches(inputs)
        request = Request(
            model=self._model,
            runtime=self._runtime,
            inputs=[
                (
                    Port(t.name, inputs[t.name].shape, t.data_type, t.data_format),
                    inputs[t.name],
                )
                for t in self._model.inputs
            ],
            outputs=[
                Port(
                    t.name,
                    _with_batch(t.shape, declared, batch),
                    t.data_type,
                    t.data_format,
                )
                for t in self._model.outputs
            ],
        )
        answer: Answer = run_on_device(self._device, request, self._options)
        if answer.failure:
            raise CheckFailedError(f"{self._model.name}: {answer.failure}")
        return answer.outputs

    def _batches(self, inputs: Mapping[str, Array]) -> tuple[int, int]:
        """First dimension fed, and the one the model was converted for."""
        first = self._model.inputs[0]
        shape = inputs[first.name].shape
        if not shape or not first.shape:
            return 1, 1
        return shape[0], first.shape[0]


def _with_batch(shape: tuple[int, ...], declared: int, batch: int) -> tuple[int, ...]:
    """An output's buffer grows with the batch."""
    if shape and shape[0] in (declared, -1):
        return (batch, *shape[1:])
    return shape


def run_folder(runner: SampleRunner, model: ModelFile, options: RunOptions) -> int:
    """Runs every sample of `--input_dir`; outputs go to `--output_dir`.

    A sample is one raw file per input, `<name><suffix>` with names as in
    mace_run's files. Returns the number of samples.
    """
    assert options.input_dir is not None and options.output_dir is not None
    suffixes = _suffixes(options.input_dir, model)
    for suffix in suffixes:
        inputs = {
            tensor.name: _read(
                options.input_dir / (_file_name(tensor.name) + suffix),
                tensor.shape,
                tensor.data_type,
            )
            for tensor in model.inputs
        }
        write_outputs(options.output_dir, runner.run(inputs), suffix)
    _LOG.info("%d samples run, outputs in %s", len(suffixes), options.output_dir)
    return len(suffixes)


def write_outputs(folder: Path, outputs: Mapping[str, Array], suffix: str = "") -> None:
    """Writes outputs as raw files, `<name><suffix>` each."""
    for name, array in outputs.items():
        with atomic_write(folder / (_file_name(name) + suffix)) as stream:
            stream.write(array.tobytes())


def run_scripts(subgraph: SubgraphConfig, runner: SampleRunner) -> dict[str, str]:
    """What each accuracy script of a subgraph says, by its path."""
    results = {}
    names = tuple(info.name for info in subgraph.inputs)
    for ref in subgraph.accuracy_validation_scripts:
        script = fetch_file(ref)
        results[ref.location] = run_accuracy_script(script, names, runner.run)
        _LOG.info("%s: %s", ref.location, results[ref.location])
    return results


def _suffixes(folder: Path, model: ModelFile) -> list[str]:
    prefix = _file_name(model.inputs[0].name)
    if not folder.is_dir():
        raise UsageError(f"--input_dir={folder}: no such folder")
    found = sorted(
        path.name[len(prefix) :]
        for path in folder.iterdir()
        if path.name.startswith(prefix)
    )
    if not found:
        raise UsageError(f"--input_dir={folder} holds no file {prefix}<suffix>")
    return found


def _file_name(tensor: str) -> str:
    return re.sub("[^0-9A-Za-z]", "_", tensor)


def _read(path: Path, shape: tuple[int, ...], data_type: str) -> Array:
    try:
        array = np.fromfile(path, element_type(data_type))
        return array.reshape(shape)
    except (OSError, ValueError) as error:
        raise InputDataError(
            f"{path} cannot be read as {data_type} values of shape {list(shape)}: "
            f"{error}"
        ) from error

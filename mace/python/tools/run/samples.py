# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one model on many samples: folders of raw files, accuracy scripts."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from mace.python.tools.atomic import atomic_write
from mace.python.tools.config.subgraph import SubgraphConfig
from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.devices import Device
from mace.python.tools.errors import CheckFailedError, UsageError
from mace.python.tools.export.model_file import ModelFile, TensorInfo
from mace.python.tools.fetch import fetch_file
from mace.python.tools.run.accelerator_files import OpenclStore
from mace.python.tools.run.inputs import (
    InputDataError,
    element_type,
    fit,
    fit_shape,
    is_numpy_file,
    tensor_file_name,
)
from mace.python.tools.run.invocation import Answer, Port, Request, run_on_device
from mace.python.tools.run.options import RunOptions
from mace.python.tools.validate.accuracy import run_accuracy_script

_LOG = logging.getLogger(__name__)

Array = npt.NDArray[Any]

_NUMPY = ".npy"
# The most bad samples of a folder that are listed one by one.
_MOST_PROBLEMS = 10


class SampleRunner:
    """Runs a model repeatedly on one device.

    Args:
        runtimes, opencl, dsp: where on the device it runs, see `Request`.
    """

    def __init__(
        self,
        device: Device,
        model_file: ModelFile,
        runtimes: Mapping[str, Runtime],
        options: RunOptions,
        opencl: OpenclStore | None = None,
        dsp: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._device = device
        self._opencl = opencl
        self._dsp = dsp
        self._model = model_file
        self._runtimes = runtimes
        self._options = options

    def run(
        self, inputs: Mapping[str, Array], check_weights: bool = False
    ) -> Mapping[str, Array]:
        """Outputs by name.

        Args:
            check_weights: as in Request; for the first of many runs.

        Raises:
            CheckFailedError: the run failed.
        """
        batch, declared = self._batches(inputs)
        request = Request(
            model=self._model,
            runtimes=self._runtimes,
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
            opencl=self._opencl,
            dsp=self._dsp,
            check_weights=check_weights,
            timed=False,
        )
        answer: Answer = run_on_device(self._device, request, self._options)
        if answer.failure:
            raise CheckFailedError(f"{self._model.name}: {answer.failure}")
        return answer.outputs

    def _batches(self, inputs: Mapping[str, Array]) -> tuple[int, int]:
        """The first dimension of the given inputs, and the one of the converted
        model.
        """
        first = self._model.inputs[0]
        shape = inputs[first.name].shape
        if not shape or not first.shape:
            return 1, 1
        return shape[0], first.shape[0]


def _with_batch(shape: tuple[int, ...], declared: int, batch: int) -> tuple[int, ...]:
    """The size of an output's buffer for this batch."""
    if shape and shape[0] in (declared, -1):
        return (batch, *shape[1:])
    return shape


def find_samples(folder: Path, model: ModelFile) -> tuple[str, ...]:
    """The samples of a folder, by the suffix of their files.

    A sample is one file per input, of NumPy or raw, `<name><suffix>` with names as in
    mace_run's files.

    Raises:
        UsageError: there is no sample.
        InputDataError: lists the files that are missing or no such tensor.
    """
    suffixes = _suffixes(folder, model)
    problems = [
        problem
        for suffix in suffixes
        for tensor in model.inputs
        if (problem := _problem(_sample_path(folder, model, tensor, suffix), tensor))
    ]
    if problems:
        more = len(problems) - _MOST_PROBLEMS
        shown = problems[:_MOST_PROBLEMS] + ([f"and {more} more"] if more > 0 else [])
        raise InputDataError(
            f"--input_dir={folder}: {len(problems)} of {len(suffixes)} samples' files "
            "cannot be used:\n  " + "\n  ".join(shown)
        )
    return tuple(suffixes)


def run_folder(
    runner: SampleRunner,
    model: ModelFile,
    suffixes: Sequence[str],
    input_dir: Path,
    output_dir: Path,
) -> None:
    """Runs samples of a folder, writes `<output><suffix>` to another: NumPy files if
    the suffix is theirs, otherwise raw ones.

    Args:
        suffixes: of the samples, from `find_samples`.
    """
    for i, suffix in enumerate(suffixes):
        inputs = read_sample(input_dir, suffix, model)
        outputs = runner.run(inputs, check_weights=i == 0)
        write_outputs(output_dir, outputs, suffix)
    _LOG.info("%d samples run, outputs in %s", len(suffixes), output_dir)


def read_sample(folder: Path, suffix: str, model: ModelFile) -> dict[str, Array]:
    """The inputs of a sample, by name.

    Raises:
        InputDataError: a file cannot be read.
    """
    return {
        tensor.name: _read(_sample_path(folder, model, tensor, suffix), tensor)
        for tensor in model.inputs
    }


def write_outputs(folder: Path, outputs: Mapping[str, Array], suffix: str = "") -> None:
    """Writes outputs to `<name><suffix>` each, see `run_folder`."""
    for name, array in outputs.items():
        file = folder / (tensor_file_name(name, outputs) + suffix)
        with atomic_write(file) as stream:
            if suffix.endswith(_NUMPY):
                np.save(stream, array)
            else:
                stream.write(array.tobytes())


def run_scripts(subgraph: SubgraphConfig, runner: SampleRunner) -> dict[str, str]:
    """What each accuracy script of a subgraph says, by its path."""
    results = {}
    states = subgraph.states or {}
    names = tuple(info.name for info in subgraph.inputs if info.name not in states)
    for ref in subgraph.accuracy_validation_script or ():
        script = fetch_file(ref)
        results[ref.location] = run_accuracy_script(script, names, runner.run)
        _LOG.info("%s: %s", ref.location, results[ref.location])
    return results


def _suffixes(folder: Path, model: ModelFile) -> list[str]:
    own = [tensor.name for tensor in model.inputs]
    names = [tensor_file_name(name, own) for name in own]
    prefix = names[0]
    # If a file name starts with several inputs' names, the longest one counts.
    longer = tuple(name for name in names if name.startswith(prefix) and name != prefix)
    if not folder.is_dir():
        raise UsageError(f"--input_dir={folder}: no such folder")
    found = sorted(
        path.name[len(prefix) :]
        for path in folder.iterdir()
        if path.name.startswith(prefix) and not path.name.startswith(longer)
    )
    if not found:
        raise UsageError(f"--input_dir={folder} holds no file {prefix}<suffix>")
    return found


def _sample_path(
    folder: Path, model: ModelFile, tensor: TensorInfo, suffix: str
) -> Path:
    names = [info.name for info in model.inputs]
    return folder / (tensor_file_name(tensor.name, names) + suffix)


def _problem(path: Path, tensor: TensorInfo) -> str:
    """Why a tensor cannot be read from a file; empty if it can."""
    wanted = f"{tensor.data_type.value} values of shape {list(tensor.shape)}"
    if not path.is_file():
        return f"{path}: no such file; it should hold {wanted}"
    try:
        if is_numpy_file(path):
            shaped = fit_shape(_load(path), tensor.shape)
            return f"{path} {shaped}" if isinstance(shaped, str) else ""
    except (OSError, ValueError, EOFError) as error:
        return f"{path} cannot be read: {error}"
    if path.suffix == _NUMPY:
        return f"{path} is no NumPy file: write it with numpy.save"
    # One unknown dimension can be computed from the size of the file.
    known = math.prod(dim for dim in tensor.shape if dim >= 0)
    open_dims = sum(dim < 0 for dim in tensor.shape)
    if open_dims > 1:
        return (
            f"{path}: the size of a raw file can give only one unknown dimension of "
            f"{wanted}"
        )
    size, unit = path.stat().st_size, known * element_type(tensor.data_type).itemsize
    fits = size % unit == 0 and size > 0 if open_dims and unit else size == unit
    if fits:
        return ""
    of = "a multiple of " if open_dims else ""
    return (
        f"{path}: {size} bytes; {wanted} are {of}{unit}, without header (NumPy files "
        "of numpy.save are read, too)"
    )


def _load(path: Path) -> Array:
    """The array of a NumPy file, which is read where it is used."""
    array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def _read(path: Path, tensor: TensorInfo) -> Array:
    try:
        if not is_numpy_file(path):
            array = np.fromfile(path, element_type(tensor.data_type))
            return array.reshape(tensor.shape)
        fitted = fit(_load(path), tensor.shape, tensor.data_type)
    except (OSError, ValueError, EOFError) as error:
        raise InputDataError(f"{path} cannot be read: {error}") from error
    if isinstance(fitted, str):
        raise InputDataError(f"{path} {fitted}")
    return np.array(fitted)

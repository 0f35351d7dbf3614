# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""From a file, or an object of a framework, to a model that runs."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from mace.python.runtime import conversion
from mace.python.runtime.conversion import Request
from mace.python.runtime.model import Model
from mace.python.runtime.objects import as_file, is_path, is_stable
from mace.python.runtime.options import RunOptions
from mace.python.runtime.tensors import is_graph, read_graph
from mace.python.tools.errors import UsageError
from mace.python.tools.wording import near_file

FilePath = Union[str, "os.PathLike[str]"]

_GRAPH_SUFFIX = ".pb"
_WEIGHTS_SUFFIX = ".data"


def load(
    path: Union[FilePath, bytes, Any],
    *,
    dims: Optional[Mapping[str, int]] = None,
    constants: Optional[Mapping[str, Any]] = None,
    options: Optional[RunOptions] = None,
    weights: Optional[FilePath] = None,
    model: Optional[str] = None,
    example_inputs: Any = None,
    dynamic_shapes: Any = None,
    cache: bool = True,
) -> Model:
    """Loads a model, and converts it first if need be.

    Args:
        path: a converted model (``.pb``), a model of a framework (``.onnx``,
            ``.tflite``, ``.keras``, ``.pt2``, ``.prototxt``, ..., a SavedModel's
            folder) or a deployment file (``.yml``); or what a program has in memory:
            the bytes of such a file of a model, an ``onnx.ModelProto``, a
            ``torch.export.ExportedProgram``, a ``torch.nn.Module`` or a
            ``keras.Model``.
        dims: numbers for dimensions that the model leaves open, by name; each run
            decides those that are left out, or -1.
        constants: what inputs hold in every run, by name, as ``{"sr": 16000}``:
            numbers, truth values, lists of these, arrays or the paths of ``.npy``
            files. The loaded model has no such inputs, and conditions that depend on
            nothing else are decided when it is converted.
        options: how it runs; the default is as good as it gets on the CPU.
        weights: of a converted model, if they are not in the ``.data`` beside it; of a
            Caffe network, if they are not in the ``.caffemodel`` beside it.
        model: which one of a deployment file with several.
        example_inputs: of a ``torch.nn.Module``: a tensor, or a tuple of its arguments.
        dynamic_shapes: of a ``torch.nn.Module``, as `torch.export.export` has it;
            without it, runs have the shapes of `example_inputs`.
        cache: keep the converted model in ``~/.cache/mace/models`` (or
            ``$MACE_CACHE/models``), and use the one that is there if the contents of
            the files and the options are the same.

    Raises:
        MaceError: the file is missing, cannot be converted or cannot run; the message
            says why, and what would be accepted.
    """
    asked = Arguments.of(dims, constants, options, weights, model, cache)
    with as_file(path, example_inputs, dynamic_shapes) as file:
        if not is_path(path) and not is_stable(path):
            asked = replace(asked, cache=False)
        return _load_file(file, asked)


@dataclass(frozen=True)
class Arguments:
    """What a model is loaded or converted with, as the converter takes it."""

    dims: tuple[tuple[str, int], ...]
    constants: tuple[tuple[str, bytes], ...]
    options: RunOptions
    weights: Optional[Path]
    model: Optional[str]
    cache: bool

    @classmethod
    def of(
        cls,
        dims: Optional[Mapping[str, int]],
        constants: Optional[Mapping[str, Any]],
        options: Optional[RunOptions],
        weights: Optional[FilePath],
        model: Optional[str],
        cache: bool = False,
    ) -> Arguments:
        """Of the arguments of `load`.

        Raises:
            UsageError: one is none of what is accepted.
        """
        _check_types(dims, options)
        return cls(
            tuple(sorted((dims or {}).items())),
            _arrays(constants),
            options or RunOptions(),
            None if weights is None else Path(weights).absolute(),
            model,
            cache,
        )

    def request(self, source: Path) -> Request:
        """The conversion of a file.

        Raises:
            UsageError: there is none.
        """
        if not source.exists():
            raise UsageError(f"{source}: no such file{near_file(source)}")
        return Request(
            source.absolute(),
            self.weights,
            self.dims,
            self.model,
            self.options.precision,
            "gpu" in (self.options.devices or ()),
            self.constants,
        )


def _load_file(source: Path, asked: Arguments) -> Model:
    options = asked.options
    if source.suffix == _GRAPH_SUFFIX and source.is_file():
        with open(source, "rb") as stream:
            start = stream.read(1)
        data = asked.weights or source.absolute().with_suffix(_WEIGHTS_SUFFIX)
        there = data.is_file()
        if is_graph(start) and (there or not _is_onnx(source)):
            _refuse(
                source,
                dims=asked.dims,
                constants=asked.constants,
                model=asked.model,
                precision=options.precision,
            )
            if not there:
                raise UsageError(
                    f"{source}: its weights {data} are missing; put them there, or "
                    "name them: mace.load(..., weights=FILE)"
                )
            return Model(read_graph(source), source.absolute(), data, options)
    request = asked.request(source)
    if asked.cache:
        graph_path, data = conversion.cached(request)
        return Model(read_graph(graph_path), graph_path, data, options)
    folder = tempfile.TemporaryDirectory(prefix="mace_model_")
    graph_path, data = conversion.convert(request, Path(folder.name))
    return Model(read_graph(graph_path), graph_path, data, options, folder)


def _check_types(
    dims: Optional[Mapping[str, int]], options: Optional[RunOptions]
) -> None:
    if options is not None and not isinstance(options, RunOptions):
        raise UsageError(
            f"options: found {options!r}, accepted: mace.RunOptions(threads=2, ...)"
        )
    if dims is None:
        return
    if not isinstance(dims, Mapping):
        raise UsageError(
            f"dims: found {dims!r}, accepted: names and numbers, {{'N': 1}}"
        )
    for name, number in dims.items():
        if not isinstance(number, int) or (number < 1 and number != -1):
            raise UsageError(
                f"dims: found {number!r} for {name!r}, accepted: 1, 2, ...; -1: each "
                "run decides"
            )


def _arrays(constants: Optional[Mapping[str, Any]]) -> tuple[tuple[str, bytes], ...]:
    """The constants as `numpy.save` writes them, sorted by name."""
    accepted = (
        "accepted: names of inputs and numbers, truth values, lists of these, arrays "
        "or paths of .npy files, {'sr': 16000}"
    )
    if constants is None:
        return ()
    if not isinstance(constants, Mapping):
        raise UsageError(f"constants: found {constants!r}, {accepted}")
    found = []
    for name, value in sorted(constants.items(), key=lambda item: str(item[0])):
        try:
            if isinstance(value, (str, os.PathLike)):
                array = np.load(value, allow_pickle=False)
            else:
                array = np.asarray(value)
        except (EOFError, OSError, ValueError) as error:
            raise UsageError(
                f"constants: {value!r} for {name!r} cannot be read: {error}; {accepted}"
            ) from error
        if (
            not isinstance(name, str)
            or not array.size
            or array.dtype.kind not in "biuf"
        ):
            raise UsageError(f"constants: found {value!r} for {name!r}, {accepted}")
        stream = io.BytesIO()
        np.save(stream, array)
        found.append((name, stream.getvalue()))
    return tuple(found)


def _is_onnx(path: Path) -> bool:
    """Whether a file that begins like a converted model is one of ONNX."""
    # Late: most programs have no such file.
    from mace.python.tools.config.vocabulary import Platform
    from mace.python.tools.importers.frame.opened import recognise

    found = recognise(path)
    return found is not None and found.platform is Platform.ONNX


def _refuse(source: Path, **given: object) -> None:
    """A converted model is as it is."""
    for name, value in given.items():
        if value:
            raise UsageError(
                f"{source} is a converted model, whose {name} cannot be changed; leave "
                f"{name} out, or load the model that it was converted from"
            )

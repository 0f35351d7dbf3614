# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's commands as functions: models in, files and models out."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from mace.python.runtime import conversion
from mace.python.runtime.load import Arguments, FilePath
from mace.python.runtime.model import Model, copy_model, graph_path
from mace.python.runtime.objects import as_file
from mace.python.runtime.options import RunOptions
from mace.python.runtime.tensors import GraphFile, TensorInfo, read_graph
from mace.python.tools.errors import UsageError

if TYPE_CHECKING:
    from mace.python.runtime.conversion import Request

Sample = Union[Mapping[str, Any], Sequence[Any], Any]


def convert(
    source: Any,
    target: FilePath,
    *,
    dims: Optional[Mapping[str, int]] = None,
    constants: Optional[Mapping[str, Any]] = None,
    options: Optional[RunOptions] = None,
    weights: Optional[FilePath] = None,
    model: Optional[str] = None,
    example_inputs: Any = None,
    dynamic_shapes: Any = None,
) -> Path:
    """Converts a model into two files that `mace.load`, and libmace, take.

    Args:
        source: a model as `mace.load` takes it, but a converted one.
        target: the graph's file, `.pb`; the weights are written beside it, `.data`.
        dims, constants, weights, model, example_inputs, dynamic_shapes: as of
            `mace.load`.
        options: of these, `precision` counts, and whether `runtimes` has the GPU.

    Returns:
        the path of the graph.

    Raises:
        MaceError: it cannot be converted; the message says why.
    """
    graph_path(target)
    asked = Arguments.of(dims, constants, options, weights, model)
    with as_file(source, example_inputs, dynamic_shapes) as file:
        with tempfile.TemporaryDirectory(prefix="mace_model_") as folder:
            graph, data = conversion.convert(asked.request(file), Path(folder))
            return copy_model(graph, data, target)


def quantize(
    source: Any,
    samples: Iterable[Sample],
    *,
    dims: Optional[Mapping[str, int]] = None,
    constants: Optional[Mapping[str, Any]] = None,
    options: Optional[RunOptions] = None,
    weights: Optional[FilePath] = None,
    model: Optional[str] = None,
    example_inputs: Any = None,
    dynamic_shapes: Any = None,
) -> Model:
    """A model in integers of 8 bits, as `converter.py quantize` makes it.

    Operators that lose too much by it stay in floats; the report of the command says
    which, and why.

    Args:
        source: a model in floats as `mace.load` takes it, but a converted one.
        samples: what the model gets where it is used, as it gets it there: for each
            run an array, several in the order of the inputs, or a mapping by name.
            Some dozens are enough.
        dims, constants, weights, model, example_inputs, dynamic_shapes: as of
            `mace.load`.
        options: as of `mace.load`.

    Returns:
        the model; `save` writes it.

    Raises:
        MaceError: it cannot be converted, or a sample is no input of the model.
    """
    asked = Arguments.of(dims, constants, options, weights, model)
    result = tempfile.TemporaryDirectory(prefix="mace_model_")
    with as_file(source, example_inputs, dynamic_shapes) as file:
        request = asked.request(file)
        with tempfile.TemporaryDirectory(prefix="mace_samples_") as folder:
            _write_samples(samples, _graph_of(request), Path(folder))
            graph, data = conversion.convert(request, Path(result.name), Path(folder))
    return Model(read_graph(graph), graph, data, asked.options, result)


def inspect(source: Any) -> dict[str, Any]:
    """What a model is: inputs, outputs, operators, and whether MACE converts it.

    Args:
        source: a model as `mace.load` takes it, or a deployment file.

    Returns:
        what `converter.py inspect --format=json` prints of it.

    Raises:
        MaceError: it cannot be read.
    """
    from mace.python.tools.inspection.inspect import (
        are_converted,
        converted_json,
        deployment_json,
    )
    from mace.python.tools.load.complete import Completion
    from mace.python.tools.load.deployments import of_config, of_files

    with as_file(source) as file:
        Arguments.of(None, None, None, None, None).request(file)
        if are_converted([file]):
            found = converted_json([file])
        else:
            completion = Completion({}, keep_open=True, in_python=True)
            is_deployment = file.suffix.lower() in conversion.DEPLOYMENTS
            loaded = (
                of_config(file, completion)
                if is_deployment
                else of_files([str(file)], completion)
            )
            found = deployment_json(loaded.deployment, loaded.opened)
    models: list[dict[str, Any]] = found["models"]
    return models[0] if len(models) == 1 else found


def _graph_of(request: Request) -> GraphFile:
    """The inputs of a model, which its float form tells."""
    with tempfile.TemporaryDirectory(prefix="mace_model_") as folder:
        graph, _ = conversion.convert(request, Path(folder))
        return read_graph(graph)


def _write_samples(samples: Iterable[Sample], graph: GraphFile, folder: Path) -> None:
    from mace.python.tools.run.samples import write_outputs

    if isinstance(samples, (str, bytes, os.PathLike, Mapping)):
        raise UsageError(
            f"samples: found a {type(samples).__name__}, accepted: a list, or anything "
            "to iterate over, of what runs get: arrays, or mappings by name"
        )
    count = 0
    for sample in samples:
        arrays = dict(_named(sample, graph.inputs, count))
        write_outputs(folder, arrays, f"_{count}.npy")
        count += 1
    if count == 0:
        raise UsageError("samples: found none; some dozens are needed")


def _named(
    sample: Sample, infos: Sequence[TensorInfo], index: int
) -> Iterable[tuple[str, Any]]:
    names = [info.name for info in infos]
    if not isinstance(sample, Mapping):
        single = len(infos) == 1 and not isinstance(sample, (tuple, list))
        given = (sample,) if single else tuple(sample)
        if len(given) != len(infos):
            raise UsageError(
                f"samples: number {index} has {len(given)} arrays, and the model has "
                f"the inputs {', '.join(map(repr, names))}"
            )
        sample = dict(zip(names, given))
    unknown = [name for name in sample if name not in names]
    missing = [name for name in names if name not in sample]
    if unknown or missing:
        raise UsageError(
            f"samples: number {index} has "
            f"{', '.join(map(repr, sample)) or 'nothing'}; the model has the inputs "
            f"{', '.join(map(repr, names))}"
        )
    for info in infos:
        yield info.name, np.ascontiguousarray(info.accept(sample[info.name]))

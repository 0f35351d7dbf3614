# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Computes a model with the NumPy formulas of its operators: ``--fallback=python``.

For models that `mace_run` of this computer refuses because an operator has no kernels
for them, and for computers that cannot build `mace_run`. What is computed is the graph
that `convert` makes of the model file, so the conversion is validated, and no kernel.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mace.python.installation import command
from mace.python.tools.config.deployment import ModelConfig
from mace.python.tools.config.vocabulary import Abi, DataFormat
from mace.python.tools.convert.quantization import quantizer_of
from mace.python.tools.convert.source import fetch_sources, import_model
from mace.python.tools.errors import CheckFailedError, UnsupportedError
from mace.python.tools.export.model_file import TensorInfo
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import Graph
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, NHWC_TO_NCHW
from mace.python.tools.quantize.dynamic import quantize_dynamically
from mace.python.tools.report.results import LayerComparison, ModelRun
from mace.python.tools.run import checking, samples
from mace.python.tools.run.invocation import RunnerError
from mace.python.tools.run.model_run import Place, PreparedModel
from mace.python.tools.run.options import RunOptions

_LOG = logging.getLogger(__name__)

Array = npt.NDArray[Any]

# How mace_run begins the message that it has no kernels for a model.
_NO_KERNELS = "MACE_UNSUPPORTED"
HINT = (
    f"`{command('run')} --fallback=python` computes the model with NumPy instead, to "
    "validate its conversion without MACE's kernels"
)


def may_be_python(abi: Abi, error: Exception) -> bool:
    """Whether the fallback is for a run that failed with this error."""
    no_kernels = isinstance(error, RunnerError) and _NO_KERNELS in str(error)
    return abi is Abi.HOST and no_kernels


def run_in_python(
    model: PreparedModel, place: Place, options: RunOptions, reason: str
) -> ModelRun:
    """Computes the outputs, and compares them as the options say.

    Args:
        reason: why `mace_run` does not.

    Raises:
        MaceError: the model cannot be converted now, or a formula cannot compute it.
    """
    graph = _graph(model.config)
    what = _operators(graph)
    layers = [*model.checks, *model.layers] if model.expected is not None else []
    by_source = {v.source: v.name for v in graph.values.values() if v.source}
    sources = [layer.tensor.source for layer in layers]
    fetched = {source: by_source.get(source) for source in sources}
    found = _compute(model, graph, [name for name in fetched.values() if name])
    outputs = {
        tensor.name: _from_graph(found[tensor.name], tensor, graph)
        for tensor in model.file.outputs
    }
    if options.output_dir is not None:
        samples.write_outputs(options.output_dir, outputs)
    run = ModelRun(
        model.config.name,
        place.abi,
        place.properties.name,
        place.runtime,
        in_python=what,
        not_native=reason,
    )
    if model.expected is None:
        return run
    compared = checking.compare_outputs(
        model.config, model.file, place.runtime, model.expected, outputs
    )
    if model.config.whole.accuracy_validation_script:
        _LOG.warning("accuracy_validation_script: not run in Python")
    if options.bisect:
        _LOG.warning("--bisect: not in Python; --layers=: compares all operators")
    checks, others = (
        _layers(of, model, place, fetched, found) for of in (model.checks, model.layers)
    )
    return dataclasses.replace(
        run,
        reference=model.expected.source,
        comparisons=(*compared, *(check.comparison for check in checks)),
        layers=others,
    )


def _graph(config: ModelConfig) -> Graph:
    """The graph that `convert` writes.

    Raises:
        UnsupportedError: it depends on more than the deployment file.
    """
    if config.quantize and config.quantize_range_file is None:
        raise UnsupportedError(
            f"models.{config.name}: --fallback=python: the ranges of a model that "
            "samples quantize are not known here; leave --fallback out"
        )
    (source,) = fetch_sources((config,))
    graph, _ = import_model(config, source, quantize=quantizer_of(config, source))
    if config.quantize_dynamic:
        quantize_dynamically(graph)
    return graph


def _operators(graph: Graph) -> str:
    """All operators by type, the most frequent first."""
    counts: dict[str, int] = {}
    for op in graph.ops:
        counts[op.type] = counts.get(op.type, 0) + 1
    by_count = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    number = len(graph.ops)
    total = f"{number} operator{'' if number == 1 else 's'}"
    return f"{total}: " + ", ".join(f"{count} {name}" for name, count in by_count)


def _compute(
    model: PreparedModel, graph: Graph, further: list[str]
) -> Mapping[str, Array]:
    arrays = {}
    formats = {
        **{info.name: info.data_format for info in model.config.whole.inputs},
        **{tensor.name: tensor.data_format for tensor in model.file.inputs},
    }
    for value in graph.inputs:
        array = np.asarray(model.inputs[value.name])
        if _is_turned(graph, value.name, formats.get(value.name)):
            array = array.transpose(NCHW_TO_NHWC)
        arrays[value.name] = array.astype(value.dtype.numpy)
    names = [value.name for value in graph.outputs]
    try:
        return run_graph(graph, arrays, [*names, *further])
    except (ArithmeticError, IndexError, NotImplementedError, ValueError) as error:
        raise CheckFailedError(
            f"{model.config.name}: the formulas in Python cannot compute this: {error}"
        ) from error


def _from_graph(array: Array, tensor: TensorInfo, graph: Graph) -> Array:
    is_turned = _is_turned(graph, tensor.name, tensor.data_format)
    return np.transpose(array, NHWC_TO_NCHW) if is_turned else array


def _is_turned(graph: Graph, name: str, user: DataFormat | None) -> bool:
    """Whether the user's order of an image is not the graph's, which is NHWC."""
    inner = graph.formats.get(name)
    return user is DataFormat.NCHW and inner is not None and inner.value == "NHWC"


def _layers(
    layers: list[checking.Layer],
    model: PreparedModel,
    place: Place,
    fetched: Mapping[str, str | None],
    found: Mapping[str, Array],
) -> tuple[LayerComparison, ...]:
    expected = model.expected
    if expected is None:
        return ()
    threshold = checking.least_similarity(model.config, model.file, place.runtime)
    drawn = checking.drawn_tensors(model.file.operators)
    results: list[LayerComparison] = []
    for layer in layers:
        name = fetched[layer.tensor.source]
        array = None if name is None else found[name]
        results += checking.compare_layer(
            layer, expected, array, threshold, drawn.get(layer.tensor.name, "")
        )
    return tuple(results)

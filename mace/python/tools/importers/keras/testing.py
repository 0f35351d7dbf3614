# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the results of imported models with those of Keras."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.testing import Tried, assert_close, request_for
from mace.python.tools.importers.keras import HANDLERS, import_model
from mace.python.tools.importers.tensorflow.testing import computed
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import Graph

SEED = 20261121


def results_of(model: Any, arrays: Any) -> Any:
    """What a model computes, on every processor."""
    return computed(lambda given: model(given, training=False), arrays)


class Family(Tried):
    """The layers of one file of `handlers/`.

    Args:
        not_made: what the current version of Keras does not write.
    """

    def __init__(self, name: str, not_made: Sequence[str] = ()) -> None:
        super().__init__(HANDLERS, name, not_made)

    def check(
        self,
        folder: Path,
        build: Callable[..., Any],
        *arrays: Array,
        tolerance: float = 2e-5,
        endings: Sequence[str] = ("keras",),
    ) -> None:
        """Imports a model, and compares all its outputs.

        Args:
            build: makes outputs from the inputs, one for each array.
            endings: of files that the model is saved in.
        """
        keras = importlib.import_module("keras")
        inputs = [
            keras.Input(a.shape[1:], dtype=str(a.dtype), name=f"x{i}")
            for i, a in enumerate(arrays)
        ]
        outputs = build(*inputs)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        model = keras.Model(inputs, outputs)
        fill(model)
        self.compare(folder, model, arrays, tolerance, endings)

    def compare(
        self,
        folder: Path,
        model: Any,
        arrays: Sequence[Array],
        tolerance: float = 2e-5,
        endings: Sequence[str] = ("keras",),
    ) -> None:
        """As `check`, for a model whose inputs are called x0, x1, ..."""
        self.note(*kinds_of(model))
        wanted = results_of(model, [*arrays] if len(arrays) > 1 else arrays[0])
        wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
        names = output_names(model)
        for ending in endings:
            path = folder / f"model.{ending}"
            model.save(path)
            graph = imported(path, arrays, names)
            results = run_graph(graph, {f"x{i}": a for i, a in enumerate(arrays)})
            for name, value in zip(names, wanted):
                assert_close(results[name], np.asarray(value), tolerance, name)


def imported(path: Path, arrays: Sequence[Array], outputs: Sequence[str]) -> Graph:
    """The graph of a file whose inputs are called x0, x1, ..."""
    inputs = {f"x{i}": array for i, array in enumerate(arrays)}
    return import_model(request_for(path, inputs, outputs))


def output_names(model: Any) -> list[str]:
    """The names that the importer has for the outputs of a model of Keras."""
    names = []
    for tensor in model.outputs:
        history = tensor._keras_history
        operation = history.operation
        # Calls outside of the model do not count.
        own = {id(n) for nodes in model._nodes_by_depth.values() for n in nodes}
        before = operation._inbound_nodes[: history.node_index]
        number = sum(id(node) in own for node in before)
        name = f"{operation.name}#{number}" if number else operation.name
        index = history.tensor_index
        names.append(f"{name}:{index}" if index else name)
    return names


def kinds_of(model: Any) -> set[str]:
    """The classes of all layers in a model, as handlers are registered for them."""
    found = set()
    for operation in model.operations if hasattr(model, "operations") else ():
        kind = type(operation).__name__
        is_function = ".ops" in type(operation).__module__
        found.add(f"ops.{kind}" if is_function else kind)
        inner = getattr(operation, "layer", None)
        if inner is not None:
            found.add(type(inner).__name__)
        forward = getattr(operation, "forward_layer", None)
        if forward is not None:
            found.add(type(forward).__name__)
        found |= kinds_of(operation)
    return found


def fill(model: Any) -> None:
    """Sets random weights, all above 0, as a variance must be."""
    rng = np.random.default_rng(SEED)
    for variable in model.weights:
        if "count" not in variable.path and "seed" not in variable.path:
            low = 0.1 if "variance" in variable.path else -0.8
            variable.assign(rng.uniform(low, 0.9, variable.shape))


def rand(*shape: int, low: float = -2.0, high: float = 2.0) -> Array:
    """Random numbers from a fixed seed, uniform in [low, high)."""
    rng = np.random.default_rng(SEED + len(shape))
    return rng.uniform(low, high, shape).astype(np.float32)

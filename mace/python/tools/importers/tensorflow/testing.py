# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the results of imported graphs with TensorFlow's."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.testing import Tried, assert_close, request_for
from mace.python.tools.importers.tensorflow import import_model
from mace.python.tools.importers.tensorflow.bundle import PROTO
from mace.python.tools.importers.tf_operators.context import HANDLERS
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import Graph
from mace.python.tools.proto import load_proto

SEED = 20261121


def computed(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of TensorFlow returns, on every processor.

    Without oneDNN, which TensorFlow uses only on newer processors, it has no kernels
    for channels first and for some dilated convolutions. XLA compiles these.
    """
    tf = importlib.import_module("tensorflow")
    errors = tf.errors.UnimplementedError, tf.errors.InvalidArgumentError
    try:
        return function(*arguments)
    except errors:
        return tf.function(function, jit_compile=True)(*arguments)


class Family(Tried):
    """The operators of one file of `handlers/`."""

    def __init__(self, name: str, not_made: Collection[str] = ()) -> None:
        super().__init__(HANDLERS, name, not_made)

    def check(
        self,
        function: Callable[..., Any],
        *arrays: Array,
        tolerance: float = 2e-5,
        dynamic: bool = False,
        freeze: bool = True,
        edit: Callable[[Any], None] | None = None,
        open_shapes: bool = False,
    ) -> Graph:
        """Imports `function` and compares all its outputs on `arrays`; returns the
        graph.

        Args:
            freeze: as users do; otherwise functions are called as they are written.
            edit: changes the graph before it is written.
            open_shapes: MACE is not told the dimensions either: each run has its own.
        """
        tf = importlib.import_module("tensorflow")
        concrete = traced(tf, function, list(arrays), dynamic or open_shapes)
        if freeze:
            concrete = frozen(concrete)
        definition = concrete.graph.as_graph_def()
        self.note_all(definition)
        if edit is not None:
            edit(definition)
        inputs = {f"x{i}": array for i, array in enumerate(arrays)}
        asked = list(inputs) if open_shapes else inputs
        graph = imported(definition, asked, [t.name for t in concrete.outputs])
        results = run_graph(graph, inputs)
        expected = computed(concrete, *[tf.constant(a) for a in arrays])
        expected = tf.nest.flatten(expected)
        for tensor, value in zip(concrete.outputs, expected):
            assert_close(results[tensor.name], value.numpy(), tolerance)
        return graph

    def note_all(self, definition: Any) -> None:
        """The operators of a GraphDef are compared by the test itself."""
        functions = definition.library.function
        inner = (node for function in functions for node in function.node_def)
        self.note(*(node.op for node in (*definition.node, *inner)))

    def check_saved(self, folder: Path, *arrays: Array) -> None:
        """Imports a SavedModel, whose inputs are called x0, x1, ..., and compares all
        outputs of its signature.
        """
        tf = importlib.import_module("tensorflow")
        saved = load_proto(PROTO).SavedModel()
        saved.ParseFromString((folder / "saved_model.pb").read_bytes())
        (meta,) = saved.meta_graphs
        self.note_all(meta.graph_def)
        inputs = {f"x{i}": array for i, array in enumerate(arrays)}
        serve = tf.saved_model.load(str(folder)).signatures["serving_default"]
        wanted = serve(**{name: tf.constant(array) for name, array in inputs.items()})
        results = run_graph(saved_graph(folder, inputs, list(wanted)), inputs)
        for name, value in wanted.items():
            np.testing.assert_allclose(results[name], value.numpy(), 2e-5, 2e-5)


def imported(
    definition: Any,
    inputs: Mapping[str, Array] | Sequence[str],
    outputs: Sequence[str],
) -> Graph:
    """The graph of a frozen GraphDef."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pb"
        path.write_bytes(definition.SerializeToString())
        return saved_graph(path, inputs, outputs)


def saved_graph(
    path: Path, inputs: Mapping[str, Array] | Sequence[str], outputs: Sequence[str]
) -> Graph:
    """The graph of a file, or of the folder of a SavedModel."""
    return import_model(request_for(path, inputs, outputs))


def rand(*shape: int, low: float = -2.0, high: float = 2.0) -> Array:
    """Random numbers from a fixed seed, uniform in [low, high)."""
    rng = np.random.default_rng(SEED + len(shape))
    return rng.uniform(low, high, shape).astype(np.float32)


def frozen(concrete: Any) -> Any:
    """A function of TensorFlow without variables."""
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2,
    )

    return convert_variables_to_constants_v2(concrete, lower_control_flow=False)


def traced(
    tf: Any, function: Callable[..., Any], arrays: list[Array], dynamic: bool
) -> Any:
    """The function of tensors called x0, x1, ...

    With `dynamic` TensorFlow is not told the dimensions, so that it leaves
    arithmetic on shapes in the graph.
    """
    specs = [
        tf.TensorSpec(
            [None] * a.ndim if dynamic else a.shape, tf.as_dtype(a.dtype), name=f"x{i}"
        )
        for i, a in enumerate(arrays)
    ]
    return tf.function(function).get_concrete_function(*specs)

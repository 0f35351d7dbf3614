# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Computes constants, makes large ones easier to compress, or stores them in 8 bits."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.errors import UnsupportedNodes
from mace.python.tools.importers.tensorflow.body import Body, Scope
from mace.python.tools.importers.tensorflow.node import Tensor
from mace.python.tools.importers.tensorflow.reader import data_types, frozen_graph
from mace.python.tools.importers.tf_operators.context import HANDLERS
from mace.python.tools.importers.tf_operators.node import ELEMENT_TYPES
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value
from mace.python.tools.rewrite.work_graph import (
    FLOAT,
    IGNORE_ERRORS,
    Arguments,
    TransformError,
    WorkGraph,
    data_inputs,
    is_constant,
    source_of,
    transform,
)

_LOG = logging.getLogger(__name__)

# Their results are of int64 if no attribute says otherwise.
_INT64_RESULTS = {"ArgMax", "ArgMin", "Unique", "UniqueV2", "Where"}
# A value of another run may stand in the place of the constant.
_FED = {"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"}
# Constants with fewer elements stay as they are.
_SMALLEST = 15
_LEVELS = 255


@transform()
def fold_constants(graph: WorkGraph, arguments: Arguments) -> None:
    """Replaces what only constants determine by constants; removes unused nodes."""
    known = _known(graph)
    wanted = _frontier(graph, known)
    computed, left = _compute(graph, known, wanted)
    if left and not arguments.flag(IGNORE_ERRORS):
        name, reason = next(iter(left.items()))
        raise TransformError(f"node {name} cannot be computed: {reason}")
    if left:
        _LOG.info("fold_constants: %d nodes cannot be computed and stay", len(left))
    # Nodes with further outputs stay, and constants stand beside them.
    several = {name for name, output in wanted if output > 0}
    instead: dict[Tensor, Tensor] = {}
    for tensor, array in computed.items():
        name = tensor[0]
        if name not in several:
            graph.replace(name, graph.new_constant(name, array))
        elif tensor not in graph.outputs:
            new = graph.unique_name(f"{name}/output_{tensor[1]}")
            graph.replace(name, graph.nodes[name], graph.new_constant(new, array))
            instead[tensor] = (new, 0)
    idle = _idle(graph, known)

    def change(tensor: Tensor) -> Tensor | None:
        is_idle = tensor[1] < 0 and tensor[0] in idle
        return None if is_idle else instead.get(tensor, tensor)

    graph.redirect(change)
    needed = graph.needed() | {name for name, _ in graph.inputs}
    graph.nodes = {name: node for name, node in graph.nodes.items() if name in needed}


def _idle(graph: WorkGraph, known: set[str]) -> set[str]:
    """The nodes without an effect in a run, for which no other node must wait."""
    idle: set[str] = set()
    for node in graph.ordered():
        waits = all(source_of(text)[0] in idle for text in node.input)
        # What has a handler only computes.
        computes = node.name in known and HANDLERS.find(node.op) is not None
        if computes or is_constant(node) or (node.op == "NoOp" and waits):
            idle.add(node.name)
    return idle


def _known(graph: WorkGraph) -> set[str]:
    """The nodes that only constants determine."""
    inputs = {name for name, _ in graph.inputs}
    known: set[str] = set()
    for node in graph.ordered():
        if node.name in inputs or node.op in _FED:
            continue
        sources = data_inputs(node)
        if is_constant(node) or (sources and all(name in known for name, _ in sources)):
            known.add(node.name)
    return known


def _frontier(graph: WorkGraph, known: set[str]) -> list[Tensor]:
    """The known tensors that something unknown reads, or that are outputs."""
    found: dict[Tensor, None] = {}
    for tensor, readers in graph.readers().items():
        name, output = tensor
        is_read = any(reader.name not in known for reader in readers)
        if name in known and output >= 0 and is_read:
            found[tensor] = None
    for tensor in graph.outputs:
        if tensor[0] in known:
            found[tensor] = None
    return [tensor for tensor in found if not is_constant(graph.nodes[tensor[0]])]


def _compute(
    graph: WorkGraph, known: set[str], wanted: list[Tensor]
) -> tuple[dict[Tensor, Array], dict[str, str]]:
    """The elements of tensors, and why some nodes cannot be computed."""
    foreign = _foreign(graph, known)
    left = {name: foreign[name] for name, _ in wanted if name in foreign}
    roots = [name for name, _ in wanted if name not in left]
    path = Path("--in_graph")
    file = frozen_graph(graph.to_proto())
    body = Body(
        path,
        GraphBuilder("constants", "tensorflow"),
        file.functions,
        UnsupportedNodes(str(path)),
    )
    scope = Scope(file.nodes)
    for node in body.ordered(scope, roots):
        try:
            body.convert(scope, node)
        except MaceError as error:
            left.setdefault(node.name, str(error))
    computed: dict[Tensor, Array] = {}
    for tensor in wanted:
        value = scope.values.get(tensor)
        if tensor[0] in left:
            continue
        if isinstance(value, Value) and value.is_constant:
            computed[tensor] = value.numpy()
        else:
            left[tensor[0]] = f"{graph.nodes[tensor[0]].op} is not supported here"
    return computed, left


def _foreign(graph: WorkGraph, known: set[str]) -> dict[str, str]:
    """Known nodes of types that the converter narrows, and all that read them."""
    found: dict[str, str] = {}
    for node in graph.ordered():
        if node.name not in known:
            continue
        reason = _foreign_type(node)
        if not reason:
            reason = next(
                (found[name] for name, _ in data_inputs(node) if name in found), ""
            )
        if reason:
            found[node.name] = reason
    return found


def _foreign_type(node: Any) -> str:
    if node.op in _INT64_RESULTS and "output_type" not in node.attr:
        return f"{node.op} computes in int64"
    for attribute in node.attr.values():
        kind = attribute.WhichOneof("value")
        numbers = [attribute.type] if kind == "type" else attribute.list.type
        for number in numbers:
            dtype = ELEMENT_TYPES.get(number)
            if dtype is None or dtype.narrowed is not dtype or number in (11, 12):
                names = {value: name for name, value in data_types().items()}
                return f"{node.op} has the type {names.get(number, number)}"
    return ""


def _large(graph: WorkGraph, smallest: int) -> Iterator[tuple[Any, Array]]:
    for node in list(graph.nodes.values()):
        array = graph.constant((node.name, 0)) if is_constant(node) else None
        if array is None or array.dtype != np.float32 or array.size < smallest:
            continue
        if node.attr["dtype"].type == FLOAT and np.isfinite(array).all():
            yield node, array


@transform("num_steps")
def round_weights(graph: WorkGraph, arguments: Arguments) -> None:
    """Rounds constants of 15 or more elements to `num_steps` (256) evenly spaced ones,
    so that the file can be compressed.
    """
    steps = arguments.integer("num_steps", 256, 2)
    for node, array in _large(graph, _SMALLEST):
        low, high = (np.float64(f(array)) for f in (np.min, np.max))
        if low == high:
            continue
        width = (high - low) / (steps - 1)
        rounded = np.rint((array - low) / width) * width + low
        graph.replace(
            node.name, graph.new_constant(node.name, rounded.astype(np.float32))
        )


@transform("minimum_size")
def quantize_weights(graph: WorkGraph, arguments: Arguments) -> None:
    """Stores constants of `minimum_size` (15) or more elements in 8 bits, with
    Dequantize behind them. Leave it out if MACE quantizes the model.
    """
    smallest = arguments.integer("minimum_size", _SMALLEST, 1)
    for node, array in _large(graph, smallest):
        low, high = _range(array)
        scale = (high - low) / _LEVELS
        # As Dequantize computes: the least number becomes a multiple of the scale.
        first = np.rint(low / scale) * scale
        codes = np.clip(np.rint((array - first) / scale), 0, _LEVELS)
        parts = {
            "quantized": (codes.astype(np.uint8), data_types()["quint8"]),
            "min": (np.array(low, np.float32), FLOAT),
            "max": (np.array(high, np.float32), FLOAT),
        }
        constants = [
            graph.new_constant(graph.unique_name(f"{node.name}/{part}"), *content)
            for part, content in parts.items()
        ]
        new = graph.new_node(node.name, "Dequantize", [c.name for c in constants])
        new.input.extend(text for text in node.input if text.startswith("^"))
        new.attr["T"].type = data_types()["quint8"]
        new.attr["mode"].s = b"MIN_FIRST"
        graph.replace(node.name, new, *constants)


def _range(array: Array) -> tuple[np.float64, np.float64]:
    """The range of the integers, which is not empty."""
    low, high = np.float64(np.min(array)), np.float64(np.max(array))
    if low < high:
        return low, high
    width = max(abs(low), 1.0)
    return (low, low + width) if low >= 0 else (low - width, low)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Named parts of a graph, for which an application can choose devices.

A deployment file describes a part by its input and output tensors. Operators are
assigned to parts before the passes run. A pass may join operators of different parts;
the result then belongs to the part of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mace.python.tools.ir.graph import Graph, GraphError, Op, Value


@dataclass(frozen=True)
class SubgraphSpec:
    """A part of a graph.

    Attributes:
        inputs: tensors that it takes from outside, by the framework's names.
        outputs: tensors that it makes for others or for the application.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def assign_subgraphs(graph: Graph, specs: Sequence[SubgraphSpec]) -> None:
    """Assigns every operator to a part. An operator that several parts contain between
    their inputs and outputs belongs to the first of these.

    Raises:
        GraphError: lists the tensors that the graph does not have.
    """
    by_name = {value.source: value for value in graph.values.values() if value.source}
    by_name.update(graph.values)
    problems = [
        f"subgraph {spec.name!r}: the model has no tensor {name!r}"
        for spec in specs
        for name in (*spec.inputs, *spec.outputs)
        if name not in by_name
    ]
    if problems:
        raise GraphError("\n".join(problems))
    graph.subgraphs = tuple(spec.name for spec in specs)
    for index, spec in enumerate(specs):
        stop = {by_name[name] for name in spec.inputs}
        for op in _between(stop, [by_name[name] for name in spec.outputs]):
            if op.subgraph is None:
                op.subgraph = index
    assign_rest(graph)


def _between(stop: set[Value], outputs: Sequence[Value]) -> list[Op]:
    """The operators that the outputs need, excluding those before `stop`."""
    found: dict[Op, None] = {}
    stack = [value for value in outputs if value not in stop]
    while stack:
        op = stack.pop().producer
        if op is None or op in found:
            continue
        found[op] = None
        stack += [value for value in op.inputs if value and value not in stop]
    return list(found)


def assign_rest(graph: Graph) -> None:
    """Assigns operators that passes have added to the part of a neighbour."""
    if not graph.subgraphs:
        return
    graph.sort()
    for op in graph.ops:
        makers = [value.producer for value in op.inputs if value and value.producer]
        if op.subgraph is None and makers:
            op.subgraph = makers[0].subgraph
    for op in reversed(graph.ops):
        readers = [reader for value in op.outputs for reader in value.consumers]
        if op.subgraph is None:
            op.subgraph = readers[0].subgraph if readers else 0

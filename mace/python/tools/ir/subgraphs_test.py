# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators belong to the part between whose tensors they lie."""

from __future__ import annotations

import pytest

from mace.python.tools.ir import DataType, Graph, GraphError
from mace.python.tools.ir.subgraphs import SubgraphSpec, assign_rest, assign_subgraphs


def _chain(*edges: tuple[str, str]) -> Graph:
    """One operator for each (reads, makes); `x` is the input."""
    graph = Graph("chain", "test")
    graph.inputs.append(graph.add_value("x", DataType.FLOAT32, (1,)))
    for reads, makes in edges:
        made = graph.add_value(makes, DataType.FLOAT32, (1,))
        attrs = {"type": "RELU"}
        graph.add_op("Activation", [graph.values[reads]], [made], attrs)
    graph.outputs.append(graph.values[edges[-1][1]])
    return graph


def _parts(graph: Graph) -> dict[str, int | None]:
    return {op.name: op.subgraph for op in graph.ops}


def test_the_border_parts_them() -> None:
    graph = _chain(("x", "a"), ("a", "b"), ("b", "c"))
    assign_subgraphs(
        graph,
        [SubgraphSpec("front", ("x",), ("b",)), SubgraphSpec("back", ("b",), ("c",))],
    )
    assert graph.subgraphs == ("front", "back")
    assert _parts(graph) == {"a": 0, "b": 0, "c": 1}


def test_what_two_need_belongs_to_the_first() -> None:
    graph = _chain(("x", "shared"), ("shared", "a"), ("shared", "b"), ("b", "c"))
    graph.outputs.insert(0, graph.values["a"])
    assign_subgraphs(
        graph,
        [SubgraphSpec("one", ("x",), ("a",)), SubgraphSpec("two", ("x",), ("c",))],
    )
    assert _parts(graph) == {"shared": 0, "a": 0, "b": 1, "c": 1}


def test_names_may_be_those_of_the_framework() -> None:
    graph = _chain(("x", "a"), ("a", "b"))
    graph.values["a"].source = "layer/a:0"
    parts = [
        SubgraphSpec("front", ("x",), ("layer/a:0",)),
        SubgraphSpec("back", ("layer/a:0",), ("b",)),
    ]
    assign_subgraphs(graph, parts)
    assert _parts(graph) == {"a": 0, "b": 1}


def test_all_missing_tensors_are_told_at_once() -> None:
    graph = _chain(("x", "a"))
    with pytest.raises(GraphError) as caught:
        assign_subgraphs(graph, [SubgraphSpec("front", ("y",), ("z",))])
    assert str(caught.value).splitlines() == [
        "subgraph 'front': the model has no tensor 'y'",
        "subgraph 'front': the model has no tensor 'z'",
    ]


def test_what_passes_add_belongs_to_a_neighbour() -> None:
    graph = _chain(("x", "a"), ("a", "b"))
    assign_subgraphs(
        graph,
        [SubgraphSpec("front", ("x",), ("a",)), SubgraphSpec("back", ("a",), ("b",))],
    )
    before = graph.add_value("before", DataType.FLOAT32, (1,))
    after = graph.add_value("after", DataType.FLOAT32, (1,))
    first, last = graph.ops
    graph.add_op("Activation", [graph.values["x"]], [before], {"type": "TANH"})
    first.set_inputs([before])
    graph.add_op("Activation", [last.output], [after], {"type": "TANH"})
    graph.outputs[0] = after
    replaced = graph.replace_op(last, "Activation", [first.output], {"type": "TANH"})
    assign_rest(graph)
    assert replaced.subgraph == 1
    assert _parts(graph) == {"a": 0, "b": 1, "before": 0, "after": 1}

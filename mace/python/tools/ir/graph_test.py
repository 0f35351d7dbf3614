# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Edits of the graph, and what the verifier finds."""

from __future__ import annotations

import numpy as np
import pytest

from mace.python.tools.ir import (
    Constant,
    DataFormat,
    DataType,
    Graph,
    GraphBuilder,
    GraphError,
    ShapeError,
    Value,
    scaled,
)
from mace.python.tools.ir.graph import normalize_attribute, to_text
from mace.python.tools.ir.subgraphs import SubgraphSpec, assign_rest, assign_subgraphs
from mace.python.tools.ir.verify import op_problems, verify


def _chain(count: int = 3) -> tuple[Graph, list[Value]]:
    builder = GraphBuilder("test", "test")
    values = [builder.input("x", DataType.FLOAT32, (2, 3))]
    for index in range(count):
        attrs = {"activation": "TANH"}
        values.append(builder.one("Activation", values[-1:], f"v{index}", attrs))
    values[-1] = builder.output(values[-1], "y")
    return builder.graph, values


def test_uses_follow_reconnection() -> None:
    graph, (x, a, b, _) = _chain()
    op = b.producer
    assert op is not None
    op.set_input(0, x)
    assert a.uses == []
    assert sorted(o.name for o in x.consumers) == ["v0", "v1"]
    assert graph.prune() == 1
    assert "v0" not in graph.values
    verify(graph)


def test_operator_may_read_a_value_twice() -> None:
    builder = GraphBuilder("test", "test")
    x = builder.input("x", DataType.FLOAT32, (2,))
    y = builder.one("Eltwise", [x, x], "y", {"mode": "MUL"})
    builder.output(y, "y")
    assert len(x.uses) == 2
    assert len(x.consumers) == 1
    builder.graph.replace_uses(x, builder.constant("k", np.ones(2, np.float32)))
    assert x.uses == []
    verify(builder.graph)


def test_sort_puts_producers_first_and_keeps_the_order_else() -> None:
    graph, (x, a, _, _) = _chain()
    late = graph.add_value("late", DataType.FLOAT32, (2, 3))
    graph.add_op("Activation", [x], [late], {"activation": "RELU"})
    op = a.producer
    assert op is not None
    op.set_input(0, late)
    graph.sort()
    assert [o.name for o in graph.ops] == ["late", "v0", "v1", "v2"]
    verify(graph)


def test_cycle_is_found() -> None:
    graph, (_, a, b, _) = _chain()
    op = a.producer
    assert op is not None
    op.set_input(0, b)
    with pytest.raises(GraphError, match="depends on itself"):
        graph.sort()


def test_deep_graph_needs_no_stack() -> None:
    graph, _ = _chain(5000)
    graph.sort()
    assert graph.prune() == 0


def test_bypass_keeps_names_of_outputs() -> None:
    graph, values = _chain(2)
    y = values[-1]
    assert y.producer is not None
    assert graph.bypass(y.producer)
    assert [v.name for v in graph.outputs] == ["y"]
    assert [o.name for o in graph.ops] == ["v0"]
    verify(graph)
    # Now it stands between input and output of the model.
    assert not graph.bypass(graph.ops[0])
    verify(graph)


def test_verifier_finds_what_does_not_fit() -> None:
    graph, (_, a, b, _) = _chain()
    a.shape = (7, 7)
    b.dtype = DataType.INT32
    op = graph.ops[2]
    op.attrs["actvation"] = "NONE"
    with pytest.raises(GraphError) as caught:
        verify(graph)
    for part in ("v0 has shape [7, 7]", "v1 is int32", "did you mean 'activation'"):
        assert part in str(caught.value)


def test_operator_is_checked_against_its_declaration() -> None:
    builder = GraphBuilder("test", "test")
    x = builder.input("x", DataType.INT32, (1, 4, 4, 2))
    w = builder.constant("w", np.ones((2, 3, 3, 2), np.float32))
    y = builder.one("Conv2D", [x, w], "y", {"data_format": "NHWC"})
    assert y.producer is not None
    assert op_problems(y.producer) == [
        "input 'input' is int32, takes float32",
        "output 'output' is int32, takes float32",
    ]


def test_failed_operator_leaves_no_trace() -> None:
    builder = GraphBuilder("test", "test")
    x = builder.input("x", DataType.FLOAT32, (2, 3))
    with pytest.raises(ShapeError, match=r"'op'.*x \[2, 3\]"):
        builder.op("Transpose", [x], ["y"], {"perm": [0, 2, 1]}, "op")
    assert list(builder.graph.values) == ["x"]
    assert builder.graph.ops == ()
    assert x.uses == []


def test_builder_narrows_and_folds() -> None:
    builder = GraphBuilder("test", "test")
    x = builder.input("x", DataType.INT64, (2, None, 4))
    assert x.dtype is DataType.INT32
    assert x.shape == (2, "x:1", 4)
    ends = builder.constant("e", np.array([2**63 - 1, -(2**63)]))
    assert ends.numpy().tolist() == [2**31 - 1, -(2**31)]
    shape = builder.one("Shape", [builder.constant("c", np.ones((3, 4)))], "s")
    total = builder.one(
        "Reduce", [builder.constant("r", np.ones(3))], "t", {"mode": "SUM"}
    )
    assert shape.numpy().tolist() == [3, 4]
    assert total.numpy() == 3
    # The shape of x is not known, and not folded.
    assert not builder.one("Shape", [x], "sx").is_constant


def test_weights_pass_identities_without_a_copy() -> None:
    builder = GraphBuilder("test", "test")
    array = np.zeros((300, 300), np.float32)
    value = builder.alias(builder.constant("w", array), "w/read")
    assert np.shares_memory(value.numpy(), array)


def test_large_results_are_made_when_asked_for() -> None:
    builder = GraphBuilder("test", "test")
    array = np.arange(90000, dtype=np.float32).reshape(300, 300)
    w = builder.constant("w", array)
    turned = builder.one("Transpose", [w], "t", {"perm": [1, 0]})
    array[0, 1] = -1  # the recipe reads the array only now
    assert turned.numpy()[1, 0] == -1


def test_broadcast_that_would_inflate_the_model_is_not_folded() -> None:
    builder = GraphBuilder("test", "test")
    a = builder.constant("a", np.zeros((1000, 1), np.float32))
    b = builder.constant("b", np.zeros((1, 1000), np.float32))
    assert not builder.one("Eltwise", [a, b], "y", {"mode": "ADD"}).is_constant


def test_constant_without_a_value_is_left_to_the_run() -> None:
    builder = GraphBuilder("test", "test")
    a = builder.constant("a", np.array([0]))
    b = builder.constant("b", np.array([-1]))
    # There is no integer for 0 ** -1.
    assert not builder.one("Eltwise", [a, b], "y", {"mode": "POW"}).is_constant
    with pytest.raises(ShapeError, match="index -1 is outside a length of 0"):
        empty = builder.constant("e", np.zeros(0))
        builder.one("Gather", [empty, b], "z")


def test_output_of_an_input_constant_or_twice() -> None:
    builder = GraphBuilder("test", "test")
    x = builder.input("x", DataType.FLOAT32, (1, 2, 3, 4), DataFormat.NCHW)
    k = builder.constant("k", np.ones(2))
    for value, name in ((x, "a"), (k, "k"), (x, "b")):
        builder.output(value, name, DataFormat.NCHW)
    graph = builder.graph
    graph.sort()
    verify(graph)
    assert [v.name for v in graph.outputs] == ["a", "k", "b"]
    assert graph.formats["a"] is DataFormat.NCHW
    assert graph.formats["k"] is DataFormat.NONE


def test_scaling_rounds_once() -> None:
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((5, 40, 400)).astype(np.float32)
    factor = rng.standard_normal(40)
    result = scaled(Constant.of(weights), factor, 1).numpy()
    exact = weights.astype(np.float64) * factor[:, None]
    np.testing.assert_array_equal(result, exact.astype(np.float32))
    again = scaled(scaled(Constant.of(weights), factor, 1), factor[:5], 0).numpy()
    exact = exact * factor[:5, None, None]
    np.testing.assert_array_equal(again, exact.astype(np.float32))


def test_scalar_constants_stay_scalars() -> None:
    value = Constant.of(np.float32(2)).map(lambda x: x * 2)
    assert value.shape == ()
    assert value.numpy().shape == ()


@pytest.mark.parametrize(
    ("value", "normal"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        ([np.int64(1), 2], (1, 2)),
        (np.array([[1, 2], [3, 4]]), (1, 2, 3, 4)),
        (DataFormat.NCHW, "NCHW"),
    ],
)
def test_attributes_become_plain(value: object, normal: object) -> None:
    result = normalize_attribute(value)
    assert result == normal
    assert type(result) is type(normal)


def test_text_shows_everything_once() -> None:
    graph, _ = _chain(1)
    assert to_text(graph).splitlines() == [
        "graph test (test)",
        "input  %x: float32[2, 3] NONE",
        "%y: float32[2, 3] = Activation(%x) activation=TANH  # v0",
        "output %y: float32[2, 3] NONE",
    ]


def _linked(*edges: tuple[str, str]) -> Graph:
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
    graph = _linked(("x", "a"), ("a", "b"), ("b", "c"))
    assign_subgraphs(
        graph,
        [SubgraphSpec("front", ("x",), ("b",)), SubgraphSpec("back", ("b",), ("c",))],
    )
    assert graph.subgraphs == ("front", "back")
    assert _parts(graph) == {"a": 0, "b": 0, "c": 1}


def test_what_two_need_belongs_to_the_first() -> None:
    graph = _linked(("x", "shared"), ("shared", "a"), ("shared", "b"), ("b", "c"))
    graph.outputs.insert(0, graph.values["a"])
    assign_subgraphs(
        graph,
        [SubgraphSpec("one", ("x",), ("a",)), SubgraphSpec("two", ("x",), ("c",))],
    )
    assert _parts(graph) == {"shared": 0, "a": 0, "b": 1, "c": 1}


def test_names_may_be_those_of_the_framework() -> None:
    graph = _linked(("x", "a"), ("a", "b"))
    graph.values["a"].source = "layer/a:0"
    parts = [
        SubgraphSpec("front", ("x",), ("layer/a:0",)),
        SubgraphSpec("back", ("layer/a:0",), ("b",)),
    ]
    assign_subgraphs(graph, parts)
    assert _parts(graph) == {"a": 0, "b": 1}


def test_all_missing_tensors_are_told_at_once() -> None:
    graph = _linked(("x", "a"))
    with pytest.raises(GraphError) as caught:
        assign_subgraphs(graph, [SubgraphSpec("front", ("y",), ("z",))])
    assert str(caught.value).splitlines() == [
        "subgraph 'front': the model has no tensor 'y'",
        "subgraph 'front': the model has no tensor 'z'",
    ]


def test_what_passes_add_belongs_to_a_neighbour() -> None:
    graph = _linked(("x", "a"), ("a", "b"))
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

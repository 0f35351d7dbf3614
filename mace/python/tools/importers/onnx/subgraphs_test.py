# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""If, Loop, Scan and SequenceMap compared with onnxruntime."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.importers.frame import budget
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodesError,
)
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model, subgraphs
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    compare,
    import_open,
    import_proto,
    make_model,
    normal,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import Graph, Op

_FLOAT, _INT64, _BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def _graph(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[tuple[str, int, Sequence[int | str] | None]],
    outputs: Sequence[tuple[str, int, Sequence[int | str] | None]],
    constants: Mapping[str, Array] | None = None,
) -> onnx.GraphProto:
    tensors = [
        numpy_helper.from_array(array, name)
        for name, array in (constants or {}).items()
    ]
    infos = [
        [helper.make_tensor_value_info(*value) for value in values]
        for values in (inputs, outputs)
    ]
    return helper.make_graph(list(nodes), "body", *infos, tensors)


def _refusal(model: onnx.ModelProto, feeds: Mapping[str, Array], folder: Path) -> str:
    outputs = [value.name for value in model.graph.output]
    with pytest.raises(UnsupportedNodesError) as refused:
        import_proto(model, feeds, outputs, folder)
    return str(refused.value)


def _branches(condition: str) -> onnx.NodeProto:
    """y = x + w or x * 3, where w is in the branch; the tensor 'big' is in both."""

    def branch(name: str, nodes: list[onnx.NodeProto], result: str) -> onnx.GraphProto:
        weights = [numpy_helper.from_array(np.array([1, 2, 3], np.float32), "w")]
        info = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
        return helper.make_graph(nodes, name, [], [info], weights)

    then = branch("then", [helper.make_node("Add", ["x", "w"], ["sum"])], "sum")
    other = [
        helper.make_node("Mul", ["x", "three"], ["scaled"]),
        helper.make_node("Relu", ["scaled"], ["positive"]),
    ]
    return helper.make_node(
        "If",
        [condition],
        ["y"],
        then_branch=then,
        else_branch=branch("else", other, "positive"),
    )


@pytest.mark.parametrize("taken", [True, False])
def test_the_branch_that_is_always_taken(taken: bool, tmp_path: Path) -> None:
    x = normal(2, 3)
    constants = {"c": np.array(taken), "three": np.array(3, np.float32)}
    nodes = [_branches("c"), helper.make_node("Neg", ["y"], ["z"])]
    model = make_model(nodes, {"x": x}, ["z"], constants)
    compare(model, {"x": x}, tmp_path)


def test_a_branch_that_depends_on_a_shape(tmp_path: Path) -> None:
    """As exporters write for a squeeze of an axis that may be longer than 1."""
    x = normal(2, 3)
    constants = {
        "axis": np.array(1),
        "one": np.array(1),
        "three": np.array(3, np.float32),
    }
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "axis"], ["length"]),
        helper.make_node("Equal", ["length", "one"], ["c"]),
        _branches("c"),
    ]
    model = make_model(nodes, {"x": x}, ["y"], constants)
    compare(model, {"x": x}, tmp_path)


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_a_condition_of_each_run_chooses(
    shape: tuple[int, ...], taken: bool, tmp_path: Path
) -> None:
    feeds = {"x": normal(2, 3), "c": np.full(shape, taken)}
    constants = {"three": np.array(3, np.float32)}
    nodes = [_branches("c"), helper.make_node("Relu", ["y"], ["z"])]
    compare(make_model(nodes, feeds, ["z"], constants), feeds, tmp_path)


def test_conditions_come_before_what_they_decide_on(tmp_path: Path) -> None:
    """Even what the whole branch needs, and the condition is computed last."""
    feeds = {"x": normal(2, 3), "c": normal(2, 3, seed=1)}
    nodes = [
        helper.make_node("Neg", ["c"], ["d"]),
        helper.make_node("ReduceSum", ["d"], ["total"], keepdims=0),
        helper.make_node("Greater", ["total", "zero"], ["on"]),
        _branches("on"),
    ]
    constants = {"three": np.array(3, np.float32), "zero": np.array(0, np.float32)}
    model = make_model(nodes, feeds, ["y"], constants)
    graph = import_proto(model, feeds, ["y"], tmp_path)
    ops: list[Op | None] = list(graph.ops)
    (where,) = (op for op in graph.ops if op.type == "Where")
    decided = ops.index(where.input(0).producer)
    for side in (1, 2):
        assert ops.index(where.input(side).producer) > decided
    compare(model, feeds, tmp_path)


def _with_a_wrong_branch(wrong: str) -> onnx.NodeProto:
    """An If whose other branch is the negative of x."""
    node = helper.make_node(wrong, ["x", "seven"], ["r"])
    if wrong == "MadeUp":
        node.domain = "my"
    branches = [
        _graph([helper.make_node("Neg", ["x"], ["n"])], [], [("n", _FLOAT, None)]),
        _graph(
            [node, helper.make_node("Relu", ["r"], ["s"])], [], [("s", _FLOAT, None)]
        ),
    ]
    return helper.make_node(
        "If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1]
    )


@pytest.mark.parametrize("wrong", ["MadeUp", "Reshape"])
def test_a_branch_that_cannot_be_converted(wrong: str, tmp_path: Path) -> None:
    """Is an error of the run that takes it."""
    feeds = {"x": normal(2, 3), "c": np.array(True)}
    constants = {"seven": np.array([-1, 7])}
    model = make_model([_with_a_wrong_branch(wrong)], feeds, ["y"], constants)
    graph = import_proto(model, feeds, ["y"], tmp_path)
    assert [op.type for op in graph.ops].count("Fail") == 1
    assert_same(list(run_graph(graph, feeds).values()), [-feeds["x"]])
    reason = "MadeUp" if wrong == "MadeUp" else "6 elements are no multiple of 7"
    with pytest.raises(ValueError, match=reason):
        run_graph(graph, {**feeds, "c": np.array(False)})


def test_a_branch_that_cannot_be_converted_in_a_branch(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "c": np.array(True), "d": np.array(True)}
    constants = {"seven": np.array([-1, 7])}
    inner = _graph([_with_a_wrong_branch("Reshape")], [], [("y", _FLOAT, None)])
    other = _graph([helper.make_node("Relu", ["x"], ["p"])], [], [("p", _FLOAT, None)])
    node = helper.make_node("If", ["d"], ["z"], then_branch=inner, else_branch=other)
    model = make_model([node], feeds, ["z"], constants)
    graph = import_proto(model, feeds, ["z"], tmp_path)
    for c, d in ((True, True), (True, False), (False, False)):
        given = {**feeds, "c": np.array(c), "d": np.array(d)}
        wanted = -feeds["x"] if d else np.maximum(feeds["x"], 0)
        assert_same(list(run_graph(graph, given).values()), [wanted])
    # Nothing that computes both branches fails but for the one that is taken.
    (fail,) = (op for op in graph.ops if op.type == "Fail")
    for c, d in ((True, True), (True, False), (False, False)):
        given = {**feeds, "c": np.array(c), "d": np.array(d)}
        run_graph(graph, given, [fail.output.name])
    with pytest.raises(ValueError, match="6 elements are no multiple of 7"):
        run_graph(graph, {**feeds, "c": np.array(False)}, [fail.output.name])


def test_branches_of_other_shapes_are_refused(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "c": np.array(True)}
    node = helper.make_node(
        "If",
        ["c"],
        ["y"],
        then_branch=_graph(
            [helper.make_node("Transpose", ["x"], ["t"])], [], [("t", _FLOAT, None)]
        ),
        else_branch=_graph(
            [helper.make_node("Neg", ["x"], ["n"])], [], [("n", _FLOAT, None)]
        ),
    )
    reason = _refusal(make_model([node], feeds, ["y"]), feeds, tmp_path)
    assert "the condition (c) is computed at run time" in reason
    assert "the branches give the shapes [3, 2] and [2, 3]" in reason


def _loop(
    inputs: Sequence[str], outputs: Sequence[str], condition: onnx.NodeProto
) -> onnx.NodeProto:
    """s = s * (1 / 2) + (i + w), where w is relu(x); scans s * 2."""
    nodes = [
        condition,
        helper.make_node("Constant", [], ["half"], value_float=0.5),
        helper.make_node("Relu", ["x"], ["w"]),
        helper.make_node("Cast", ["i"], ["number"], to=_FLOAT),
        helper.make_node("Add", ["number", "w"], ["more"]),
        helper.make_node("Mul", ["s", "half"], ["less"]),
        helper.make_node("Add", ["less", "more"], ["next"]),
        helper.make_node("Mul", ["next", "two"], ["twice"]),
    ]
    body = _graph(
        nodes,
        [("i", _INT64, []), ("on", _BOOL, []), ("s", _FLOAT, [2, 3])],
        [("goes_on", _BOOL, []), ("next", _FLOAT, [2, 3]), ("twice", _FLOAT, [2, 3])],
        {"two": np.array(2, np.float32)},
    )
    return helper.make_node("Loop", inputs, outputs, body=body)


def _always() -> onnx.NodeProto:
    return helper.make_node("Identity", ["on"], ["goes_on"])


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_a_loop_of_known_steps(steps: int, tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "s0": normal(2, 3, seed=2)}
    constants = {"m": np.array(steps), "c": np.array(True)}
    for inputs in (["m", "c", "s0"], ["m", "", "s0"]):
        nodes = [_loop(inputs, ["last", "all"], _always())]
        compare(make_model(nodes, feeds, ["last", "all"], constants), feeds, tmp_path)


def test_a_loop_that_ends_itself(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "s0": normal(2, 3, seed=2)}
    constants = {"c": np.array(True), "three": np.array(3)}
    until = helper.make_node("Less", ["i", "three"], ["goes_on"])
    nodes = [_loop(["", "c", "s0"], ["last", "all"], until)]
    compare(make_model(nodes, feeds, ["last", "all"], constants), feeds, tmp_path)


def test_steps_become_nodes_once_each(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "s0": normal(2, 3, seed=2)}
    counts = []
    for steps in (10, 20, 30):
        nodes = [_loop(["m", "", "s0"], ["last", ""], _always())]
        model = make_model(nodes, feeds, ["last"], {"m": np.array(steps)})
        graph = import_proto(model, feeds, ["last"], tmp_path)
        counts.append(len(graph.ops))
        # What does not depend on the step is computed once.
        relus = [op for op in graph.ops if op.attrs.get("activation") == "RELU"]
        assert len(relus) == 1
    assert counts[2] - counts[1] == counts[1] - counts[0] == 30


def _engine_loops(graph: Graph) -> int:
    begun = sum(op.type == "LoopBegin" for op in graph.ops)
    assert sum(op.type == "LoopEnd" for op in graph.ops) == begun
    return begun


def _is_looped(
    model: onnx.ModelProto, feeds: Mapping[str, Array], folder: Path
) -> None:
    """The engine runs its loop, as ONNX Runtime does."""
    outputs = [value.name for value in model.graph.output]
    assert _engine_loops(import_proto(model, feeds, outputs, folder)) == 1
    compare(model, feeds, folder)


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_run_gives_the_number_of_steps(steps: int, tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "s0": normal(2, 3), "m": np.array(steps)}
    node = _loop(["m", "", "s0"], ["last", ""], _always())
    del node.attribute[0].g.output[-1]
    del node.output[-1]
    _is_looped(make_model([node], feeds, ["last"]), feeds, tmp_path)


@pytest.mark.parametrize("positive", [True, False])
def test_a_run_decides_whether_there_is_a_step(positive: bool, tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "s0": normal(2, 3), "c": np.array(positive)}
    node = _loop(["m", "c", "s0"], ["last", ""], _always())
    del node.attribute[0].g.output[-1]
    del node.output[-1]
    model = make_model([node], feeds, ["last"], {"m": np.array(3)})
    _is_looped(model, feeds, tmp_path)


def test_lengths_in_a_loop_and_behind_it(tmp_path: Path) -> None:
    """Equal ones, of which those of a step are read in no other place."""
    body = _graph(
        [
            helper.make_node("Identity", ["on"], ["goes_on"]),
            helper.make_node("Shape", ["s"], ["rows"], start=0, end=1),
            helper.make_node("Concat", ["rows", "three"], ["like"], axis=0),
            helper.make_node("Expand", ["half", "like"], ["more"]),
            helper.make_node("Add", ["s", "more"], ["next"]),
        ],
        [("i", _INT64, []), ("on", _BOOL, []), ("s", _FLOAT, ["n", 3])],
        [("goes_on", _BOOL, []), ("next", _FLOAT, ["n", 3])],
    )
    nodes = [
        helper.make_node("Loop", ["m", "", "x"], ["y"], body=body),
        helper.make_node("Shape", ["y"], ["count"], start=0, end=1),
        helper.make_node("Concat", ["count", "three"], ["shape"], axis=0),
        helper.make_node("Expand", ["half", "shape"], ["z"]),
    ]
    feeds = {"x": normal(3, 3), "m": np.array(3)}
    constants = {"half": np.array(0.5, np.float32), "three": np.array([3])}
    graph = import_open(make_model(nodes, feeds, ["y", "z"], constants), tmp_path, "n")
    behind = [graph.values["z"]]
    for value in behind:
        op = value.producer
        if op is not None and op.type != "LoopEnd":
            assert op.type != "LoopBegin"
            behind += [x for x in op.inputs if x is not None]
    inputs = {"x": normal(5, 3), "m": np.array(2, np.int32)}
    found = run_graph(graph, inputs)
    np.testing.assert_allclose(found["y"], inputs["x"] + 1, 1e-6)
    np.testing.assert_array_equal(found["z"], np.full((5, 3), 0.5))


def test_a_step_decides_whether_another_one_follows(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3) + 5, "s0": normal(2, 3)}
    until = helper.make_node("Less", ["first", "many"], ["goes_on"])
    node = _loop(["m", "", "s0"], ["last", ""], until)
    body = node.attribute[0].g
    body.node.insert(0, helper.make_node("ReduceSum", ["s"], ["first"], keepdims=0))
    del body.output[-1]
    del node.output[-1]
    constants = {"m": np.array(30), "many": np.array(200, np.float32)}
    _is_looped(make_model([node], feeds, ["last"], constants), feeds, tmp_path)


def test_values_of_each_of_steps_that_a_run_counts_are_refused(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "s0": normal(2, 3), "m": np.array(3)}
    outputs = ["last", "all"]
    model = make_model([_loop(["m", "", "s0"], outputs, _always())], feeds, outputs)
    reason = _refusal(model, feeds, tmp_path)
    assert "M, the number of steps (m), is computed at run time" in reason
    assert "it collects a value of each step" in reason


def test_a_sequence_of_steps_that_a_run_counts_is_refused(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "s0": normal(2, 3), "m": np.array(3)}
    body = _graph(
        [
            helper.make_node("Identity", ["on"], ["goes_on"]),
            helper.make_node("SequenceInsert", ["all", "x"], ["more"]),
        ],
        [("i", _INT64, []), ("on", _BOOL, []), ("all", _FLOAT, None)],
        [("goes_on", _BOOL, []), ("more", _FLOAT, None)],
    )
    nodes = [
        helper.make_node("SequenceEmpty", [], ["none"]),
        helper.make_node("Loop", ["m", "", "none"], ["every"], body=body),
        helper.make_node("ConcatFromSequence", ["every"], ["y"], axis=0),
    ]
    reason = _refusal(make_model(nodes, feeds, ["y"]), feeds, tmp_path)
    assert "M, the number of steps (m), is computed at run time" in reason
    assert "and it hands on a sequence of 0 tensors" in reason


def test_states_that_grow_are_refused(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "s0": normal(2, 3), "m": np.array(3)}
    body = _graph(
        [
            helper.make_node("Identity", ["on"], ["goes_on"]),
            helper.make_node("Concat", ["s", "x"], ["next"], axis=0),
        ],
        [("i", _INT64, []), ("on", _BOOL, []), ("s", _FLOAT, None)],
        [("goes_on", _BOOL, []), ("next", _FLOAT, None)],
    )
    node = helper.make_node("Loop", ["m", "", "s0"], ["y"], body=body)
    reason = _refusal(make_model([node], feeds, ["y"]), feeds, tmp_path)
    assert "a step makes float32 [4, 3]" in reason
    assert "must keep the shapes" in reason


def test_loops_of_unknown_steps_in_loops(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "s0": normal(2, 3), "m": np.array(3), "k": np.array(2)}
    inner = _graph(
        [
            helper.make_node("Identity", ["inner_on"], ["inner_goes_on"]),
            helper.make_node("Mul", ["q", "x"], ["p"]),
        ],
        [("j", _INT64, []), ("inner_on", _BOOL, []), ("q", _FLOAT, [2, 3])],
        [("inner_goes_on", _BOOL, []), ("p", _FLOAT, [2, 3])],
    )
    body = _graph(
        [
            helper.make_node("Identity", ["on"], ["goes_on"]),
            helper.make_node("Add", ["s", "x"], ["t"]),
            helper.make_node("Loop", ["k", "", "t"], ["next"], body=inner),
        ],
        [("i", _INT64, []), ("on", _BOOL, []), ("s", _FLOAT, [2, 3])],
        [("goes_on", _BOOL, []), ("next", _FLOAT, [2, 3])],
    )
    node = helper.make_node("Loop", ["m", "", "s0"], ["y"], body=body)
    model = make_model([node], feeds, ["y"])
    graph = import_proto(model, feeds, ["y"], tmp_path)
    assert _engine_loops(graph) == 2
    compare(model, feeds, tmp_path)


def test_the_number_of_nodes_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert budget.FLOOR_NODES > 10000
    monkeypatch.setattr(budget, "FLOOR_NODES", 602)
    # Each loop has two nodes that do not depend on the step.
    # Without this, each node of the file would allow more.
    monkeypatch.setattr(budget, "TIMES", 0)
    feeds = {"x": normal(2, 3), "s0": normal(2, 3, seed=2)}
    for steps, unrolled in ((100, True), (101, False), (10**9, False)):
        node = _loop(["m", "", "s0"], ["last", ""], _always())
        del node.attribute[0].g.output[-1]
        del node.output[-1]
        model = make_model([node], feeds, ["last"], {"m": np.array(steps)})
        graph = import_proto(model, feeds, ["last"], tmp_path)
        assert _engine_loops(graph) == (0 if unrolled else 1)
    # The number of steps is the length of a dimension.
    rows = {"x": normal(2, 3), "s0": normal(2, 3), "r": normal(101)}
    nodes = [
        helper.make_node("Shape", ["r"], ["m"]),
        _loop(["m", "", "s0"], ["last", ""], _always()),
    ]
    del nodes[1].attribute[0].g.output[-1]
    del nodes[1].output[-1]
    graph = import_proto(make_model(nodes, rows, ["last"]), rows, ["last"], tmp_path)
    assert _engine_loops(graph) == 1
    long = {"s0": normal(3), "a": normal(151, 3), "b": normal(151, 3, seed=2)}
    node = helper.make_node(
        "Scan",
        ["s0", "a", "b"],
        ["last", "", ""],
        body=_scan_body(3),
        num_scan_inputs=2,
    )
    graph = import_proto(make_model([node], long, ["last"]), long, ["last"], tmp_path)
    assert _engine_loops(graph) == 1


def _counting(
    limit: int | None, step: int = 1, heavy: Sequence[onnx.NodeProto] = ()
) -> tuple[onnx.NodeProto, dict[str, Array]]:
    """A loop of s = s + x while a counter is below a limit, or without an end."""
    nodes = [
        helper.make_node("Add", ["counter", "step"], ["next"]),
        helper.make_node("Add", ["s", "x"], ["sum"]),
        *heavy,
    ]
    going = helper.make_node("Less", ["next", "limit"], ["goes_on"])
    if limit is None:
        going = helper.make_node("Identity", ["on"], ["goes_on"])
    body = _graph(
        [*nodes, going],
        [
            ("i", _INT64, []),
            ("on", _BOOL, []),
            ("counter", _INT64, []),
            ("s", _FLOAT, [2, 3]),
        ],
        [("goes_on", _BOOL, []), ("next", _INT64, []), ("sum", _FLOAT, [2, 3])],
        {"limit": np.array(limit or 0), "step": np.array(step)},
    )
    node = helper.make_node("Loop", ["", "yes", "zero", "s0"], ["n", "y"], body=body)
    return node, {"yes": np.array(True), "zero": np.array(0)}


def test_a_condition_that_counts(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "s0": normal(2, 3, seed=2)}
    node, constants = _counting(7, 2)
    compare(make_model([node], feeds, ["y"], constants), feeds, tmp_path)


@pytest.mark.parametrize(("limit", "step"), [(10**9, 1), (5, 0)])
def test_the_engine_runs_what_is_too_long(
    limit: int, step: int, tmp_path: Path
) -> None:
    feeds = {"x": normal(2, 3), "s0": normal(2, 3, seed=2)}
    node, constants = _counting(limit, step)
    model = make_model([node], feeds, ["y"], constants)
    graph = import_proto(model, feeds, ["y"], tmp_path)
    assert _engine_loops(graph) == 1
    assert len(graph.ops) < 10


def test_a_loop_without_an_end_is_refused_before_its_first_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feeds = {"x": normal(2, 3), "s0": normal(2, 3, seed=2)}
    node, constants = _counting(None)
    monkeypatch.setattr(
        subgraphs.Subgraph, "run", lambda *_: pytest.fail("it ran a step")
    )
    model = make_model([node], feeds, ["y"], constants)
    reason = "it never ends: M is missing, and its condition stays true"
    assert reason in _refusal(model, feeds, tmp_path)


def test_loops_in_a_loop_of_the_engine_are_unrolled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feeds = {"x": normal(2, 3), "s0": normal(2, 3, seed=2), "rows": normal(20)}
    inner, constants = _counting(30)
    inner.input[3], inner.output[:] = "s", ["", "next"]
    body = _graph(
        [helper.make_node("Identity", ["on"], ["goes_on"]), inner],
        [("i", _INT64, []), ("on", _BOOL, []), ("s", _FLOAT, [2, 3])],
        [("goes_on", _BOOL, []), ("next", _FLOAT, [2, 3])],
    )
    nodes = [
        helper.make_node("Shape", ["rows"], ["m"]),
        helper.make_node("Loop", ["m", "", "s0"], ["y"], body=body),
    ]
    model = make_model(nodes, feeds, ["y"], constants)
    monkeypatch.setattr(budget, "FLOOR_NODES", 1000)
    monkeypatch.setattr(budget, "TIMES", 0)
    # Each step of the inner loop has three nodes, and the outer one has two.
    graph = import_proto(model, feeds, ["y"], tmp_path)
    assert _engine_loops(graph) == 1
    assert len(graph.ops) > 30


def _nest(depth: int) -> onnx.GraphProto:
    """Choices in both branches of choices."""
    nodes = [helper.make_node("Neg", ["x"], ["y0"])]
    if depth:
        nodes = [_choice(depth)]
    return _graph(nodes, [], [(f"y{depth}", _FLOAT, [2, 3])])


def _choice(depth: int) -> onnx.NodeProto:
    branches = {f"{name}_branch": _nest(depth - 1) for name in ("then", "else")}
    return helper.make_node("If", ["c"], [f"y{depth}"], **branches)


def test_choices_in_choices(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "c": np.array(True)}
    compare(make_model([_choice(5)], feeds, ["y5"]), feeds, tmp_path)
    reason = "(c) is computed at run time, as those of 64 others in branches"
    assert reason in _refusal(make_model([_choice(7)], feeds, ["y7"]), feeds, tmp_path)
    # If only one branch is taken, the depth alone is no harm.
    known = make_model([_choice(7)], feeds, ["y7"], {"c": feeds.pop("c")})
    compare(known, feeds, tmp_path)


def test_a_file_of_nested_graphs_is_refused_when_it_is_read(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "c": np.array(True)}
    model = make_model([_choice(12)], feeds, ["y12"])
    begin = time.process_time()
    with pytest.raises(ImportModelError, match="more than 32784 copies of nodes"):
        import_proto(model, feeds, ["y12"], tmp_path)
    # It took minutes.
    assert time.process_time() - begin < 10


@pytest.mark.parametrize("condition", ["on", "true"])
@pytest.mark.parametrize(
    ("depth", "steps", "loops"), [(2, 400, 1), (20, 10, 18), (20, 1, 0), (9, 0, 0)]
)
def test_loops_in_loops_are_counted_before_they_are_imported(
    depth: int, steps: int, loops: int, condition: str, tmp_path: Path
) -> None:
    node = helper.make_node("Relu", ["s"], ["next"])
    for _ in range(depth):
        body = _graph(
            [helper.make_node("Identity", [condition], ["goes_on"]), node],
            [("i", _INT64, []), ("on", _BOOL, []), ("s", _FLOAT, [2, 3])],
            [("goes_on", _BOOL, []), ("next", _FLOAT, [2, 3])],
            {"steps": np.array(steps), "true": np.array(True)},
        )
        node = helper.make_node("Loop", ["steps", "", "s"], ["next"], body=body)
    feeds = {"s": normal(2, 3)}
    model = make_model([node], feeds, ["next"], {"steps": np.array(steps)})
    begin = time.process_time()
    graph = import_proto(model, feeds, ["next"], tmp_path)
    assert time.process_time() - begin < 30
    # How much is unrolled inside depends on what is constant.
    assert loops - 1 <= _engine_loops(graph) <= loops


def test_a_loop_in_a_loop_reads_tensors_outside(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "s0": normal(2, 3, seed=2)}
    inner = _loop(["two", "", "o"], ["b", "unused"], _always())
    body = _graph(
        [inner, helper.make_node("Identity", ["outer_on"], ["outer_goes_on"])],
        [("k", _INT64, []), ("outer_on", _BOOL, []), ("o", _FLOAT, [2, 3])],
        [("outer_goes_on", _BOOL, []), ("b", _FLOAT, [2, 3]), ("copy", _FLOAT, [2, 3])],
    )
    body.node.append(helper.make_node("Identity", ["x"], ["copy"]))
    constants = {"two": np.array(2), "three": np.array(3)}
    node = helper.make_node("Loop", ["three", "", "s0"], ["y", "same"], body=body)
    compare(make_model([node], feeds, ["y", "same"], constants), feeds, tmp_path)


def _scan_body(rows: int) -> onnx.GraphProto:
    """s = s + a * b; scans s and a."""
    nodes = [
        helper.make_node("Mul", ["a", "b"], ["product"]),
        helper.make_node("Add", ["s", "product"], ["next"]),
        helper.make_node("Identity", ["next"], ["seen"]),
        helper.make_node("Neg", ["a"], ["negative"]),
    ]
    inputs, outputs = (
        [(name, _FLOAT, [rows]) for name in names]
        for names in (("s", "a", "b"), ("next", "seen", "negative"))
    )
    return _graph(nodes, inputs, outputs)


@pytest.mark.parametrize("opset", [9, 11, 21])
def test_scan_along_axes_in_directions(opset: int, tmp_path: Path) -> None:
    feeds = {"s0": normal(3), "a": normal(4, 3), "b": normal(3, 4, seed=2)}
    attributes: list[dict[str, Any]] = [
        {"scan_input_axes": [0, 1]},
        {"scan_input_axes": [0, 1], "scan_input_directions": [1, 0]},
        {
            "scan_input_axes": [0, 1],
            "scan_output_axes": [1, 0],
            "scan_output_directions": [0, 1],
        },
    ]
    if opset > 9:
        attributes.append({"scan_input_axes": [-2, -1], "scan_output_axes": [-1, 0]})
    for own in attributes:
        node = helper.make_node(
            "Scan",
            ["s0", "a", "b"],
            ["last", "seen_all", "negatives"],
            body=_scan_body(3),
            num_scan_inputs=2,
            **own,
        )
        outputs = ["last", "seen_all", "negatives"]
        compare(make_model([node], feeds, outputs, opset=opset), feeds, tmp_path)


def test_scan_of_a_batch(tmp_path: Path) -> None:
    feeds = {"s0": normal(2, 3), "a": normal(2, 4, 3), "b": normal(2, 4, 3, seed=2)}
    for own in ({}, {"directions": [0, 1]}):
        node = helper.make_node(
            "Scan",
            ["", "s0", "a", "b"],
            ["last", "seen_all", "negatives"],
            body=_scan_body(3),
            num_scan_inputs=2,
            **own,
        )
        outputs = ["last", "seen_all", "negatives"]
        compare(make_model([node], feeds, outputs, opset=8), feeds, tmp_path)


@pytest.mark.parametrize("backwards", [False, True])
def test_a_run_gives_the_steps_of_a_scan(backwards: bool, tmp_path: Path) -> None:
    feeds = {"s0": normal(3), "a": normal(4, 3), "b": normal(3, 4, seed=2)}
    outputs = ["last", "seen_all", "negatives"]
    node = helper.make_node(
        "Scan",
        list(feeds),
        outputs,
        body=_scan_body(3),
        num_scan_inputs=2,
        scan_input_axes=[0, 1],
        scan_input_directions=[0, int(backwards)],
        scan_output_axes=[0, -1],
    )
    model = make_model([node], feeds, outputs)
    for value, axis in zip(model.graph.input[1:], (0, 1)):
        value.type.tensor_type.shape.dim[axis].dim_param = "T"
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    specs = tuple(InputSpec(name, ()) for name in feeds)
    request = ImportRequest("model", path, specs, tuple(map(OutputSpec, outputs)))
    graph = import_model(request)
    assert _engine_loops(graph) == 1
    found = run_graph(graph, feeds)
    assert_same([found[name] for name in outputs], run_onnxruntime(model, feeds))


def test_a_graph_for_each_tensor_of_a_sequence(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "y": normal(2, 3, seed=2)}
    body = _graph(
        [helper.make_node("Sub", ["one", "other"], ["difference"])],
        [("one", _FLOAT, [2, 3]), ("other", _FLOAT, [2, 3])],
        [("difference", _FLOAT, [2, 3])],
    )
    nodes = [
        helper.make_node("SequenceConstruct", ["x", "y", "x"], ["all"]),
        helper.make_node("SequenceMap", ["all", "y"], ["mapped"], body=body),
        helper.make_node("ConcatFromSequence", ["mapped"], ["z"], axis=0, new_axis=1),
    ]
    compare(make_model(nodes, feeds, ["z"]), feeds, tmp_path)

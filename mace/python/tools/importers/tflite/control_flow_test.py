# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Loops and branches, against TensorFlow Lite's interpreter."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame import budget
from mace.python.tools.importers.frame.budget import Budget
from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.tflite.context import HANDLERS
from mace.python.tools.importers.tflite.options import BUILTINS
from mace.python.tools.importers.tflite.testing import (
    converted,
    import_file,
    interpreted,
    operators_of,
    rand,
    run_file,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph

tf = pytest.importorskip("tensorflow", reason="it is the reference here")


def _check(
    folder: Path, kind: str, function: Callable[..., Any], *arrays: Array
) -> bytes:
    data = converted(function, arrays)
    path = folder / "m.tflite"
    assert kind in operators_of(data, path)
    found, wanted = run_file(data, arrays, path), interpreted(data, arrays)
    assert [a.shape for a in found] == [a.shape for a in wanted]
    for got, expected in zip(found, wanted):
        np.testing.assert_allclose(got, expected, 2e-5, 2e-5)
    return data


def _loop(steps: int) -> Callable[[Any], Any]:
    weights = rand(4, 4) * np.float32(0.5)

    def loop(x: Any) -> Any:
        def body(i: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
            return i + 1, tf.tanh(tf.matmul(x, weights) + y), y * 0.5

        return tf.while_loop(lambda i, x, y: i < steps, body, (0, x, x))[1:]

    return loop


def test_loop(tmp_path: Path) -> None:
    _check(tmp_path, "WHILE", _loop(3), rand(2, 4))
    _check(tmp_path, "WHILE", _loop(0), rand(2, 4))


def test_loops_whose_steps_each_run_counts(tmp_path: Path) -> None:
    """One in another, with a counter, a condition and what no step changes."""
    weights = rand(4, 4) * np.float32(0.5)

    def loop(x: Any, n: Any) -> Any:
        def inner(y: Any) -> Any:
            return tf.while_loop(
                lambda y: tf.reduce_sum(tf.abs(y)) < 20.0, lambda y: (y * 2.0,), (y,)
            )[0]

        def body(i: Any, y: Any) -> tuple[Any, Any]:
            return i + 1, inner(tf.tanh(tf.matmul(y, weights) + x) + 0.1)

        return tf.while_loop(lambda i, y: i < n, body, (0, x))

    x, path = rand(2, 4), tmp_path / "m.tflite"
    data = converted(loop, [x, np.array(3, np.int32)])
    path.write_bytes(data)
    assert [op.type for op in import_file(path).ops].count("LoopBegin") == 2
    for steps in (0, 1, 4):
        arrays = [x, np.array(steps, np.int32)]
        found, wanted = run_file(data, arrays, path), interpreted(data, arrays)
        for got, expected in zip(found, wanted):
            np.testing.assert_allclose(got, expected, 2e-5, 2e-5)


def test_weights_are_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(converted(_loop(5), [rand(2, 4)]))
    graph = import_file(path)
    products = [op for op in graph.ops if op.type in ("FullyConnected", "MatMul")]
    assert len(products) == 5
    assert len({op.input(1) for op in products}) == 1


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_recurrent_layers(kind: str, tmp_path: Path) -> None:
    layer = getattr(tf.keras.layers, kind)(4, return_sequences=True)
    layer.build((1, 5, 3))
    _check(tmp_path, "WHILE", layer, rand(1, 5, 3))


@pytest.mark.parametrize("counted", [True, False])
def test_rounds_of_loops_in_loops_are_refused_at_once(
    counted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first round, or after it where the inner loop begins at what is
    computed.
    """

    def loop(x: Any) -> Any:
        def inner(i: Any, x: Any) -> tuple[Any, Any]:
            return i + 1, tf.tanh(x)

        def outer(i: Any, x: Any) -> tuple[Any, Any]:
            begin = 0 if counted else tf.minimum(i, 0)
            return i + 1, tf.while_loop(lambda i, x: i < 20, inner, (begin, x))[1]

        return tf.while_loop(lambda i, x: i < 50, outer, (0, x))[1]

    path = tmp_path / "m.tflite"
    path.write_bytes(converted(loop, [rand(2, 4)]))
    monkeypatch.setattr(budget, "FLOOR_NODES", 1500)
    calls = []
    inside = Budget.check_rest

    def check(self: Budget, before: int, rounds: int) -> None:
        calls.append((rounds, self.added - before))
        inside(self, before, rounds)

    monkeypatch.setattr(Budget, "check_rest", check)
    with pytest.raises(UnsupportedNodesError, match="(49|50) or more rounds of"):
        import_file(path)
    # The inner loop once, and then the outer one.
    assert [rounds for rounds, _ in calls] == ([] if counted else [19, 49])
    assert counted or calls[1][1] > 20


def test_loop_of_integers(tmp_path: Path) -> None:
    # Weights of 8 bits, or a body in integers, whose scales the loop keeps.
    def prepare(converter: Any) -> None:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]

    weights = rand(64, 64) * np.float32(0.1)

    def loop(x: Any) -> Any:
        def body(i: Any, x: Any) -> tuple[Any, Any]:
            return i + 1, tf.tanh(tf.matmul(x, weights))

        return tf.while_loop(lambda i, x: i < 3, body, (0, x))[1]

    x = rand(2, 64)
    data = converted(loop, [x], prepare=prepare)
    path = tmp_path / "m.tflite"
    (found,) = run_file(data, [x], path)
    # The interpreter rounds the inputs of products, too.
    np.testing.assert_allclose(found, interpreted(data, [x])[0], atol=0.05)


def _branches(x: Any, condition: Any) -> Any:
    return tf.cond(condition, lambda: (x * 2.0, x), lambda: (tf.exp(x), x - 1.0))


def test_branch_that_each_run_decides(tmp_path: Path) -> None:
    data = b""
    for yes in (True, False):
        data = _check(tmp_path, "IF", _branches, rand(2, 3), np.array(yes))
    # If the condition is known, one branch is left.
    schema: Any = importlib.import_module("tensorflow.lite.python.schema_py_generated")
    flatbuffers: Any = importlib.import_module("flatbuffers")
    for yes in (True, False):
        model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(data, 0))
        graph = model.subgraphs[0]
        place = next(i for i in graph.inputs if graph.tensors[i].type == 6)
        buffer = schema.BufferT()
        buffer.data = np.array([yes], np.uint8)
        graph.tensors[place].buffer = len(model.buffers)
        model.buffers.append(buffer)
        graph.inputs = [i for i in graph.inputs if i != place]
        model.signatureDefs = []
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        x = rand(2, 3)
        path = tmp_path / "m.tflite"
        found = run_file(bytes(builder.Output()), [x], path)
        assert ("EXP" in {op.attrs.get("mode") for op in import_file(path).ops}) != yes
        wanted = interpreted(data, [x, np.array(yes)])
        for got, expected in zip(found, wanted):
            np.testing.assert_allclose(got, expected, 2e-5)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_branches_of_integers(dtype: type, tmp_path: Path) -> None:
    def chosen(x: Any, condition: Any) -> Any:
        return tf.cond(
            condition,
            lambda: (tf.concat([x, x], 0), x),
            lambda: (tf.concat([x, x], 0), tf.gather(x, [1, 0])),
        )

    info = np.iinfo(dtype)
    x: Array = np.array([[max(info.min, -(2**31)), 3], [1, 100]], dtype)
    for yes in (True, False):
        _check(tmp_path, "IF", chosen, x, np.array(yes))


@pytest.mark.parametrize("kind", ["CALL", "STABLEHLO_COMPOSITE"])
def test_a_subgraph_in_place_of_an_operator(kind: str, tmp_path: Path) -> None:
    x = rand(2, 3)
    data = converted(_branches, [x, np.array(True)])
    schema: Any = importlib.import_module("tensorflow.lite.python.schema_py_generated")
    flatbuffers: Any = importlib.import_module("flatbuffers")
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(data, 0))
    graph = model.subgraphs[0]
    (operator,) = graph.operators
    condition = operator.inputs[0]
    taken = operator.builtinOptions.thenSubgraphIndex
    operator.inputs = list(operator.inputs[1:])
    graph.inputs = [place for place in graph.inputs if place != condition]
    operator.builtinOptions, operator.builtinOptionsType = None, 0
    if kind == "CALL":
        operator.builtinOptions = schema.CallOptionsT()
        operator.builtinOptions.subgraph = taken
        operator.builtinOptionsType = schema.BuiltinOptions.CallOptions
    else:
        options = schema.StableHLOCompositeOptionsT()
        options.name, options.decompositionSubgraphIndex = "own.operator", taken
        operator.builtinOptions2 = options
        number = schema.BuiltinOptions2.StableHLOCompositeOptions
        operator.builtinOptions2Type = number
    code = model.operatorCodes[operator.opcodeIndex]
    code.builtinCode = BUILTINS.index(kind)
    code.deprecatedBuiltinCode = min(code.builtinCode, 127)
    model.signatureDefs = []
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    found = run_file(bytes(builder.Output()), [x], tmp_path / "m.tflite")
    wanted = interpreted(data, [x, np.array(True)])
    for got, expected in zip(found, wanted):
        np.testing.assert_allclose(got, expected, 2e-5)


def test_a_branch_that_cannot_be_converted(tmp_path: Path) -> None:
    """Is an error of the run that takes it."""

    def chosen(x: Any, c: Any) -> Any:
        def sampled() -> Any:
            return tf.image.non_max_suppression_with_scores(
                x, x[:, 0], 3, soft_nms_sigma=0.5
            )[1]

        return tf.cond(c, lambda: x[:3, 0] * 2.0, sampled)

    x = rand(3, 4)
    path = tmp_path / "m.tflite"
    path.write_bytes(converted(chosen, [x, np.array(True)]))
    graph = import_file(path)
    assert [op.type for op in graph.ops].count("Fail") == 1
    names = [value.name for value in graph.inputs]
    given = dict(zip(names, (x, np.array(True))))
    (found,) = run_graph(graph, given).values()
    np.testing.assert_allclose(found, x[:, 0] * 2)
    with pytest.raises(ValueError, match="NON_MAX_SUPPRESSION_V5"):
        run_graph(graph, {**given, names[1]: np.array(False)})


def _refused(folder: Path, function: Callable[..., Any], *arrays: Array) -> str:
    path = folder / "m.tflite"
    path.write_bytes(converted(function, arrays))
    with pytest.raises(UnsupportedNodesError) as error:
        import_file(path)
    return " ".join(str(error.value).split())


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def until(x: Any) -> Any:
        return tf.while_loop(
            lambda x: tf.reduce_sum(x) < 100.0,
            lambda x: (tf.concat([x, x], 0),),
            (x,),
            shape_invariants=(tf.TensorShape([None, 4]),),
        )[0]

    assert "must keep the shapes of what it hands on" in _refused(
        tmp_path, until, rand(3, 4)
    )

    def body(i: Any, x: Any) -> tuple[Any, Any]:
        scores = tf.image.non_max_suppression_with_scores(
            x, x[:, 0], 3, soft_nms_sigma=0.5
        )[1]
        return i + 1, x * tf.reduce_sum(scores)

    def inside(x: Any) -> Any:
        return tf.while_loop(lambda i, x: i < 2, body, (0, x))[1]

    assert "inside, NON_MAX_SUPPRESSION_V5" in _refused(tmp_path, inside, rand(3, 4))

    def long(x: Any) -> Any:
        return tf.while_loop(lambda i, x: i < 100_000, lambda i, x: (i + 1, x), (0, x))[
            0
        ]

    # Told before the first round: the condition depends on a counter only.
    monkeypatch.setattr(HANDLERS, "find", lambda _: None)
    refused = _refused(tmp_path, long, rand(3, 4))
    assert re.search(r"\d+ or more rounds of \d+ operators would become", refused)

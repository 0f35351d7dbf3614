# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions, branches and loops, and integers of 64 bits, compared with TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame import budget
from mace.python.tools.importers.frame.budget import Budget
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodesError,
)
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.tensorflow import import_model
from mace.python.tools.importers.tensorflow.testing import Family, rand
from mace.python.tools.ir.graph import DataFormat

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

# Whatever a function contains; only the comparison counts here.
_ANY = Family("plumbing")


def test_functions_that_call_functions() -> None:
    @tf.function  # type: ignore[untyped-decorator]
    def inner(x: Any, y: Any) -> Any:
        first, second = tf.split(x, 2, axis=0)
        return first + y, second * y

    @tf.function  # type: ignore[untyped-decorator]
    def outer(x: Any) -> Any:
        a, b = inner(x, tf.constant([1.0, 2.0, 3.0]))
        mean, variance = tf.nn.moments(x, [0])
        return inner(tf.concat([b, a], 0), mean)[1] + variance

    _ANY.check(lambda x: (outer(x), outer(x * 2)), rand(4, 3), freeze=False)


def test_outputs_with_names() -> None:
    @tf.function  # type: ignore[untyped-decorator]
    def normalised(x: Any) -> Any:
        result = tf.raw_ops.FusedBatchNormV3(
            x=x,
            scale=tf.constant([1.0, 2.0, 3.0]),
            offset=tf.constant([0.5, 0.0, -1.0]),
            mean=tf.constant([0.1, 0.2, 0.3]),
            variance=tf.constant([1.0, 2.0, 0.5]),
            is_training=False,
        )
        return result.y * 2.0

    _ANY.check(normalised, rand(1, 4, 4, 3), freeze=False)


@pytest.mark.parametrize("rows", [1, 3])
def test_the_branch_that_is_taken(rows: int) -> None:
    def function(x: Any) -> Any:
        many = tf.shape(x)[0] > 2
        return tf.cond(many, lambda: tf.nn.relu(x), lambda: x - 1.0)

    _ANY.check(function, rand(rows, 3), dynamic=True)


def test_a_loop_of_known_length() -> None:
    def function(x: Any) -> Any:
        results = tf.TensorArray(tf.float32, size=tf.shape(x)[0])
        state = tf.zeros_like(x[0])

        def step(i: Any, state: Any, results: Any) -> Any:
            state = tf.tanh(state * 0.5 + x[i])
            return i + 1, state, results.write(i, state)

        _, state, results = tf.while_loop(
            lambda i, *_: i < tf.shape(x)[0], step, (0, state, results)
        )
        return state, results.stack()

    _ANY.check(function, rand(5, 4))


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "SimpleRNN"])
def test_recurrent_layers_of_keras(layer: str) -> None:
    tf.keras.utils.set_random_seed(3)
    recurrent = getattr(tf.keras.layers, layer)(5, return_sequences=True)
    both = tf.keras.layers.Bidirectional(getattr(tf.keras.layers, layer)(3))
    model = tf.keras.Sequential([tf.keras.Input((6, 4)), recurrent, both])
    _ANY.check(lambda x: model(x, training=False), rand(1, 6, 4))


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_branch_that_each_run_takes(sign: int) -> None:
    def branch(x: Any) -> Any:
        def inner() -> Any:
            return tf.cond(tf.reduce_max(x) > 1, lambda: x + 1.0, lambda: x - 7.0)

        return tf.cond(tf.reduce_sum(x) > 0, inner, lambda: x * 2.0)

    _ANY.check(branch, np.abs(rand(3)) * np.float32(sign))


@pytest.mark.parametrize("size", [1, 20])
def test_a_loop_whose_rounds_each_run_counts(size: int) -> None:
    weights = rand(3, 3)

    def loop(x: Any) -> Any:
        return tf.while_loop(
            lambda i, y: tf.logical_and(tf.reduce_sum(tf.abs(y)) < 9.0, i < 30),
            lambda i, y: (i + 1, y * 1.5 + tf.tanh(tf.matmul(y, weights))),
            (0, x),
        )

    _ANY.check(loop, rand(2, 3) * np.float32(size))


def test_what_each_run_cannot_decide() -> None:
    def branch(x: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 0, lambda: x[:1], lambda: x[:2])

    with pytest.raises(UnsupportedNodesError, match="results of other shapes"):
        _ANY.check(branch, rand(3))

    def loop(x: Any) -> Any:
        return tf.while_loop(
            lambda y: tf.reduce_sum(y) < 9.0,
            lambda y: (tf.concat([y, y], 0),),
            (x,),
            shape_invariants=(tf.TensorShape([None]),),
        )[0]

    with pytest.raises(UnsupportedNodesError, match="must keep the shapes"):
        _ANY.check(loop, np.ones(3, np.float32))


def test_a_loop_without_end() -> None:
    def loop(x: Any) -> Any:
        return tf.while_loop(lambda i, _: i >= 0, lambda i, y: (i, y), (0, x))[1]

    with pytest.raises(
        UnsupportedNodesError, match="or more rounds of .* would become"
    ):
        _ANY.check(loop, np.ones(3, np.float32))


def test_rounds_of_loops_in_loops_are_refused_before_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def loop(rounds: int, x: Any) -> Any:
        def inner(i: Any, x: Any) -> tuple[Any, Any]:
            return i + 1, tf.tanh(x)

        def outer(i: Any, x: Any) -> tuple[Any, Any]:
            return i + 1, tf.while_loop(lambda i, x: i < rounds, inner, (0, x))[1]

        return tf.while_loop(lambda i, x: i < rounds, outer, (0, x))[1]

    _ANY.check(lambda x: loop(2, x), rand(3))
    monkeypatch.setattr(budget, "FLOOR_NODES", 1000)
    imported: list[int] = []
    monkeypatch.setattr(Budget, "add_nodes", lambda _, count, what: imported.append(1))
    with pytest.raises(UnsupportedNodesError, match=r"40 or more rounds of \d+ nodes"):
        _ANY.check(lambda x: loop(40, x), rand(3))
    assert not imported


def test_a_node_inside_that_cannot_be_converted_is_named() -> None:
    @tf.function  # type: ignore[untyped-decorator]
    def function(x: Any) -> Any:
        return tf.linalg.cholesky(x) + 1.0

    with pytest.raises(UnsupportedNodesError) as caught:
        _ANY.check(lambda x: function(x) * 2.0, rand(3, 3), freeze=False)
    (row,) = caught.value.nodes
    assert row.op == "Cholesky" and row.node.endswith("/Cholesky")


def test_a_function_that_is_missing() -> None:
    @tf.function  # type: ignore[untyped-decorator]
    def function(x: Any) -> Any:
        return x + 1.0

    def without(definition: Any) -> None:
        del definition.library.function[:]

    with pytest.raises(UnsupportedNodesError, match="which the file does not hold"):
        _ANY.check(lambda x: function(x), rand(3), freeze=False, edit=without)


def test_a_function_without_its_result() -> None:
    @tf.function  # type: ignore[untyped-decorator]
    def function(x: Any) -> Any:
        return x + 1.0

    def damage(definition: Any) -> None:
        for entry in definition.library.function:
            for result in entry.ret:
                entry.ret[result] = "gone:z:0"

    with pytest.raises((ImportModelError, UnsupportedNodesError)) as caught:
        _ANY.check(lambda x: function(x), rand(3), freeze=False, edit=damage)
    assert "a function reads 'gone'" in str(caught.value)


def test_loops_of_tensorflow_1(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        tf.compat.v1.disable_control_flow_v2()
        try:
            x = tf.compat.v1.placeholder(tf.float32, [3], "x0")
            y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * 2.0), (0, x))
            tf.identity(y[1], "y")
        finally:
            tf.compat.v1.enable_control_flow_v2()
    path = tmp_path / "model.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    with pytest.raises(ImportModelError, match="lower_control_flow=False"):
        import_model(
            ImportRequest(
                "m",
                path,
                (InputSpec("x0", (3,), data_format=DataFormat.NONE),),
                (OutputSpec("y:0", DataFormat.NONE),),
            )
        )


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "mul": lambda x: x * x,
    "add": lambda x: x + x,
    "cumsum": lambda x: tf.cumsum(x),
    "reduce_prod": lambda x: tf.reduce_prod(x),
    "reduce_sum": lambda x: tf.reduce_sum(x * 40000),
    "segments": lambda x: tf.math.unsorted_segment_sum(x * 40000, [0, 0], 1),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_wide_integers_fit_or_are_an_error(name: str) -> None:
    """Those of 64 bits, for which int32 stands."""
    function = _FUNCTIONS[name]
    small, large = np.array([3, 40000]), np.array([1 << 30, 1 << 30])
    if name in ("reduce_sum", "segments"):
        large = np.array([50000, 50000])
    _ANY.check(function, small)
    with pytest.raises(OverflowError, match="exceeds 32 bits"):
        _ANY.check(function, large)


@pytest.mark.parametrize("name", ["mul", "add", "reduce_sum"])
def test_int32_wraps_around(name: str) -> None:
    x = np.array([1 << 30, 1 << 30], np.int32)
    _ANY.check(_FUNCTIONS[name], x)


def test_logarithms_of_sums_of_infinities() -> None:
    inf = np.inf
    x = np.array([[-inf, -inf], [inf, 1], [-inf, 100], [2, 3]], np.float32)
    _ANY.check(lambda x: tf.reduce_logsumexp(x, 1), x)

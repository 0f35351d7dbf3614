# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""SavedModels that change variables: refused if an output depends on one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.tensorflow.testing import rand, saved_graph
from mace.python.tools.ir.evaluate import run_graph

tf = pytest.importorskip("tensorflow")

X = rand(2, 3)


class _Keeps(tf.Module):  # type: ignore[misc, name-defined]
    """Variables that runs change, and others."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = tf.Variable(np.zeros((2, 3), np.float32), name="kept")
        self.weights = tf.Variable(rand(2, 3), name="weights")
        self.count = tf.Variable(0, name="count")
        self.table = tf.Variable(np.zeros((4, 3), np.float32), name="table")

    def assigned_then_read(self, x: Any) -> Any:
        self.kept.assign(x)
        return self.kept + 1.0

    def read_then_assigned(self, x: Any) -> Any:
        before = self.kept * 2.0
        self.kept.assign_add(x)
        return before

    def in_a_function(self, x: Any) -> Any:
        @tf.function  # type: ignore[untyped-decorator]
        def inner(y: Any) -> None:
            self.kept.assign_sub(y)

        @tf.function  # type: ignore[untyped-decorator]
        def outer(y: Any) -> None:
            inner(y * 2.0)

        outer(x)
        return self.kept + x

    def in_a_branch(self, x: Any) -> Any:
        if tf.reduce_sum(x) > 0:
            self.kept.assign(x)
        return self.kept + x

    def in_a_loop(self, x: Any) -> Any:
        for _ in tf.range(3):
            self.kept.assign_add(x)
        return self.kept + 0.0

    def rows(self, x: Any) -> Any:
        self.table.scatter_update(tf.IndexedSlices(x, tf.constant([0, 2])))
        return tf.gather(self.table, [2, 1])

    def part(self, x: Any) -> Any:
        self.kept[0].assign(x[1])
        return self.kept + x

    def running_mean(self, x: Any) -> Any:
        self.count.assign_add(1)
        self.kept.assign_add((x - self.kept) / tf.cast(self.count, tf.float32))
        return tf.identity(self.kept)

    def counted(self, x: Any) -> Any:
        self.count.assign_add(1)
        return x * self.weights

    def only_measured(self, x: Any) -> Any:
        self.kept.assign(0.9 * self.kept + 0.1 * x)
        tf.print("mean", tf.reduce_mean(self.kept))
        return x * self.weights

    def in_no_branch(self, x: Any) -> Any:
        many = tf.shape(x)[0] > 2
        return tf.cond(many, lambda: self.kept.assign(x) + x, lambda: self.kept - x)


def _write(folder: Path, function: Callable[..., Any], module: Any) -> Path:
    traced = tf.function(lambda x: {"y": function(x)})
    concrete = traced.get_concrete_function(tf.TensorSpec(X.shape, name="x"))
    tf.saved_model.save(module, str(folder / "model"), signatures=concrete)
    return folder / "model"


def _import(folder: Path, outputs: Mapping[str, Any] | None = None) -> Any:
    return saved_graph(folder, {"x": X}, list(outputs or {"y": None}))


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("assigned_then_read", "kept"),
        ("read_then_assigned", "kept"),
        ("in_a_function", "kept"),
        ("in_a_branch", "kept"),
        ("in_a_loop", "kept"),
        ("rows", "table"),
        ("part", "kept"),
        ("running_mean", "kept"),
    ],
)
def test_a_variable_that_runs_change_is_refused(
    tmp_path: Path, name: str, variable: str
) -> None:
    module = _Keeps()
    folder = _write(tmp_path, getattr(module, name), module)
    with pytest.raises(UnsupportedNodesError) as raised:
        _import(folder)
    message = str(raised.value)
    assert "it changes a variable that the outputs depend on" in message
    assert f"({variable}" in message
    assert "name both in states" in message


@pytest.mark.parametrize("name", ["counted", "only_measured", "in_no_branch"])
def test_a_variable_that_no_output_depends_on(tmp_path: Path, name: str) -> None:
    module = _Keeps()
    folder = _write(tmp_path, getattr(module, name), module)
    serve = tf.saved_model.load(str(folder)).signatures["serving_default"]
    results = run_graph(_import(folder), {"x": X})
    for _ in range(2):
        wanted = serve(x=tf.constant(X))["y"].numpy()
        np.testing.assert_allclose(results["y"], wanted, 1e-6)


def test_a_function_that_no_signature_calls(tmp_path: Path) -> None:
    """As a model's training step, which is saved beside its inference."""
    module = _Keeps()
    spec = tf.TensorSpec(X.shape, name="x")

    def train(x: Any) -> Any:
        return module.weights.assign_add(x)

    def infer(x: Any) -> Any:
        return {"y": x * module.weights}

    module.train = tf.function(train, input_signature=[spec])
    serve = tf.function(infer, input_signature=[spec])
    tf.saved_model.save(module, str(tmp_path), signatures=serve)
    results = run_graph(_import(tmp_path), {"x": X})
    np.testing.assert_allclose(results["y"], X * rand(2, 3), 1e-6)


def test_a_layer_in_training(tmp_path: Path) -> None:
    """It computes with the batch's mean, and changes averages that it does not read."""
    layer = tf.keras.layers.BatchNormalization()
    layer.build((None, 3))
    module = tf.Module()
    module.variables_of_layer = [v.value for v in layer.variables]
    folder = _write(tmp_path, lambda x: layer(x, training=True), module)
    serve = tf.saved_model.load(str(folder)).signatures["serving_default"]
    wanted = serve(x=tf.constant(X))["y"].numpy()
    try:
        results = run_graph(_import(folder), {"x": X})
    except UnsupportedNodesError as error:
        assert "is_training" in str(error)
    else:
        np.testing.assert_allclose(results["y"], wanted, 1e-4, 1e-4)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("depends", [False, True])
def test_tensorflow_1(tmp_path: Path, resource: bool, depends: bool) -> None:
    tf1, folder = tf.compat.v1, tmp_path / "model"
    with tf.Graph().as_default() as graph, tf1.Session(graph=graph) as session:
        x = tf1.placeholder(tf.float32, [2, 3], name="x")
        with tf1.variable_scope("m", use_resource=resource):
            kept = tf1.get_variable("kept", initializer=np.zeros((2, 3), np.float32))
        update = tf1.assign_add(kept, x)
        with tf1.control_dependencies([update] if depends else []):
            y = tf.identity(kept.read_value() + x)
        session.run(tf1.global_variables_initializer())
        tf1.saved_model.simple_save(session, str(folder), {"x": x}, {"y": y})
    if not depends:  # then nothing runs the assignment
        np.testing.assert_allclose(run_graph(_import(folder), {"x": X})["y"], X)
        return
    with pytest.raises(UnsupportedNodesError, match=r"that the outputs depend on \(m/"):
        _import(folder)

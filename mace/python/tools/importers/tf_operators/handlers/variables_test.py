# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Variables of SavedModels, compared with TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow")
# Nothing has written the type Variable since TensorFlow 1.0.
FAMILY = Family("variables", not_made={"Variable"})


@pytest.fixture(scope="module", autouse=True)
def _every_handler_is_compared() -> Any:
    yield
    FAMILY.assert_all_tried()


class _Module(tf.Module):  # type: ignore[misc, name-defined]
    """Variables of which two have the same name, and ways to read them."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = tf.Variable(rand(3, 4), name="w")
        self.others = tf.Variable(rand(3, 4) + 1, name="w")
        self.count = tf.Variable(3, name="count")
        self.half = tf.Variable(tf.cast(rand(4), tf.bfloat16), name="half")
        self.never_read = tf.Variable(["text"])

    def read(self, x: Any, rows: Any) -> Any:
        raw = tf.raw_ops
        y = x @ self.weights + tf.cast(self.count, tf.float32)
        y = tf.where(raw.VarIsInitializedOp(resource=self.others.handle), y, 0.0)
        picked = raw.ResourceGather(
            resource=self.others.handle, indices=rows, dtype=tf.float32
        )
        places = tf.stack([rows, rows], axis=1)
        elements = raw.ResourceGatherNd(
            resource=self.weights.handle, indices=places, dtype=tf.float32
        )
        return {"y": y, "g": picked + tf.cast(self.half, tf.float32), "e": elements}


def test_variables_of_functions(tmp_path: Path) -> None:
    module, arrays = _Module(), (rand(2, 3), np.array([2, 0], np.int32))
    specs = [
        tf.TensorSpec([None, *a.shape[1:]], a.dtype, name=f"x{i}")
        for i, a in enumerate(arrays)
    ]
    function = tf.function(module.read).get_concrete_function(*specs)
    tf.saved_model.save(module, str(tmp_path), signatures=function)
    FAMILY.check_saved(tmp_path, *arrays)


@pytest.mark.parametrize("resource", [False, True])
def test_variables_of_tensorflow_1(tmp_path: Path, resource: bool) -> None:
    tf1, array = tf.compat.v1, rand(2, 3)
    with tf.Graph().as_default() as graph, tf1.Session(graph=graph) as session:
        x = tf1.placeholder(tf.float32, [None, 3], name="x0")
        with tf1.variable_scope("layer", use_resource=resource):
            w = tf1.get_variable("w", initializer=rand(3, 2))
        known = tf1.is_variable_initialized(w)
        y = tf.where(known, tf.matmul(x, w), 0.0)
        session.run(tf1.global_variables_initializer())
        folder = tmp_path / "model"
        tf1.saved_model.simple_save(session, str(folder), {"x0": x}, {"y": y})
    FAMILY.check_saved(folder, array)

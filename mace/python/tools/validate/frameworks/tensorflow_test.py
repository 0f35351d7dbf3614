# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of Keras and SavedModels as references, in this process; `launch_test.py` runs
frozen graphs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.validate.frameworks import FrameworkError, ReferenceRequest

X = np.array([[-1, 0, 1], [2, -3, 4]], dtype=np.float32)


@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_outputs_and_inner_tensors_of_keras(tmp_path: Path, ending: str) -> None:
    keras: Any = pytest.importorskip("keras")
    from mace.python.tools.validate.frameworks.keras_model import run

    shared = keras.layers.Activation("relu", name="relu")
    x = keras.Input((3,), name="x")
    y = keras.layers.Add(name="y")([shared(x), shared(keras.layers.Identity()(x))])
    path = tmp_path / f"model.{ending}"
    keras.Model(x, y).save(path)
    request = ReferenceRequest("keras", path, {"x": X}, ("y",), ("relu#1", "unknown"))
    result = run(request)
    assert set(result.tensors) == {"y", "relu#1"}
    np.testing.assert_array_equal(result.tensors["y"], 2 * np.maximum(X, 0))
    np.testing.assert_array_equal(result.tensors["relu#1"], np.maximum(X, 0))
    with pytest.raises(FrameworkError, match="no tensor 'yy' \\(near: 'y'"):
        run(ReferenceRequest("keras", path, {"x": X}, ("yy",)))
    with pytest.raises(FrameworkError, match="the model wants"):
        run(ReferenceRequest("keras", path, {"x": X.T}, ("y",)))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(FrameworkError, match="cannot read"):
        run(request)


def test_a_sequential_model(tmp_path: Path) -> None:
    keras: Any = pytest.importorskip("keras")
    from mace.python.tools.validate.frameworks.keras_model import run

    layers = [keras.Input((3,), name="x"), keras.layers.ReLU(name="y")]
    path = tmp_path / "model.keras"
    keras.Sequential(layers).save(path)
    result = run(ReferenceRequest("keras", path, {"x": X}, ("y",)))
    np.testing.assert_array_equal(result.tensors["y"], np.maximum(X, 0))


def test_names_of_the_signature_and_of_the_graph(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    from mace.python.tools.validate.frameworks.tensorflow_v1 import run

    module = tf.Module()
    module.w = tf.Variable(3.0)
    function = tf.function(lambda x: {"y": x * module.w})
    concrete = function.get_concrete_function(tf.TensorSpec([2, 3], name="x"))
    tf.saved_model.save(module, str(tmp_path), signatures=concrete)
    for name in ("y", "StatefulPartitionedCall:0"):
        request = ReferenceRequest("tensorflow", tmp_path, {"x": X}, (name,), ("no",))
        assert set(run(request).tensors) == {name}
        np.testing.assert_array_equal(run(request).tensors[name], X * 3)
    with pytest.raises(FrameworkError, match="no tensor 'yy' \\(near: 'y'"):
        run(ReferenceRequest("tensorflow", tmp_path, {"x": X}, ("yy",)))
    (tmp_path / "saved_model.pb").write_bytes(b"\xff")
    with pytest.raises(FrameworkError, match="no readable"):
        run(ReferenceRequest("tensorflow", tmp_path, {"x": X}, ("y",)))

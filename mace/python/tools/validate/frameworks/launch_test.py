# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Real frameworks in their child process, and what they refuse."""

from __future__ import annotations

import dataclasses
import importlib.util
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.errors import MissingToolError
from mace.python.tools.validate.frameworks import (
    FrameworkError,
    ReferenceRequest,
    run_reference,
)
from mace.python.tools.validate.frameworks.worker import leave_out_needless

needs_tensorflow = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None,
    reason="the optional package tensorflow is not installed",
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """y = relu(x * 2) + 1, with the inner tensors 'double' and 'relu'."""
    graph = helper.make_graph(
        [
            helper.make_node("Mul", ["x", "two"], ["double"]),
            helper.make_node("Relu", ["double"], ["relu"]),
            helper.make_node("Add", ["relu", "one"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
        [
            numpy_helper.from_array(np.float32(2), "two"),
            numpy_helper.from_array(np.float32(1), "one"),
        ],
    )
    path = tmp_path / "model.onnx"
    onnx.save(
        helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8
        ),
        path,
    )
    return path


X = np.array([[-1, 0, 1], [2, -3, 4]], dtype=np.float32)


def test_outputs_and_inner_tensors(model: Path) -> None:
    result = run_reference(
        ReferenceRequest("onnxruntime", model, {"x": X}, ("y",), ("relu", "unknown"))
    )
    relu = np.maximum(X * 2, 0)
    assert set(result.tensors) == {"y", "relu"}
    np.testing.assert_array_equal(result.tensors["y"], relu + 1)
    np.testing.assert_array_equal(result.tensors["relu"], relu)
    assert result.version.startswith("onnxruntime ")
    assert result.nodes == {"y": "Add", "relu": "Relu"}
    # The inputs were moved by one unit in the last place of each.
    varies = result.variations["relu"]
    assert 0 < varies.max_abs_error <= 8 * 2.0**-23
    assert varies.max_rel_error == varies.max_abs_error / 8


def test_a_model_that_magnifies_rounding_varies(tmp_path: Path) -> None:
    """Each step multiplies a small difference by about 3."""
    rng = np.random.default_rng(2)
    names = ["x", *(f"s{i}" for i in range(20))]
    nodes = []
    for source, target in zip(names, names[1:]):
        nodes.append(helper.make_node("MatMul", [source, "w"], [f"{target}_"]))
        nodes.append(helper.make_node("Sin", [f"{target}_"], [target], name=target))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16])],
        [helper.make_tensor_value_info(names[-1], TensorProto.FLOAT, [4, 16])],
        [
            numpy_helper.from_array(
                (1.5 * rng.standard_normal((16, 16))).astype(np.float32), "w"
            )
        ],
    )
    path = tmp_path / "chaos.onnx"
    opset = helper.make_opsetid("", 13)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), path)
    x = rng.uniform(-1, 1, (4, 16)).astype(np.float32)
    request = ReferenceRequest("onnxruntime", path, {"x": x}, (names[-1],), ("s1",))
    result = run_reference(request)
    assert result.nodes[names[-1]] == f"Sin {names[-1]}"
    assert result.variations["s1"].similarity > 0.999999
    assert result.variations[names[-1]].similarity < 0.9
    once = run_reference(dataclasses.replace(request, varied=False))
    assert once.variations == {}
    np.testing.assert_array_equal(once.tensors[names[-1]], result.tensors[names[-1]])


def test_an_inner_tensor_as_input(model: Path) -> None:
    result = run_reference(
        ReferenceRequest("onnxruntime", model, {"double": X}, ("y", "double"))
    )
    np.testing.assert_array_equal(result.tensors["y"], np.maximum(X, 0) + 1)
    np.testing.assert_array_equal(result.tensors["double"], X)


def test_inputs_take_the_type_of_the_model(model: Path) -> None:
    result = run_reference(
        ReferenceRequest("onnxruntime", model, {"x": X.astype(np.int32)}, ("y",))
    )
    assert result.tensors["y"].dtype == np.float32


def test_a_model_of_ir_version_3(model: Path) -> None:
    # Initializers are inputs as well, and one of them is read by nobody.
    proto = onnx.load(model)
    proto.ir_version = 3
    proto.graph.initializer.append(numpy_helper.from_array(np.float32(9), "unused"))
    for name in ("two", "one", "unused"):
        proto.graph.input.append(
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [])
        )
    onnx.save(proto, model)
    result = run_reference(
        ReferenceRequest("onnxruntime", model, {"x": X}, ("y",), ("relu",))
    )
    np.testing.assert_array_equal(result.tensors["y"], np.maximum(X * 2, 0) + 1)


def test_wrong_names_list_near_ones(model: Path) -> None:
    request = ReferenceRequest("onnxruntime", model, {"x": X}, ("doubel",))
    with pytest.raises(FrameworkError, match=r"'doubel' \(near: 'double'"):
        run_reference(request)


def test_an_input_that_is_not_given(model: Path) -> None:
    request = ReferenceRequest("onnxruntime", model, {}, ("y",))
    with pytest.raises(FrameworkError, match="depend on the inputs x"):
        run_reference(request)


def test_wrong_shape(model: Path) -> None:
    request = ReferenceRequest("onnxruntime", model, {"x": X.T}, ("y",))
    with pytest.raises(FrameworkError, match=r"\[3, 2\].*wants \[2, 3\]"):
        run_reference(request)


def test_no_model(tmp_path: Path) -> None:
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"not a model")
    for path in (bad, tmp_path / "absent.onnx"):
        request = ReferenceRequest("onnxruntime", path, {"x": X}, ("y",))
        with pytest.raises(FrameworkError, match=path.name):
            run_reference(request)


def test_a_crash_of_the_framework_is_an_error(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "onnxruntime"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import os, sys\nsys.stderr.write('last words')\nsys.stderr.flush()\nos.abort()"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    request = ReferenceRequest("onnxruntime", model, {"x": X}, ("y",))
    with pytest.raises(FrameworkError, match="(?s)status -6.*last words"):
        run_reference(request)


def test_a_missing_package_names_what_installs_it(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    extras = {"onnxruntime": "validate", "torch": "pytorch"}
    for framework in ("onnxruntime", "tensorflow", "tflite", "torch"):
        extra = extras.get(framework, "tensorflow")
        request = ReferenceRequest(framework, model, {"x": X}, ("y",))
        with pytest.raises(MissingToolError, match=rf"--for {extra}"):
            run_reference(request)


@needs_tensorflow
def test_tensorflow_graph(tmp_path: Path) -> None:
    # Written in the child's language, but not by it: TensorFlow must not be
    # loaded into this process.
    import subprocess
    import sys

    path = tmp_path / "graph.pb"
    code = (
        "import sys, tensorflow as tf\n"
        "tf1 = tf.compat.v1\n"
        "graph = tf.Graph()\n"
        "with graph.as_default():\n"
        "    x = tf1.placeholder(tf.float32, [2, 3], name='x')\n"
        "    relu = tf.nn.relu(x, name='relu')\n"
        "    tf.add(relu, 1.0, name='y')\n"
        "open(sys.argv[1], 'wb').write(graph.as_graph_def().SerializeToString())\n"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(path)], check=True, capture_output=True
    )
    result = run_reference(
        ReferenceRequest("tensorflow", path, {"x": X}, ("y",), ("relu", "unknown"))
    )
    assert set(result.tensors) == {"y", "relu"}
    np.testing.assert_array_equal(result.tensors["y"], np.maximum(X, 0) + 1)
    for request, message in (
        (ReferenceRequest("tensorflow", path, {"x": X}, ("z",)), "no tensor 'z'"),
        (ReferenceRequest("tensorflow", path, {"x": X.T}, ("y",)), "model wants"),
    ):
        with pytest.raises(FrameworkError, match=message):
            run_reference(request)


def test_frameworks_load_without_what_they_run_no_model_with() -> None:
    modules = {"keras": pytest, "sklearn": pytest, "numpy": pytest}
    leave_out_needless("tensorflow", modules)
    assert modules == {"keras": None, "sklearn": pytest, "numpy": pytest}
    modules = {"keras": pytest, "sklearn": pytest, "numpy": pytest}
    leave_out_needless("keras", modules)
    without = {"sklearn": None, "matplotlib": None}
    assert modules == {"keras": pytest, "numpy": pytest, **without}


@needs_tensorflow
def test_tflite_model(tmp_path: Path) -> None:
    import subprocess
    import sys

    path = tmp_path / "model.tflite"
    code = (
        "import sys, tensorflow as tf\n"
        "function = tf.function(lambda x: tf.exp(tf.nn.relu(x)) + 1.0)\n"
        "spec = tf.TensorSpec([2, 3], tf.float32, name='x')\n"
        "concrete = function.get_concrete_function(spec)\n"
        "convert = tf.lite.TFLiteConverter.from_concrete_functions\n"
        "open(sys.argv[1], 'wb').write(convert([concrete], concrete).convert())\n"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(path)], check=True, capture_output=True
    )
    result = run_reference(
        ReferenceRequest("tflite", path, {"x": X}, ("Identity",), ("Relu", "unknown"))
    )
    assert set(result.tensors) == {"Identity", "Relu"}
    expected = np.exp(np.maximum(X, 0)) + 1
    np.testing.assert_allclose(result.tensors["Identity"], expected, rtol=1e-5)
    other = path.with_name("other.tflite")
    other.write_bytes(b"not a model")
    for request, message in (
        (ReferenceRequest("tflite", path, {"x": X}, ("z",)), "no tensor 'z'"),
        (ReferenceRequest("tflite", path, {"Relu": X}, ("Identity",)), "inner tensor"),
        (ReferenceRequest("tflite", other, {"x": X}, ("y",)), "cannot read"),
    ):
        with pytest.raises(FrameworkError, match=message):
            run_reference(request)

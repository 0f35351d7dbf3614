# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs that are the same in every run, of every framework."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from mace.python.tools.importers.caffe.testing import write_net
from mace.python.tools.importers.frame.constants import fit_constants
from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodesError,
)
from mace.python.tools.importers.frame.opened import load_framework
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputConstant,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx.testing import (
    make_model,
    normal,
    run_onnxruntime,
)
from mace.python.tools.importers.pytorch.testing import (
    Spec,
    new_entries,
    node,
    tensor,
    write_archive,
)
from mace.python.tools.importers.tensorflow.testing import frozen
from mace.python.tools.importers.tflite.testing import converted, interpreted
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat, Graph

_X = normal(2, 8)
_RATES = (16000, 8000)


def _imported(
    framework: str,
    path: Path,
    passed: Mapping[str, Array],
    constants: Mapping[str, Any],
    outputs: tuple[str, ...],
    weights: Path | None = None,
) -> Graph:
    return load_framework(framework).import_model(
        ImportRequest(
            "model",
            path,
            tuple(
                InputSpec(n, a.shape, DataType.of(a.dtype), DataFormat.NONE)
                for n, a in passed.items()
            ),
            tuple(OutputSpec(name, DataFormat.NONE) for name in outputs),
            weights,
            constants={n: InputConstant(np.asarray(v)) for n, v in constants.items()},
        )
    )


def _check(graph: Graph, inputs: Mapping[str, Array], wanted: list[Any]) -> None:
    assert [value.name for value in graph.inputs] == list(inputs)
    found = run_graph(graph, inputs)
    for value, expected in zip(graph.outputs, wanted):
        np.testing.assert_allclose(found[value.name], expected, 2e-5, 2e-5)


def _branch(name: str, *nodes: onnx.NodeProto) -> onnx.GraphProto:
    info = onnx.ValueInfoProto(name=nodes[-1].output[0])
    info.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    return helper.make_graph(list(nodes), name, [], [info])


def _rate_net() -> onnx.ModelProto:
    """A network whose branch for another rate cannot compute inputs of this length."""
    other = _branch(
        "other",
        helper.make_node("Reshape", ["x", "seven"], ["r"]),
        helper.make_node("Tanh", ["r"], ["no"]),
    )
    nodes = [
        helper.make_node("Equal", ["sr", "rate"], ["is_rate"]),
        helper.make_node(
            "If",
            ["is_rate"],
            ["z"],
            then_branch=_branch("then", helper.make_node("Sigmoid", ["x"], ["yes"])),
            else_branch=other,
        ),
        helper.make_node("Mul", ["z", "z"], ["y"]),
    ]
    inputs = {"x": _X, "sr": np.array(16000)}
    fixed = {"rate": np.array(16000), "seven": np.array([-1, 7])}
    model = make_model(nodes, inputs, ["y"], fixed)
    # ONNX Runtime refuses what it knows to be wrong.
    for index, dim in enumerate(model.graph.input[0].type.tensor_type.shape.dim):
        dim.dim_param = f"d{index}"
    return model


def test_a_condition_is_decided_in_onnx(tmp_path: Path) -> None:
    model = _rate_net()
    path = tmp_path / "net.onnx"
    onnx.save(model, path)
    graph = _imported("onnx", path, {"x": _X}, {"sr": 16000}, ("y",))
    assert "Where" not in {op.type for op in graph.ops}
    wanted = run_onnxruntime(model, {"x": _X, "sr": np.array(16000)})
    _check(graph, {"x": _X}, wanted)


def test_a_refusal_that_an_input_decides_proposes_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Of one branch it is a warning, and an error of the run that takes the branch."""
    path = tmp_path / "net.onnx"
    model = _rate_net()
    onnx.save(model, path)
    passed = {"x": _X, "sr": np.array(16000)}
    graph = _imported("onnx", path, passed, {}, ("y",))
    assert "--set sr=VALUE" in caplog.text
    assert "16 elements are no multiple of 7" in caplog.text
    _check(graph, passed, run_onnxruntime(model, passed))
    with pytest.raises(ValueError, match="--set sr=VALUE"):
        _check(graph, {**passed, "sr": np.array(8000)}, [])
    branches = {each.name: each.g for each in model.graph.node[1].attribute}
    branches["then_branch"].CopyFrom(branches["else_branch"])
    onnx.save(model, path)
    with pytest.raises(UnsupportedNodesError, match="--set sr=VALUE") as caught:
        _imported("onnx", path, passed, {}, ("y",))
    (refused,) = caught.value.nodes
    assert refused.op == "If"


def test_nothing_is_proposed_where_data_decide(tmp_path: Path) -> None:
    """A mask or a word of each run is no constant, and neither is a length."""
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Cast", ["sum"], ["count"], to=onnx.TensorProto.INT64),
        helper.make_node("Unsqueeze", ["count", "zero"], ["k"]),
        helper.make_node("TopK", ["x", "k"], ["y", ""]),
    ]
    model = make_model(nodes, {"x": _X}, ["y"], {"zero": np.array([0])})
    path = tmp_path / "net.onnx"
    onnx.save(model, path)
    with pytest.raises(UnsupportedNodesError) as caught:
        _imported("onnx", path, {"x": _X}, {}, ("y",))
    assert "--set" not in str(caught.value)


def test_shapes_and_bounds_of_inputs_in_onnx(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["r"]),
        helper.make_node("Slice", ["r", "begin", "end"], ["y"]),
    ]
    constants = {"shape": [4, 4], "begin": [1, 0], "end": [3, 3]}
    arrays = {name: np.array(value) for name, value in constants.items()}
    model = make_model(nodes, {"x": _X, **arrays}, ["y"])
    path = tmp_path / "net.onnx"
    onnx.save(model, path)
    graph = _imported("onnx", path, {"x": _X}, constants, ("y",))
    assert graph.outputs[0].shape == (2, 3)
    _check(graph, {"x": _X}, run_onnxruntime(model, {"x": _X, **arrays}))


def _by_rate(tf: Any) -> Callable[[Any, Any], Any]:
    def net(x: Any, sr: Any) -> Any:
        return tf.cond(
            tf.equal(sr, 16000),
            lambda: tf.nn.sigmoid(x) * 2.0,
            lambda: tf.tanh(tf.reshape(x, (4, 4))),
        )

    return net


@pytest.mark.parametrize("rate", _RATES)
def test_a_condition_is_decided_in_tensorflow(rate: int, tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow", reason="it is the reference here")
    spec = tf.TensorSpec
    specs = (spec((2, 8), tf.float32, "x"), spec((), tf.int64, "sr"))
    net = tf.function(_by_rate(tf), input_signature=specs)
    definition = frozen(net.get_concrete_function())
    path = tmp_path / "net.pb"
    path.write_bytes(definition.graph.as_graph_def().SerializeToString())
    about = load_framework("tensorflow").open(path).describe()
    (output,) = (t.name for t in about.outputs)
    graph = _imported("tensorflow", path, {"x": _X}, {"sr": rate}, (output,))
    assert graph.inputs[0].source == "x:0"
    _check(graph, {"x": _X}, [net(_X, tf.constant(rate, tf.int64)).numpy()])
    passed = {"x": _X, "sr": np.array(rate)}
    with pytest.raises(UnsupportedNodesError, match="--set sr=VALUE"):
        _imported("tensorflow", path, passed, {}, (output,))


@pytest.mark.parametrize("rate", _RATES)
def test_a_condition_is_decided_in_tflite(rate: int, tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow", reason="it is the reference here")
    arrays = (_X, np.array(rate, np.int64))
    data = converted(_by_rate(tf), arrays)
    path = tmp_path / "net.tflite"
    path.write_bytes(data)
    about = load_framework("tflite").open(path).describe()
    x, sr = (t.name for t in about.inputs)
    outputs = tuple(t.name for t in about.outputs)
    graph = _imported("tflite", path, {x: _X}, {sr: rate}, outputs)
    _check(graph, {x: _X}, interpreted(data, arrays))
    with pytest.raises(UnsupportedNodesError, match=f"--set {sr}=VALUE"):
        _imported("tflite", path, {x: _X, sr: arrays[1]}, {}, outputs)


def test_an_input_of_keras_is_a_constant(tmp_path: Path) -> None:
    keras = pytest.importorskip("keras", reason="it writes the file")
    x, gain = keras.Input((8,), name="x"), keras.Input((8,), name="gain")
    y = keras.layers.Multiply(name="y")([x, gain])
    model = keras.Model([x, gain], y)
    path = tmp_path / "net.keras"
    model.save(path)
    factors = normal(2, 8, seed=3)
    graph = _imported("keras", path, {"x": _X}, {"gain": factors}, ("y",))
    assert graph.inputs[0].source == "x"
    _check(graph, {"x": _X}, [_X * factors])


def test_an_input_of_caffe_is_a_constant(tmp_path: Path) -> None:
    text = "".join(
        f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param '
        "{ shape { dim: 2 dim: 8 } } }\n"
        for name in ("x", "bias")
    )
    text += 'layer { name: "y" type: "Eltwise" bottom: "x" bottom: "bias" top: "y" }'
    model, weights = write_net(tmp_path, text)
    bias = normal(2, 8, seed=3)
    graph = _imported("caffe", model, {"x": _X}, {"bias": bias}, ("y",), weights)
    _check(graph, {"x": _X}, [_X + bias])


def test_an_argument_of_pytorch_is_a_constant(tmp_path: Path) -> None:
    taken = np.array([3, 1])
    spec = Spec(
        inputs={"x": _X, "taken": taken},
        nodes=[
            node(
                "aten.index_select.default",
                ["y"],
                self=tensor("x"),
                dim={"as_int": 1},
                index=tensor("taken"),
            )
        ],
        outputs=["y"],
        results={"y": _X[:, taken]},
    )
    path = tmp_path / "net.pt2"
    write_archive(path, new_entries(spec))
    graph = _imported("pytorch", path, {"x": _X}, {"taken": taken}, ("y",))
    _check(graph, {"x": _X}, [_X[:, taken]])


def _twice_or_wrong(rate: Any) -> Spec:
    """x + x if the rate is 16000; else something that MACE has no operator for."""

    def branch(name: str, target: str) -> Any:
        graph = {
            "inputs": [tensor("a")],
            "outputs": [tensor("r")],
            "nodes": [node(target, ["r"], self=tensor("a"), other=tensor("a"))],
            "tensor_values": {},
        }
        return {"as_graph": {"name": name, "graph": graph}}

    choice = node("higher_order.cond", ["z"])
    arguments = (
        tensor("c"),
        branch("yes", "aten.add.Tensor"),
        branch("no", "aten.nonsense.default"),
        {"as_tensors": [{"name": "x"}]},
    )
    choice["inputs"] = [{"name": "", "arg": arg, "kind": 1} for arg in arguments]
    equal = {"self": tensor("sr"), "other": {"as_int": 16000}}
    return Spec(
        inputs={"x": _X, "sr": np.array(rate)},
        nodes=[
            node("aten.eq.Scalar", ["c"], **equal),
            choice,
            node("aten.neg.default", ["y"], self=tensor("z")),
        ],
        outputs=["y"],
        results={"c": np.array(True), "z": _X, "y": _X},
    )


def test_a_condition_is_decided_in_pytorch(tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    write_archive(path, new_entries(_twice_or_wrong(16000)))
    graph = _imported("pytorch", path, {"x": _X}, {"sr": 16000}, ("y",))
    _check(graph, {"x": _X}, [-2 * _X])
    with pytest.raises(UnsupportedNodesError, match=r"it computes aten\.nonsense"):
        _imported("pytorch", path, {"x": _X}, {"sr": 8000}, ("y",))
    passed = {"x": _X, "sr": np.array(8000)}
    # Otherwise it is an error of a run.
    graph = _imported("pytorch", path, passed, {}, ("y",))
    _check(graph, {"x": _X, "sr": np.array(16000)}, [-2 * _X])
    with pytest.raises(ValueError, match=r"nonsense.*--set sr=VALUE"):
        _check(graph, passed, [])


@pytest.mark.parametrize("rate", _RATES)
def test_an_exported_program_takes_the_branch(rate: int, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    class Net(torch.nn.Module):  # type: ignore[name-defined,misc]
        def forward(self, x: Any, sr: Any) -> Any:
            return torch.cond(sr == 16000, lambda x: x * 2, torch.tanh, (x,))

    module, given = Net().eval(), torch.from_numpy(_X)
    exported = torch.export.export(module, (given, torch.tensor(rate)))
    path = tmp_path / "net.pt2"
    torch.export.save(exported, str(path))
    about = load_framework("pytorch").open(path).describe()
    (output,) = (t.name for t in about.outputs)
    graph = _imported("pytorch", path, {"x": _X}, {"sr": rate}, (output,))
    wanted = [module(given, torch.tensor(rate)).numpy()]
    _check(graph, {"x": _X}, wanted)
    passed = {"x": _X, "sr": np.array(rate)}
    _check(_imported("pytorch", path, passed, {}, (output,)), passed, wanted)


_ABOUT = ModelDescription(
    "ONNX",
    DataFormat.NCHW,
    (
        TensorDescription("x", ("N", 8), DataType.FLOAT32),
        TensorDescription("sr", (), DataType.INT64),
        TensorDescription("flag", (1, None), DataType.BOOL),
        TensorDescription("small", (2,), DataType.UINT8),
        TensorDescription("any"),
    ),
    (TensorDescription("y"),),
    {},
)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("sr", 16000, np.array(16000)),
        ("sr", np.float32(3), None),
        ("sr", True, None),
        ("sr", [16000], None),
        ("sr", 1 << 62, np.array(1 << 62)),
        ("flag", 1, np.array([[True]])),
        ("flag", [[True, False]], np.array([[True, False]])),
        ("flag", 2, None),
        ("small", [1, 255], np.array([1, 255], np.uint8)),
        ("small", [1, 256], None),
        ("small", [1, 2, 3], None),
        ("x", np.ones((3, 8), int), np.ones((3, 8), np.float32)),
        ("x", np.full((1, 8), 1e300), None),
        ("x", np.full((1, 8), np.inf), np.full((1, 8), np.inf, np.float32)),
        ("any", 0.5, np.array(0.5, np.float32)),
        ("any", [1, 2], np.array([1, 2])),
    ],
)
def test_types_and_shapes_are_the_inputs(
    name: str, value: Any, wanted: Array | None
) -> None:
    given = {name: InputConstant(np.asarray(value), "--set")}
    if wanted is None:
        with pytest.raises(ImportModelError, match=f"^--set: '{name}' is "):
            fit_constants(given, _ABOUT, "net.onnx")
        return
    found = fit_constants(given, _ABOUT, "net.onnx")[name].array
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(found, wanted)


def test_all_wrong_constants_are_told_at_once() -> None:
    given = {
        "y": InputConstant(np.array(1)),
        "rate": InputConstant(np.array(1), "--set"),
        "sr": InputConstant(np.array(0.5)),
        "x": InputConstant(np.ones((1, 8))),
    }
    with pytest.raises(ImportModelError) as caught:
        fit_constants(given, _ABOUT, "net.onnx", ["x"])
    assert str(caught.value).split("\n") == [
        "constants: 'y' is an output of net.onnx, not an input",
        "--set: 'rate' is no input of net.onnx (a wrong name, or a tensor inside of "
        "it); its inputs: x, sr, flag, small, any",
        "constants: 'sr' is 0.5, and the input is int64 []",
        "constants: 'x' is in input_tensors as well; name it in one of both",
    ]


def test_types_are_as_given_where_the_model_does_not_say() -> None:
    given = {"sr": InputConstant(np.array(1)), "gain": InputConstant(np.array(0.5))}
    found = fit_constants(given, None, "net.pt")
    assert [str(item.array.dtype) for item in found.values()] == ["int64", "float32"]


def test_one_input_is_left() -> None:
    about = ModelDescription("ONNX", DataFormat.NCHW, _ABOUT.inputs[1:2], (), {})
    given = {"sr": InputConstant(np.array(1))}
    with pytest.raises(ImportModelError, match=r"every input of net\.onnx"):
        fit_constants(given, about, "net.onnx")

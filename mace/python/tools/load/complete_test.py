# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What deployments take from their models, and what is said of models that say less."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import yaml
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.cli.main import main
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.values import Constant
from mace.python.tools.convert.convert import convert_deployment
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.custom_ops import custom_folders, use_custom_ops
from mace.python.tools.errors import MaceError, UsageError
from mace.python.tools.importers.caffe.testing import write_net
from mace.python.tools.load.complete import Completion
from mace.python.tools.load.deployments import Loaded, deployment_of, of_files
from mace.python.tools.load.inferred import deployment_text, with_inferred_outputs
from mace.python.tools.proto import load_proto

_DIMS = {"batch": 2, "x[3]": 6}


_OPERATORS = Path(__file__).resolve().parents[3] / "examples/custom_op/operators"


def _onnx(folder: Path) -> Path:
    """A convolution of x [batch, 3, 5, ?], and the indices ids [batch] as they are."""
    weights = np.ones((4, 3, 3, 3), np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["inner"]),
        helper.make_node("Relu", ["inner"], ["y"]),
        helper.make_node("Cast", ["ids"], ["indices"], to=TensorProto.INT32),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [
            info("x", TensorProto.FLOAT, ["batch", 3, 5, None]),
            info("ids", TensorProto.INT64, ["batch"]),
        ],
        [
            info("y", TensorProto.FLOAT, None),
            info("indices", TensorProto.INT32, ["batch"]),
        ],
        [numpy_helper.from_array(weights, "w")],
    )
    path = folder / "net.onnx"
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def _of_files(*paths: Path, dims: Mapping[str, int] | None = None) -> Deployment:
    return with_inferred_outputs(_load(*paths, dims=dims or {}))


def _load(*paths: Path, dims: Mapping[str, int]) -> Loaded:
    return of_files([str(path) for path in paths], Completion(dims))


def _of_text(
    path: Path, subgraph: str = "", dims: Mapping[str, int] = _DIMS
) -> Deployment:
    text = f"""
library_name: l
target_abis: host
models:
  m:
    model_file_path: {path}
    runtime: cpu
{subgraph}"""
    completion = Completion(dims)
    deployment = load_deployment_text(text, complete=completion)
    return with_inferred_outputs(Loaded(deployment, completion.opened))


def _sides(deployment: Deployment) -> list[tuple[Any, ...]]:
    (model,) = deployment.models.values()
    return [
        (t.name, t.shape, t.data_type.value, t.data_format.value)
        for t in (*model.whole.inputs, *model.whole.outputs)
    ]


def test_a_model_alone(tmp_path: Path) -> None:
    deployment = _of_files(_onnx(tmp_path), dims=_DIMS)
    assert _sides(deployment) == [
        ("x", (2, 3, 5, 6), "float32", "NCHW"),
        ("ids", (2,), "int32", "NONE"),
        ("y", (2, 4, 3, 4), "float32", "NCHW"),
        ("indices", (2,), "int32", "NONE"),
    ]
    assert deployment.library_name == "net"
    assert deployment.models["net"].platform.value == "onnx"


@pytest.mark.parametrize(("infer", "wanted"), [(False, (5, 3)), (True, (2, 3))])
def test_a_file_may_declare_an_old_shape(
    infer: bool, wanted: tuple[int, ...], tmp_path: Path
) -> None:
    """A deployment file that is written has the shape that the model makes."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [info("x", TensorProto.FLOAT, [2, 3])],
        [info("y", TensorProto.FLOAT, [5, 3])],
    )
    path = tmp_path / "net.onnx"
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    loaded = _load(path, dims={})
    deployment = with_inferred_outputs(loaded) if infer else loaded.deployment
    assert _sides(deployment)[-1][1] == wanted


def test_each_run_may_decide(tmp_path: Path) -> None:
    deployment = _of_files(_onnx(tmp_path), dims={"batch": -1, "x[3]": -1})
    shapes = [shape for _, shape, _, _ in _sides(deployment)]
    assert shapes == [(-1, 3, 5, -1), (-1,), (-1, 4, 3, -1), (-1,)]


def test_a_file_may_leave_out_what_the_model_says(tmp_path: Path) -> None:
    path = _onnx(tmp_path)
    assert _sides(_of_text(path)) == _sides(_of_files(path, dims=_DIMS))


def test_operators_of_the_users_own_are_known(tmp_path: Path) -> None:
    node = helper.make_node("MMCVCornerPool", ["x"], ["y"], domain="mmcv", mode=0)
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node],
        "g",
        [info("x", TensorProto.FLOAT, [1, 2, 3, 4])],
        [info("y", TensorProto.FLOAT, None)],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("mmcv", 1)]
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    before = custom_folders()
    try:
        loaded = of_files([str(path)], Completion({}), {"custom_ops": str(_OPERATORS)})
        deployment = with_inferred_outputs(loaded)
        assert _sides(deployment)[1] == ("y", (1, 2, 3, 4), "float32", "NCHW")
    finally:
        use_custom_ops(before)


def test_what_a_file_says_stays(tmp_path: Path) -> None:
    part = """
    subgraphs:
      - input_tensors: [x]
        input_data_formats: [NHWC]
        output_tensors: [inner]
        output_data_formats: [NHWC]
"""
    assert _sides(_of_text(_onnx(tmp_path), part)) == [
        ("x", (2, 5, 6, 3), "float32", "NHWC"),
        ("inner", (2, 3, 4, 4), "float32", "NHWC"),
    ]


def test_earlier_spellings(tmp_path: Path) -> None:
    part = "    input_nodes: x\n    input_shapes: 1,5,7,3\n    output_nodes: y\n"
    assert _sides(_of_text(_onnx(tmp_path), part, {})) == [
        ("x", (1, 5, 7, 3), "float32", "NHWC"),
        ("y", (1, 4, 3, 5), "float32", "NCHW"),
    ]


@pytest.mark.parametrize(
    ("dims", "parts"),
    [
        ({}, ["x [batch, 3, 5, ?], ids [batch]", "--dims=batch=1,x[3]=1"]),
        ({"batch": 1}, ["--dims=batch=1,x[3]=1"]),
        ({**_DIMS, "width": 4}, ["no open dimension 'width'", "batch or x[3]"]),
    ],
)
def test_open_dimensions_are_asked_for(
    dims: dict[str, int], parts: list[str], tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        _of_files(_onnx(tmp_path), dims=dims)
    for part in parts:
        assert part in str(caught.value)


def _of_dims(folder: Path, *shapes: list[int | str]) -> Path:
    """A model that adds a number to each of its inputs of these shapes."""
    info, kind = helper.make_tensor_value_info, TensorProto.FLOAT
    sides = [
        [info(f"{name}{i}", kind, shape) for i, shape in enumerate(shapes)]
        for name in ("x", "y")
    ]
    nodes = [helper.make_node("Relu", [f"x{i}"], [f"y{i}"]) for i in range(len(shapes))]
    path = folder / "net.onnx"
    graph = helper.make_graph(nodes, "g", *sides)
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


@pytest.mark.parametrize(
    ("dims", "asked"),
    [
        # A sum follows from its parts, and what is no single word has another name.
        ({}, "--dims=past=1,x1[1]=1,new=1 "),
        ({"past": 2, "x1[1]": 3}, "--dims=past=2,x1[1]=3,new=1 "),
        ({"new": -1}, "--dims=new=-1,past=1,x1[1]=1 "),
    ],
)
def test_names_that_no_flag_can_have(
    dims: dict[str, int], asked: str, tmp_path: Path
) -> None:
    path = _of_dims(tmp_path, ["past + new", "8"], ["past", "(a, b)//2"], ["new"])
    with pytest.raises(UsageError) as caught:
        _of_files(path, dims=dims)
    assert asked in str(caught.value)


def test_dimensions_that_follow_from_others(tmp_path: Path) -> None:
    path = _of_dims(
        tmp_path, ["past + new", "8"], ["9 - past", "3*new"], ["past", "new"]
    )

    def shapes(**dims: int) -> list[Any]:
        return [shape for _, shape, *_ in _sides(_of_files(path, dims=dims))[:3]]

    assert shapes(past=2, new=1) == [(3, 8), (7, 3), (2, 1)]
    assert shapes(past=-1, new=1) == [(-1, 8), (-1, 3), (-1, 1)]
    with pytest.raises(UsageError, match=r"x1\[0\] is 9 - past, -1 with .*'past': 10"):
        shapes(past=10, new=1)


def test_a_deployment_file_that_can_be_gone_on_with(tmp_path: Path) -> None:
    deployment = _of_files(_onnx(tmp_path), dims=_DIMS)
    again = load_deployment_text(deployment_text(deployment))
    assert _sides(again) == _sides(deployment)
    assert again.library_name == deployment.library_name
    ours, read = deployment.models["net"], again.models["net"]
    assert read.model_file_path.location == ours.model_file_path.location
    assert read.hints() == ours.hints()


def test_caffe(tmp_path: Path) -> None:
    text = """
layer { name: "in" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 4
  dim: 5 } } }
layer { name: "a" type: "ReLU" bottom: "x" top: "a" }
layer { name: "b" type: "Sigmoid" bottom: "a" top: "b" }
"""
    net, weights = write_net(tmp_path, text)
    expected = [
        ("x", (1, 3, 4, 5), "float32", "NCHW"),
        ("b", (1, 3, 4, 5), "float32", "NCHW"),
    ]
    assert _sides(_of_files(weights, net)) == expected
    beside = net.with_suffix(".caffemodel")
    if beside != weights:
        weights.rename(beside)
    assert _sides(_of_files(net)) == expected
    beside.unlink()
    with pytest.raises(UsageError, match="needs its weights"):
        _of_files(net)


def _graph_def(folder: Path, known: bool = True) -> Path:
    messages = load_proto("mace/python/tools/importers/tensorflow/graph_def.proto")
    graph = messages.GraphDef()
    source = graph.node.add(name="x", op="Placeholder")
    source.attr["dtype"].type = 1
    if known:
        for size in (-1, 4, 4, 3):
            source.attr["shape"].shape.dim.add(size=size)
    result = graph.node.add(name="y", op="Relu", input=["x"])
    result.attr["T"].type = 1
    graph.node.add(name="done", op="NoOp", input=["^y"])
    path = folder / "net.pb"
    path.write_bytes(graph.SerializeToString())
    return path


def test_tensorflow(tmp_path: Path) -> None:
    deployment = _of_files(_graph_def(tmp_path), dims={"x[0]": 1})
    assert _sides(deployment) == [
        ("x", (1, 4, 4, 3), "float32", "NHWC"),
        ("y", (1, 4, 4, 3), "float32", "NHWC"),
    ]


def test_a_wrong_name_is_answered_with_names_and_shapes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "net.yml"
    config.write_text(
        "library_name: net\ntarget_abis: host\nmodels:\n  net:\n"
        f"    model_file_path: {_graph_def(tmp_path)}\n"
        "    platform: tensorflow\n    runtime: cpu\n"
        "    input_tensors: image\n    input_shapes: 1,4,4,3\n"
        "    output_tensors: y\n    output_shapes: 1,4,4,3\n"
    )
    assert main(["convert", f"--config={config}", f"--build_dir={tmp_path}/b"]) == 2
    message = capsys.readouterr().err
    assert "net.yml:8: input_tensors: " in message
    assert "has no tensor 'image'" in message
    assert "inputs of the model: x [?, 4, 4, 3]; outputs: y" in message


def test_a_shape_that_no_file_says(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not say the shape of x"):
        _of_files(_graph_def(tmp_path, known=False))


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["a.xyz"], "a.xyz: no such file"),
        ([__file__], "neither the end of its name nor its contents"),
        (["a.onnx", "b.onnx"], "the file of one model"),
        (["a.caffemodel"], "the file of one model"),
    ],
)
def test_names_that_tell_nothing(names: list[str], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        deployment_of(names)


def test_contents_tell_what_the_name_does_not(tmp_path: Path) -> None:
    model = _onnx(tmp_path)
    unnamed = model.rename(tmp_path / "net.bin")
    models = deployment_of([str(unnamed)])["models"]
    assert models["net"]["platform"] == "onnx"
    misnamed = unnamed.rename(tmp_path / "net.tflite")
    with pytest.raises(UsageError, match="is an ONNX model, which the end of its name"):
        deployment_of([str(misnamed)])


def test_what_is_missing_is_told_of_the_model(tmp_path: Path) -> None:
    with pytest.raises(MaceError, match="no such file"):
        _of_text(tmp_path / "absent.onnx")
    with pytest.raises(MaceError, match="subgraphs"):
        # Several parts of a model have to be named.
        _of_text(_onnx(tmp_path), "    subgraphs: [{name: a}, {name: b}]\n")


def test_what_is_missing_is_told_with_all_else(tmp_path: Path) -> None:
    """A model that is not there hides nothing else, and asks for nothing that it says
    itself.
    """
    with pytest.raises(MaceError) as caught:
        load_deployment_text(
            "library_name: net\ntarget_abis: [riscv]\nmodels:\n"
            "  near:\n    model_file_path: near.onnx\n    runtime: tpu\n"
            "  far:\n    model_file_path: far.onnx\n    runtime: cpu\n"
            "  odd:\n    model_file_path: odd.onnx\n    runtime: cpu\n"
            "    input_tensors: x\n    input_shapes: 1,a\n",
            complete=Completion({}),
        )
    message = str(caught.value)
    assert message.startswith("5 problems in ")
    for part in ("near.onnx: no such", "far.onnx: no such", "riscv", "tpu", "1,a"):
        assert part in message
    assert "is missing" not in message


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = _onnx(tmp_path)
    dims = "--dims=batch=1,x[3]=6"
    assert main(["init", str(model), dims]) == 0
    config = tmp_path / "net.yml"
    config.write_text(capsys.readouterr().out)
    loaded = yaml.safe_load(config.read_text())
    assert loaded["models"]["net"]["subgraphs"][0]["input_tensors"] == ["x", "ids"]
    for what in (str(config), f"--config={config}"):
        assert main(["convert", what, f"--build_dir={tmp_path / 'a'}"]) == 0
    folder = tmp_path / "b"
    assert main(["convert", str(model), dims, f"--build_dir={folder}"]) == 0
    written = [path / "net/model/net.pb" for path in (tmp_path / "a", folder)]
    assert written[0].read_bytes() == written[1].read_bytes()
    assert main(["convert", str(model), f"--build_dir={folder}"]) == 2
    assert "--dims=batch=1,x[3]=1" in capsys.readouterr().err
    # The example has what is right already.
    assert main(["init", str(model), "--dims=batch=7", "--dims=x[3]=6"]) == 0
    assert "7,3,5,6" in capsys.readouterr().out
    assert main(["init", str(model), "--dims=batch=7"]) == 2
    assert "--dims=batch=7,x[3]=1 " in capsys.readouterr().err


def _model(folder: Path, outputs: list[Any], inputs: list[Any] | None = None) -> Path:
    """Relu of x [2, 3], and the part of it that is empty."""
    nodes = [
        helper.make_node("Relu", ["x"], ["y"]),
        helper.make_node("Slice", ["y", "zero", "zero"], ["nothing"]),
    ]
    info = helper.make_tensor_value_info
    given = [("x", (2, 3))] if inputs is None else inputs
    zero = [numpy_helper.from_array(np.array([0]), "zero")]
    if not given:
        zero.append(numpy_helper.from_array(np.ones((2, 3), np.float32), "x"))
    graph = helper.make_graph(
        nodes,
        "g",
        [info(name, TensorProto.FLOAT, shape) for name, shape in given],
        [info(name, TensorProto.FLOAT, shape) for name, shape in outputs],
        zero,
    )
    path = folder / "net.onnx"
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def test_an_old_shape_of_an_output_in_the_models_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _model(tmp_path, [("y", (5, 3))])
    build = f"--build_dir={tmp_path / 'build'}"
    assert main(["convert", str(path), build]) == 0
    told = capsys.readouterr()
    assert "its file declares [5, 3] for the output y, which is [2, 3]" in (
        " ".join((told.out + told.err).split())
    )
    config = tmp_path / "net.yml"
    for said, status in (("", 0), ("output_shapes: 5,3", 2)):
        config.write_text(f"""
library_name: l
target_abis: host
models:
  m:
    model_file_path: {path}
    runtime: cpu
    subgraphs:
      - output_tensors: y
        {said}
""")
        assert main(["convert", f"--config={config}", build]) == status
    told = capsys.readouterr()
    assert "output_shapes says [5, 3]" in " ".join((told.out + told.err).split())


@pytest.mark.parametrize(
    ("outputs", "kept"),
    [
        ([("y", (2, 3)), ("x", (2, 3))], ["y"]),
        ([("y", (2, 3)), ("y", (2, 3))], ["y"]),
    ],
    ids=["an input", "twice"],
)
def test_outputs_that_the_application_has(
    outputs: list[Any], kept: list[str], tmp_path: Path
) -> None:
    deployment = _of_files(_model(tmp_path, outputs))
    assert list(deployment.models["net"].whole.output_tensors) == kept


@pytest.mark.parametrize(
    ("outputs", "inputs", "message"),
    [
        ([("x", (2, 3))], None, "net.onnx computes nothing: it returns its inputs x"),
        ([("y", (2, 3))], [], "net.onnx has no inputs: it computes the same"),
        ([("y", (0, 3))], [("x", (0, 3))], "the input x has a dimension of length 0"),
        ([("nothing", None)], None, "the output nothing has a dimension of length 0"),
    ],
)
def test_models_without_anything_to_compute(
    outputs: list[Any],
    inputs: list[Any] | None,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = _model(tmp_path, outputs, inputs)
    with pytest.raises(UsageError, match=message) as caught:
        _of_files(path)
    for key in ("_tensors", "_shapes", "deployment"):
        assert key not in str(caught.value)
    assert main(["convert", str(path), f"--build_dir={tmp_path / 'build'}"]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


_IDS = {"ids": Constant([1, 2], key="--set")}


def test_inputs_that_are_constants(tmp_path: Path) -> None:
    """Neither the application nor the deployment file names them."""
    loaded = of_files([str(_onnx(tmp_path))], Completion(_DIMS, constants=_IDS))
    deployment = with_inferred_outputs(loaded)
    assert [side[0] for side in _sides(deployment)] == ["x", "y", "indices"]
    text = deployment_text(deployment)
    assert yaml.safe_load(text)["models"]["net"]["subgraphs"][0]["constants"] == {
        "ids": [1, 2]
    }
    again = load_deployment_text(text)
    assert again.models["net"].whole.constants == {"ids": Constant([1, 2])}


@pytest.mark.parametrize("key", ["constants", "inputs"])
def test_constants_of_a_model(key: str, tmp_path: Path) -> None:
    """Those of a command line come before those of the file."""
    path = _onnx(tmp_path)
    text = f"    {key}: {{ids: [3, 4]}}"
    deployment = _of_text(path, text)
    assert [side[0] for side in _sides(deployment)] == ["x", "y", "indices"]
    assert deployment.models["m"].whole.constants == {"ids": Constant([3, 4])}
    whole = "library_name: l\ntarget_abis: host\nmodels:\n  m:\n    runtime: cpu\n"
    whole += f"    model_file_path: {path}\n{text}\n"
    replaced = load_deployment_text(whole, complete=Completion(_DIMS, constants=_IDS))
    assert replaced.models["m"].whole.constants == _IDS


@pytest.mark.parametrize(
    ("subgraph", "problem"),
    [
        (
            "constants: {ids: [1, 2], y: 1}, input_tensors: [x, ids]",
            "models.m.subgraphs[0].constants: 'ids' is in input_tensors as well",
        ),
        ("constants: {ids: fast}", "constants.ids: found 'fast', accepted: a number"),
        ("constants: {ids: [[1], 2]}", "constants.ids: found a list, accepted"),
        ("constants: {ids: [1, 2, 3.5]}", "constants: 'ids' is of type float64, and"),
        ("constants: {ids: no.npy}", "constants.ids: no.npy: no such file"),
        ("constants: [ids]", "constants: found a list, accepted: a mapping such as"),
        ("constants: {id: 1, y: 2}", "constants: 'y' is an output of "),
    ],
)
def test_constants_that_a_model_cannot_have(
    subgraph: str, problem: str, tmp_path: Path
) -> None:
    path = _onnx(tmp_path)
    with pytest.raises(MaceError) as caught:
        deployment = _of_text(path, f"    subgraphs: [{{{subgraph}}}]")
        convert_deployment(deployment, ConvertOptions(build_dir=tmp_path))
    assert problem in str(caught.value), caught.value
    assert ":8: " in str(caught.value)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the importer says about files, names and shapes that do not fit."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodesError,
)
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.frame.testing import request_for
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    compare,
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize

_X = normal(1, 3, 8, 10)


def _network() -> onnx.ModelProto:
    nodes = [
        onnx.helper.make_node("Conv", ["image", "w"], ["conv_1"], name="c1"),
        onnx.helper.make_node("Relu", ["conv_1"], ["relu_1"], name="r1"),
        onnx.helper.make_node("GlobalAveragePool", ["relu_1"], ["prob"], name="p"),
    ]
    weights = {"w": normal(64, 3, 3, 3)}
    return make_model(nodes, {"image": _X}, ["prob"], weights, opset=13)


def _write(model: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "net.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def _request(
    path: Path,
    inputs: tuple[InputSpec, ...] = (InputSpec("image", (1, 8, 10, 3)),),
    outputs: tuple[OutputSpec, ...] = (OutputSpec("prob"),),
) -> ImportRequest:
    return ImportRequest("net", path, inputs, outputs)


def _message(request: ImportRequest) -> str:
    with pytest.raises(MaceError) as caught:
        import_model(request)
    return str(caught.value)


def test_shapes_are_the_users(tmp_path: Path) -> None:
    graph = import_model(_request(_write(_network(), tmp_path)))
    assert graph.inputs[0].shape == (1, 3, 8, 10)
    assert graph.formats == {"image": DataFormat.NCHW, "prob": DataFormat.NCHW}
    assert [value.name for value in graph.outputs] == ["prob"]
    assert graph.framework == "onnx"


def test_values_know_their_framework_names(tmp_path: Path) -> None:
    graph = import_model(_request(_write(_network(), tmp_path)))
    sources = {value.source for op in graph.ops for value in op.outputs}
    assert sources == {"conv_1", "relu_1", "prob"}


@pytest.mark.parametrize("asked", [DataType.FLOAT32, DataType.INT16, DataType.INT32])
def test_integers_of_16_bits_at_the_border(asked: DataType, tmp_path: Path) -> None:
    """Sound, as it is recorded and played; float32 stands for the model's own type."""
    nodes = [
        onnx.helper.make_node("Cast", ["pcm"], ["x"], to=onnx.TensorProto.FLOAT),
        onnx.helper.make_node("Mul", ["x", "k"], ["louder"]),
        onnx.helper.make_node("Cast", ["louder"], ["out"], to=onnx.TensorProto.INT16),
        onnx.helper.make_node("Add", ["pcm", "pcm"], ["twice"]),
    ]
    pcm = np.array([[-32768, -300, 0, 1, 32767]], np.int16)
    model = make_model(nodes, {"pcm": pcm}, ["out", "twice"], {"k": np.float32(0.5)})
    for value in model.graph.output:
        value.type.tensor_type.elem_type = onnx.TensorProto.INT16
    request = _request(
        _write(model, tmp_path),
        (InputSpec("pcm", (1, 5), asked, DataFormat.NONE),),
        tuple(OutputSpec(n, DataFormat.NONE, asked) for n in ("out", "twice")),
    )
    graph = import_model(request)
    passed = DataType.INT32 if asked is DataType.INT32 else DataType.INT16
    assert {v.dtype for v in (*graph.inputs, *graph.outputs)} == {passed}
    results = run_graph(graph, {"pcm": pcm.astype(passed.numpy)})
    np.testing.assert_array_equal(results["out"], [[-16384, -150, 0, 0, 16383]])
    if passed is DataType.INT16:
        np.testing.assert_array_equal(results["twice"], pcm + pcm)


def test_a_part_of_the_model(tmp_path: Path) -> None:
    request = _request(
        _write(_network(), tmp_path),
        (InputSpec("conv_1", (1, 6, 8, 64)),),
        (OutputSpec("relu_1"),),
    )
    graph = import_model(request)
    assert [op.type for op in graph.ops] == ["Activation"]
    assert graph.inputs[0].shape == (1, 64, 6, 8)


def test_wrong_names_list_near_ones_all_at_once(tmp_path: Path) -> None:
    message = _message(
        _request(
            _write(_network(), tmp_path),
            (InputSpec("imag", (1, 8, 10, 3)),),
            (OutputSpec("porb"), OutputSpec("relu1")),
        )
    )
    for part in ("'imag'", "near names: image", "'porb'", "prob", "relu_1"):
        assert part in message
    assert "inputs of the model: image [1, 3, 8, 10]; outputs: prob" in message


def test_weights_are_not_proposed_for_a_tensor(tmp_path: Path) -> None:
    model = _network()
    weights = [tensor.name for tensor in model.graph.initializer]
    request = _request(
        _write(model, tmp_path),
        (InputSpec("image", (1, 8, 10, 3)),),
        tuple(OutputSpec(f"{name}_") for name in weights),
    )
    proposed = [line.partition(";")[2] for line in _message(request).splitlines()]
    words = set(" ".join(proposed).replace(",", " ").split())
    assert weights
    assert not words.intersection(weights)


def test_a_forgotten_input_is_named(tmp_path: Path) -> None:
    message = _message(_request(_write(_network(), tmp_path), ()))
    assert "input_tensors: 'prob' also needs 'image'" in message


@pytest.mark.parametrize(
    ("shape", "data_format", "hint"),
    [
        ((1, 3, 8, 10), DataFormat.NHWC, "give [1, 8, 10, 3]"),
        ((1, 8, 10, 3), DataFormat.NCHW, "input_data_formats: NHWC"),
        ((1, 8, 10, 3), DataFormat.NONE, "input_data_formats: NHWC"),
        ((1, 9, 10, 3), DataFormat.NHWC, "has [1, 3, 8, 10]"),
        ((1, 8, 10), DataFormat.NHWC, "has [1, 3, 8, 10]"),
    ],
)
def test_a_contradicting_shape(
    shape: tuple[int, ...], data_format: DataFormat, hint: str, tmp_path: Path
) -> None:
    spec = InputSpec("image", shape, data_format=data_format)
    message = _message(_request(_write(_network(), tmp_path), (spec,)))
    assert message.startswith("input_shapes: 'image'")
    assert hint in message


def test_dynamic_dimensions(tmp_path: Path) -> None:
    model = _network()
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    path = _write(model, tmp_path)
    graph = import_model(_request(path, (InputSpec("image", (-1, 8, 10, 3)),)))
    assert graph.inputs[0].shape == ("batch", 3, 8, 10)
    assert graph.outputs[0].shape == ("batch", 64, 1, 1)
    graph = import_model(_request(path, (InputSpec("image", (4, 8, 10, 3)),)))
    assert graph.outputs[0].shape == (4, 64, 1, 1)


def test_all_unsupported_nodes_in_one_table(tmp_path: Path) -> None:
    nodes = [
        onnx.helper.make_node("ImageDecoder", ["x"], ["d"], name="first"),
        onnx.helper.make_node("Relu", ["d"], ["r"]),
        onnx.helper.make_node("RegexFullMatch", ["r"], ["n"], name="second"),
        onnx.helper.make_node(
            "MaxPool", ["x"], ["m"], "third", kernel_shape=[1, 1], pads=[-1, 0, 0, 0]
        ),
        onnx.helper.make_node("Magic", ["x"], ["z"], domain="org.example"),
    ]
    model = make_model(nodes, {"x": _X}, ["n", "m", "z"])
    model.opset_import.add(domain="org.example", version=1)
    with pytest.raises(UnsupportedNodesError) as caught:
        import_proto(model, {"x": _X}, ["n", "m", "z"], tmp_path)
    rows = [(row.node, row.op) for row in caught.value.nodes]
    assert rows == [
        ("first", "ImageDecoder"),
        ("second", "RegexFullMatch"),
        ("third", "MaxPool"),
        ("z", "org.example.Magic"),
    ]
    assert all(row.reason and row.hint for row in caught.value.nodes)


def test_node_that_contradicts_its_specification(tmp_path: Path) -> None:
    node = onnx.helper.make_node("Relu", ["x"], ["y"], slope=1.0)
    model = make_model([node], {"x": _X}, ["y"])
    with pytest.raises(UnsupportedNodesError, match=r"malformed node.*slope"):
        run_mace(model, {"x": _X}, tmp_path)


def test_own_operator_in_the_domain_of_onnx(tmp_path: Path) -> None:
    node = onnx.helper.make_node("SoftClip", ["x"], ["y"])
    model = make_model([node], {"x": _X}, ["y"])
    with pytest.raises(UnsupportedNodesError, match="MACE has no such operator"):
        run_mace(model, {"x": _X}, tmp_path)


def test_files_that_are_no_models(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    assert "cannot read" in _message(_request(path))
    path.write_bytes(b"")
    assert "is empty" in _message(_request(path))
    path.write_bytes(b"<html>404</html>" * 100)
    assert "is a web page" in _message(_request(path))
    assert "cannot read" in _message(_request(tmp_path))
    whole = _network().SerializeToString()
    path.write_bytes(whole[: len(whole) // 2])
    assert "damaged" in _message(_request(path))


def test_newer_operator_set(tmp_path: Path) -> None:
    model = _network()
    model.opset_import[0].version = 999
    assert "operator set 999" in _message(_request(_write(model, tmp_path)))


def test_large_weights_stay_in_the_file(tmp_path: Path) -> None:
    weights = normal(2048, 512)
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"])
    inputs = {"x": normal(1, 2048)}
    model = make_model([node], inputs, ["y"], {"w": weights})
    graph = import_proto(model, inputs, ["y"], tmp_path)
    array = graph.ops[0].input(1).numpy()
    np.testing.assert_array_equal(array, weights)
    # A view over a read-only mapping: nothing was copied.
    assert not array.flags.owndata and not array.flags.writeable


@pytest.mark.parametrize("dtype", ["float16", "float64", "bfloat16", "int64", "uint8"])
def test_element_types_of_weights(dtype: str, tmp_path: Path) -> None:
    kind = onnx.TensorProto.DataType.Value(dtype.upper().replace("FLOAT64", "DOUBLE"))
    values = np.arange(5000) % 120 - (0 if dtype == "uint8" else 60)
    for raw in (True, False):
        data = values.astype(np.float32) if dtype == "bfloat16" else values
        if raw:
            target = onnx.helper.tensor_dtype_to_np_dtype(kind)
            tensor = onnx.helper.make_tensor(
                "w", kind, [5000], data.astype(target).tobytes(), raw=True
            )
        else:
            tensor = onnx.helper.make_tensor("w", kind, [5000], data.tolist())
        node = onnx.helper.make_node("Cast", ["w"], ["f"], to=onnx.TensorProto.FLOAT)
        add = onnx.helper.make_node("Add", ["x", "f"], ["y"])
        inputs = {"x": normal(5000)}
        model = make_model([node, add], inputs, ["y"])
        model.graph.initializer.append(tensor)
        (found,) = run_mace(model, inputs, tmp_path)
        np.testing.assert_allclose(found, inputs["x"] + values, rtol=1e-6)


def test_doubles_beyond_float32_become_infinite_and_say_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mask = np.array([0.5, -1e300, -np.inf])
    cast = onnx.helper.make_node("Cast", ["w"], ["f"], to=onnx.TensorProto.FLOAT)
    add = onnx.helper.make_node("Add", ["x", "f"], ["y"])
    inputs = {"x": normal(3)}
    model = make_model([cast, add], inputs, ["y"], {"w": mask})
    with caplog.at_level(logging.WARNING):
        (found,) = run_mace(model, inputs, tmp_path)
    assert found[1:].tolist() == [-np.inf, -np.inf]
    (message,) = caplog.messages
    assert "'w' holds numbers of float64 that float32 cannot" in message


def _external(folder: Path, **changes: str) -> onnx.ModelProto:
    weights = normal(8, 4)
    (folder / "weights.bin").write_bytes(b"pad!" + weights.tobytes())
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"])
    model = make_model([node], {"x": normal(2, 8)}, ["y"])
    tensor = onnx.TensorProto(
        name="w",
        dims=[8, 4],
        data_type=onnx.TensorProto.FLOAT,
        data_location=onnx.TensorProto.EXTERNAL,
    )
    entries = {"location": "weights.bin", "offset": "4", "length": "128", **changes}
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    model.graph.initializer.append(tensor)
    return model


def test_external_data(tmp_path: Path) -> None:
    inputs = {"x": normal(2, 8)}
    found = run_mace(_external(tmp_path), inputs, tmp_path)
    assert_same(found, [inputs["x"] @ normal(8, 4)])


def test_weights_that_were_external_before(tmp_path: Path) -> None:
    # `onnx` states in each of these tensors that its bytes are in the tensor. They are
    # large enough to be left in the file.
    inputs, weights = {"x": normal(2, 64)}, normal(64, 32)
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"])
    model = make_model([node], inputs, ["y"], {"w": weights})
    path = tmp_path / "external.onnx"
    onnx.save(model, path, save_as_external_data=True, size_threshold=0)
    loaded = onnx.load(path)
    assert loaded.graph.initializer[0].HasField("data_location")
    assert_same(run_mace(loaded, inputs, tmp_path), [inputs["x"] @ weights])


def test_weights_in_constant_nodes(tmp_path: Path) -> None:
    # Large enough to be left in the file, which onnx's own checker knows nothing of.
    weights = normal(64, 32)
    nodes = [
        onnx.helper.make_node(
            "Constant", [], ["w"], value=onnx.numpy_helper.from_array(weights)
        ),
        onnx.helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    inputs = {"x": normal(2, 64)}
    found = run_mace(make_model(nodes, inputs, ["y"]), inputs, tmp_path)
    assert_same(found, [inputs["x"] @ weights])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"location": "../weights.bin"}, "not in the model's folder"),
        ({"location": "/etc/passwd"}, "not in the model's folder"),
        ({"location": "sub/../../weights.bin"}, "not in the model's folder"),
        ({"location": ""}, "not in the model's folder"),
        ({"location": "a\0b"}, "not in the model's folder"),
        ({"location": "link.bin"}, "not in the model's folder"),
        ({"location": "loop.bin"}, "cannot read"),
        ({"location": "."}, "not in the model's folder|cannot read"),
        ({"location": "missing.bin"}, "cannot read"),
        ({"location": "empty.bin"}, "ends before"),
        ({"location": "pipe.bin"}, "pipe.bin.* is not a regular file"),
        ({"offset": "8"}, "ends before"),
        ({"offset": "-4"}, "ends before"),
        ({"offset": "four"}, "an offset or length that is not a number"),
        ({"length": "64"}, "another number of elements"),
        # Nothing of a file may look like a line of ours, or be obeyed by a terminal.
        ({"location": "a\nok: b"}, r"cannot read [^\n]*/a\\nok: b, which holds[^\n]*$"),
        (
            {"location": "a\x1b[2J\u202e"},
            r"cannot read [^\x1b\u202e]*/a\\x1b\[2J\\u202e,",
        ),
        ({"location": "/a\nb"}, r"is in '/a\\nb', which is not"),
        ({"offset": "four\n" * 99}, r"not a number: [^\n]{1,70}$"),
    ],
)
def test_bad_external_data(
    changes: dict[str, str], reason: str, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(1000))
    os.symlink(tmp_path / "secret.bin", folder / "link.bin")
    os.symlink("loop.bin", folder / "loop.bin")
    (folder / "empty.bin").touch()
    os.mkfifo(folder / "pipe.bin")
    inputs = {"x": normal(2, 8)}
    with pytest.raises(ImportModelError, match=reason):
        run_mace(_external(folder, **changes), inputs, folder)


def test_functions_of_the_model(tmp_path: Path) -> None:
    inner = [
        onnx.helper.make_node("Relu", ["a"], ["b"]),
        onnx.helper.make_node("Add", ["b", "a"], ["c"]),
    ]
    function = onnx.helper.make_function(
        "local", "Twice", ["a"], ["c"], inner, [onnx.helper.make_opsetid("", 21)]
    )
    node = onnx.helper.make_node("Twice", ["x"], ["y"], domain="local")
    model = make_model([node], {"x": _X}, ["y"])
    model.functions.append(function)
    model.opset_import.add(domain="local", version=1)
    compare(model, {"x": _X}, tmp_path)


def test_shape_arithmetic_is_folded(tmp_path: Path) -> None:
    nodes = [
        onnx.helper.make_node("Shape", ["x"], ["s"]),
        onnx.helper.make_node("Gather", ["s", "zero"], ["n"]),
        onnx.helper.make_node("Range", ["zero", "n", "one"], ["r"]),
        onnx.helper.make_node("Unsqueeze", ["n", "axes"], ["n1"]),
        onnx.helper.make_node("Concat", ["n1", "minus"], ["target"], axis=0),
        onnx.helper.make_node("Reshape", ["x", "target"], ["flat"]),
        onnx.helper.make_node("Cast", ["r"], ["rf"], to=onnx.TensorProto.FLOAT),
        onnx.helper.make_node("Unsqueeze", ["rf", "axis1"], ["column"]),
        onnx.helper.make_node("Add", ["flat", "column"], ["y"]),
    ]
    constants = {
        "zero": np.array(0, np.int64),
        "one": np.array(1, np.int64),
        "axes": np.array([0], np.int64),
        "axis1": np.array([1], np.int64),
        "minus": np.array([-1], np.int64),
    }
    inputs = {"x": normal(4, 2, 3)}
    model = make_model(nodes, inputs, ["y"], constants)
    graph = import_proto(model, inputs, ["y"], tmp_path)
    assert [op.type for op in graph.ops] == ["Reshape", "Eltwise"]
    compare(model, inputs, tmp_path)


def test_random_numbers_are_not_frozen(tmp_path: Path) -> None:
    node = onnx.helper.make_node("RandomNormal", [], ["r"], shape=[3, 8, 10])
    add = onnx.helper.make_node("Add", ["x", "r"], ["y"])
    model = make_model([node, add], {"x": _X}, ["y"])
    graph = import_proto(model, {"x": _X}, ["y"], tmp_path)
    optimize(graph)
    assert "Random" in [op.type for op in graph.ops]


def test_helper_values_give_way_to_the_models_names(tmp_path: Path) -> None:
    # The handler of Gemm makes a value of its own; a later tensor of the model
    # happens to have the name it would choose.
    nodes = [
        onnx.helper.make_node("Gemm", ["x", "w", "c"], ["g"], name="n"),
        onnx.helper.make_node("Relu", ["g"], ["n/MatMul"]),
        onnx.helper.make_node("Neg", ["n/MatMul"], ["y"]),
    ]
    inputs = {"x": normal(2, 3)}
    constants = {"w": normal(3, 4), "c": normal(4)}
    model = make_model(nodes, inputs, ["y"], constants)
    compare(model, inputs, tmp_path)


def test_unsorted_nodes_and_cycles(tmp_path: Path) -> None:
    model = _network()
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(reversed(nodes))
    assert len(import_model(_request(_write(model, tmp_path))).ops) == 3
    model.graph.node[-1].input[0] = "relu_1"
    assert "depends on itself" in _message(_request(_write(model, tmp_path)))


def test_an_output_that_is_an_input_or_a_constant(tmp_path: Path) -> None:
    nodes = [
        onnx.helper.make_node("Relu", ["x"], ["y"]),
        onnx.helper.make_node("Identity", ["x"], ["same"]),
    ]
    names = ["y", "same", "w"]
    model = make_model(nodes, {"x": _X}, ["x", *names], {"w": normal(3)})
    inputs = {"x": _X}
    path = _write(model, tmp_path)
    graph = import_model(request_for(path, inputs, names))
    assert [value.name for value in graph.outputs] == names
    results = run_graph(graph, inputs)
    assert_same([results[n] for n in names], [np.maximum(_X, 0), _X, normal(3)])
    message = _message(request_for(path, inputs, ["y", "x"]))
    assert message.startswith("output_tensors: 'x' is an input too")


def _in_domain(domain: str) -> onnx.ModelProto:
    def node(kind: str, *names: str, **attributes: Any) -> onnx.NodeProto:
        return onnx.helper.make_node(
            kind, names[:-1], names[-1:], domain=domain, **attributes
        )

    branches = {
        name: onnx.helper.make_graph(
            [node(kind, "x", "z")], name, [], [onnx.ValueInfoProto(name="z")]
        )
        for name, kind in (("then_branch", "Relu"), ("else_branch", "Neg"))
    }
    nodes = [
        node("GroupNormalization", "image", "s", "b", "n", num_groups=1),
        node("Relu", "n", "x"),
        node("ReduceMax", "x", "largest", keepdims=0),
        node("Cast", "largest", "c", to=onnx.TensorProto.BOOL),
        node("If", "c", "y", **branches),
    ]
    constants = {"s": normal(1), "b": normal(1, seed=3)}
    model = make_model(nodes, {"image": _X}, ["y"], constants, opset=18)
    model.opset_import[0].domain = domain
    return model


def test_the_long_name_of_the_domain(tmp_path: Path) -> None:
    found = run_mace(_in_domain("ai.onnx"), {"image": _X}, tmp_path)
    assert_same(found, run_onnxruntime(_in_domain(""), {"image": _X}))


_ROOT = Path(__file__).resolve().parents[5]

_CODE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Interrupt:
    def find_spec(self, name, *_):
        if name == "onnx.onnx_cpp2py_export":
            print("interrupted")
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
try:
    import mace.python.tools.importers.onnx
except KeyboardInterrupt:
    print("whole" if hasattr(sys.modules.get("onnx"), "load") else "cut")
"""


def test_ctrl_c_waits_while_the_onnx_package_is_loaded() -> None:
    """Within its C++ part it would end in std::terminate."""
    result = subprocess.run(
        [sys.executable, "-c", _CODE],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout == "interrupted\nwhole\n", result.stderr

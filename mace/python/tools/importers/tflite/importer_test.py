# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Files as a whole: names, shapes, borders, and what is refused."""

from __future__ import annotations

import importlib
import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.custom_ops import custom_folders, use_custom_ops
from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodesError,
)
from mace.python.tools.importers.frame.journal import Journal, Outcome
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.frame.testing import request_for
from mace.python.tools.importers.tflite import import_model
from mace.python.tools.importers.tflite.reader import read_network, unique_names
from mace.python.tools.importers.tflite.testing import (
    converted,
    import_file,
    int8_steps,
    interpreted,
    interpreter_of,
    one_operator,
    rand,
    run_file,
)
from mace.python.tools.ir import DataType, Graph
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize

# A handler of a user's own.
_DOUBLE = """
from mace.python.tools.importers.tflite.context import HANDLERS, Context

@HANDLERS.register("CUSTOM H")
def twice(context: Context) -> None:
    context.emit("Eltwise", [context.input(0), context.input(0)], mode="ADD")
"""

tf = pytest.importorskip("tensorflow", reason="its converter makes the models")

_SHAPE = (1, 12, 12, 4)


def _operator_steps(data: bytes, arrays: Sequence[Array], path: Path) -> dict[str, int]:
    """By how many steps the results of each type of operator differ at most, if each
    operator gets the numbers that it has in the interpreter.

    In a network, small differences may grow from layer to layer, in particular with
    random weights.

    Args:
        data: a file whose tensors are integers.
        arrays: its inputs, in integers.
    """
    interpreter = interpreter_of(data, preserve=True)
    for detail, array in zip(interpreter.get_input_details(), arrays):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    path.write_bytes(data)
    network = read_network(path)
    found: dict[str, int] = {}
    for operator in network.operators:
        inputs = {
            network.tensors[i].name: np.asarray(interpreter.get_tensor(i))
            for i in operator.inputs
            if i >= 0 and not network.tensors[i].buffer.size
        }
        if not inputs:
            continue
        outputs = {network.tensors[i].name: i for i in operator.outputs}
        graph = import_model(request_for(path, [*inputs], outputs))
        optimize(graph)
        results = run_graph(graph, inputs)
        for name, index in outputs.items():
            wanted = np.asarray(interpreter.get_tensor(index)).astype(np.int64)
            far = int(np.abs(results[name].astype(np.int64) - wanted).max(initial=0))
            found[operator.type] = max(found.get(operator.type, 0), far)
    return found


def _image_network(x: Any) -> Any:
    y = tf.nn.relu6(tf.nn.conv2d(x, rand(3, 3, 4, 8), 2, "SAME") + rand(8))
    z = tf.nn.depthwise_conv2d(y, rand(3, 3, 8, 1), [1, 1, 1, 1], "SAME")
    y = tf.nn.relu(z + rand(8)) + y
    y = tf.nn.max_pool2d(tf.concat([y, z], 3), 2, 2, "SAME")
    y = tf.reshape(tf.nn.avg_pool2d(y, 3, 3, "VALID"), [1, 16])
    return tf.nn.softmax(tf.matmul(y, rand(16, 5)) + rand(5))


@pytest.fixture(scope="module")
def image() -> bytes:
    """A small network in floats."""
    return converted(_image_network, [rand(*_SHAPE)])


@pytest.fixture(scope="module")
def image_int8() -> bytes:
    """The same network in integers of 8 bits."""
    return converted(_image_network, [rand(*_SHAPE)], "int8")


def _load(
    data: bytes,
    folder: Path,
    inputs: tuple[InputSpec, ...] = (InputSpec("x0", data_format=DataFormat.NONE),),
    outputs: tuple[str, ...] = ("Identity",),
) -> Graph:
    path = folder / "model.tflite"
    path.write_bytes(data)
    return import_model(
        ImportRequest(
            "m", path, inputs, tuple(OutputSpec(o, DataFormat.NONE) for o in outputs)
        )
    )


def test_network(image: bytes, tmp_path: Path) -> None:
    x = rand(*_SHAPE)
    (found,) = run_file(image, [x], tmp_path / "m.tflite")
    np.testing.assert_allclose(found, interpreted(image, [x])[0], 1e-5, 1e-5)


def test_integers_are_computed_in_integers(image_int8: bytes, tmp_path: Path) -> None:
    worst, _ = int8_steps(image_int8, [rand(*_SHAPE)], tmp_path / "m.tflite")
    assert worst <= 1
    graph = import_file(tmp_path / "m.tflite")
    optimize(graph)
    assert all(op.output.dtype is DataType.INT8 for op in graph.ops)
    assert graph.inputs[0].dtype is DataType.INT8


def test_integers_of_16_bits(tmp_path: Path) -> None:
    data = converted(_image_network, [rand(*_SHAPE)], "16x8")
    worst, _ = int8_steps(data, [rand(*_SHAPE)], tmp_path / "m.tflite")
    # Softmax comes from a table of 513 numbers in the interpreter.
    assert worst <= 16
    graph = import_file(tmp_path / "m.tflite")
    assert graph.inputs[0].dtype is graph.outputs[0].dtype is DataType.INT16
    optimize(graph)
    kinds = {op.type for op in graph.ops if op.output.dtype is DataType.INT16}
    assert {"Conv2D", "DepthwiseConv2d", "Eltwise", "Pooling"} <= kinds
    # An application may pass them as int32.
    wide = _load(data, tmp_path, (InputSpec("x0", dtype=DataType.INT32),))
    assert wide.inputs[0].dtype is DataType.INT32
    x = np.random.default_rng(3).integers(-32768, 32768, _SHAPE)
    short = import_file(tmp_path / "m.tflite")
    (wanted,) = run_graph(short, {"x0": x.astype(np.int16)}).values()
    (found,) = run_graph(wide, {"x0": x.astype(np.int32)}).values()
    np.testing.assert_array_equal(found, wanted)


def test_channels_first_for_the_application(image: bytes, tmp_path: Path) -> None:
    x = rand(*_SHAPE)
    spec = InputSpec("x0", (1, 4, 12, 12), data_format=DataFormat.NCHW)
    graph = _load(image, tmp_path, (spec,))
    results = run_graph(graph, {"x0": x})
    np.testing.assert_allclose(
        results["Identity"], interpreted(image, [x])[0], 1e-5, 1e-5
    )


def test_the_batch_may_be_open(tmp_path: Path) -> None:
    w = rand(3, 3, 4, 8)
    function = tf.function(lambda x: tf.nn.conv2d(x, w, 1, "SAME"))
    concrete = function.get_concrete_function(
        tf.TensorSpec([None, 6, 6, 4], tf.float32, name="x0")
    )
    data = tf.lite.TFLiteConverter.from_concrete_functions(
        [concrete], concrete
    ).convert()
    x = rand(3, 6, 6, 4)
    spec = InputSpec("x0", (3, 6, 6, 4), data_format=DataFormat.NONE)
    graph = _load(data, tmp_path, (spec,))
    np.testing.assert_allclose(
        run_graph(graph, {"x0": x})["Identity"],
        tf.nn.conv2d(x, w, 1, "SAME"),
        1e-4,
        1e-4,
    )
    graph = _load(data, tmp_path)
    assert graph.inputs[0].shape == ("x0:0", 6, 6, 4)


def test_inner_tensors(image: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(image)
    network = read_network(path)
    first, second = (network.operators[i] for i in (0, 1))
    name, after = (network.tensors[o.outputs[0]].name for o in (first, second))
    graph = _load(image, tmp_path, outputs=(name, after))
    assert [value.name for value in graph.outputs] == [name, after]
    spec = InputSpec(name, data_format=DataFormat.NONE)
    graph = _load(image, tmp_path, (spec,), (after,))
    assert [value.name for value in graph.inputs] == [name]


def test_names() -> None:
    assert unique_names(["a", "b", "a", ""]) == ["a", "b", "a#2", "tensor#3"]
    assert unique_names(["a", "a#2", "a"]) == ["a", "a#2", "a#2#"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (InputSpec("x"), "input_tensors: .* has no tensor 'x'; near names: x0"),
        (InputSpec("x0", (1, 12, 12, 3)), "input_shapes: x0 is"),
        (InputSpec("x0", (1, 4, 12, 12)), "is it NCHW"),
        (InputSpec("Identity"), "the outputs also need x0"),
    ],
)
def test_contradictions(
    image: bytes, spec: InputSpec, words: str, tmp_path: Path
) -> None:
    with pytest.raises(ImportModelError, match=words):
        _load(image, tmp_path, (spec,), ("Relu6;add;Conv2D",))


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    def network(x: Any) -> Any:
        scores = tf.image.non_max_suppression_with_scores(
            x, x[:, 0], 3, soft_nms_sigma=0.5
        )[1]
        return tf.bitcast(x, tf.int32), tf.exp(scores)

    with pytest.raises(UnsupportedNodesError) as caught:
        path = tmp_path / "m.tflite"
        path.write_bytes(converted(network, [rand(3, 4)]))
        import_file(path)
    assert {n.op for n in caught.value.nodes} == {"BITCAST", "NON_MAX_SUPPRESSION_V5"}


def test_operators_behind_a_refused_one_are_checked(tmp_path: Path) -> None:
    def network(x: Any) -> Any:
        numbers = tf.bitcast(tf.nn.relu(x), tf.int32)
        return tf.bitcast(tf.maximum(numbers, 3), tf.float32)

    path = tmp_path / "m.tflite"
    path.write_bytes(converted(network, [rand(3, 4)]))
    journal = Journal()
    request = ImportRequest(
        "m",
        path,
        (InputSpec("x0"),),
        (OutputSpec("Identity"),),
        journal=journal,
        check_all=True,
    )
    with pytest.raises(UnsupportedNodesError):
        import_model(request)
    assert [(e.type, e.outcome) for e in journal.entries] == [
        ("RELU", Outcome.CONVERTED),
        ("BITCAST", Outcome.REFUSED),
        ("MAXIMUM", Outcome.CONVERTED),
        ("BITCAST", Outcome.REFUSED),
    ]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("CALL", "subgraph 0 of 1"),
        ("CALL_ONCE", "control flow"),
        ("READ_VARIABLE", "a variable"),
        ("WHILE", "subgraph 0 of 1"),
    ],
)
def test_what_outlasts_a_run(kind: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(one_operator(kind, [rand(3)], [((3,), "float32")]))
    with pytest.raises(UnsupportedNodesError, match=reason):
        import_file(path)


def test_custom_operators(tmp_path: Path) -> None:
    data = one_operator("CUSTOM", [rand(3)], [((3,), "float32")])
    path = tmp_path / "m.tflite"
    path.write_bytes(data)
    with pytest.raises(UnsupportedNodesError, match="CUSTOM"):
        import_file(path)


def test_custom_operators_that_the_user_has_a_handler_for(tmp_path: Path) -> None:
    folder = tmp_path / "operators"
    (folder / "double").mkdir(parents=True)
    (folder / "custom_ops.yaml").write_text("interface: 1")
    (folder / "double" / "double_tflite.py").write_text(_DOUBLE)
    path = tmp_path / "m.tflite"
    x = rand(3)
    before = custom_folders()
    use_custom_ops([folder])
    try:
        data = one_operator("CUSTOM", [x], [((3,), "float32")], custom="H")
        np.testing.assert_array_equal(run_file(data, [x], path)[0], x + x)
        path.write_bytes(one_operator("CUSTOM", [x], [((3,), "float32")], custom="G"))
        with pytest.raises(UnsupportedNodesError, match=r"(?s)CUSTOM G.*custom_ops"):
            import_file(path)
    finally:
        use_custom_ops(before)


@pytest.mark.parametrize(
    "data", [b"", b"not a model at all", b"\x1c\0\0\0TFL3" + bytes(40), bytes(100)]
)
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ImportModelError, match="not a TensorFlow Lite model|damaged"):
        _load(data, tmp_path)


def test_a_folder_and_a_missing_file_are_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "x"):
        with pytest.raises(ImportModelError, match="cannot be read"):
            import_model(ImportRequest("m", path, (), ()))


def _attempt(data: bytes, path: Path) -> bool:
    """Whether a file is refused, with a message."""
    path.write_bytes(data)
    try:
        optimize(import_file(path))
    except MaceError as error:
        assert str(error).strip()
        return True
    return False


@pytest.mark.parametrize("name", ["image", "image_int8"])
def test_damaged_files_give_errors_not_crashes(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    good = request.getfixturevalue(name)
    rng = random.Random(20261127)
    refused = 0
    for _ in range(300):
        data = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.choice((0, 1, 4, 127, 128, 255))
        if rng.random() < 0.2:
            data = data[: rng.randrange(len(data))]
        refused += _attempt(bytes(data), tmp_path / "m.tflite")
    assert 30 < refused < 300


def test_an_output_that_nothing_computes(image: bytes, tmp_path: Path) -> None:
    schema: Any = importlib.import_module("tensorflow.lite.python.schema_py_generated")
    flatbuffers: Any = importlib.import_module("flatbuffers")
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(image, 0))
    model.subgraphs[0].operators = []
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    with pytest.raises(ImportModelError, match="output_tensors: .* by no operator"):
        _load(bytes(builder.Output()), tmp_path)


def test_parts_that_overlap_are_refused(tmp_path: Path) -> None:
    # A vector of tables, all of which are the model with this vector.
    count = 1 << 16
    head = struct.pack("<I4s", 24, b"TFL3")
    vtable = struct.pack("<6H", 12, 12, 4, 0, 8, 0) + bytes(4)
    at = len(head) + len(vtable)
    table = struct.pack("<iII", at - len(head), 3, 4)
    vector = struct.pack("<I", count)
    start = at + len(table)
    offsets = b"".join(
        struct.pack("<I", (at - (start + 4 + 4 * i)) % 2**32) for i in range(count)
    )
    data = head + vtable + table + vector + offsets
    with pytest.raises(ImportModelError, match="damaged"):
        _load(data, tmp_path)


# Networks of Keras with random weights, in floats and in 8-bit integers.
_IMAGE = (1, 32, 32, 3)
_NETWORKS = {"MobileNetV2": {"alpha": 0.35}, "MobileNetV3Small": {"alpha": 0.75}}


def _constants(name: str, scale: float) -> Any:
    """The network as a function without variables, for images of that scale."""
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2,
    )

    tf.keras.utils.set_random_seed(7)
    model = getattr(tf.keras.applications, name)(
        weights=None,
        input_shape=_IMAGE[1:],
        classes=20,
        classifier_activation=None,
        **_NETWORKS[name],
    )
    # Without statistics of some batch, the numbers become smaller with each layer,
    # until all integers of the result are the same.
    for layer in model.layers:
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            layer.momentum = 0.0
    model(scale * rand(16, *_IMAGE[1:]), training=True)
    function = tf.function(lambda x: model(x, training=False))
    return convert_variables_to_constants_v2(
        function.get_concrete_function(tf.TensorSpec(_IMAGE, tf.float32))
    )


@pytest.mark.parametrize("name", _NETWORKS)
def test_networks_of_keras(name: str, tmp_path: Path) -> None:
    # MobileNetV3 takes pixels.
    scale = np.float32(60 if name == "MobileNetV3Small" else 1)
    network, path = _constants(name, scale), tmp_path / "m.tflite"
    x = rand(*_IMAGE) * scale

    def called(x: Any) -> Any:
        return network(x)[0]

    data = converted(called, [x])
    (found,), (wanted,) = run_file(data, [x], path), interpreted(data, [x])
    np.testing.assert_allclose(found, wanted, 0, 1e-4 * np.abs(wanted).max())
    data = converted(called, [x], "int8")
    rng = np.random.default_rng(5)
    integers = rng.integers(-128, 128, _IMAGE).astype(np.int8)
    assert np.ptp(interpreted(data, [integers])[0].astype(int)) > 50
    steps = _operator_steps(data, [integers], path)
    assert {"CONV_2D", "DEPTHWISE_CONV_2D", "ADD"} <= steps.keys()
    assert max(steps.values()) <= 1
    graph = import_file(path)
    optimize(graph)
    assert all(op.output.dtype is DataType.INT8 for op in graph.ops)

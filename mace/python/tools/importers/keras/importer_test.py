# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Whole models, and what the importer says of files and deployments that are wrong."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodesError,
)
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.keras import FRAMEWORK, import_model
from mace.python.tools.importers.keras.testing import (
    Family,
    fill,
    imported,
    rand,
    results_of,
)
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize
from mace.python.tools.validate.frameworks.keras_model import run
from mace.python.tools.validate.frameworks.reference import (
    FrameworkError,
    ReferenceRequest,
)

h5py = pytest.importorskip("h5py")
keras = pytest.importorskip("keras")
layers = keras.layers
ANY = Family("none")
CHECK = ANY.compare
BOTH = ("keras", "h5")


def test_models_in_models_and_shared_layers(tmp_path: Path) -> None:
    def encoder(name: str, trainable: bool) -> Any:
        x = keras.Input((6, 6, 3))
        y = layers.BatchNormalization()(layers.Conv2D(4, 3, trainable=trainable)(x))
        y = keras.Sequential([layers.BatchNormalization(), layers.Conv2D(2, 3)])(y)
        return keras.Model(x, [y, layers.GlobalMaxPooling2D()(y)], name=name)

    a, b = keras.Input((6, 6, 3), name="x0"), keras.Input((6, 6, 3), name="x1")
    first, second = encoder("first", False), encoder("second", True)
    shared = layers.Dense(3, name="shared")
    image, row = first(a)
    _, other = first(b)
    _, third = second(b)
    outputs = [shared(row), shared(other), shared(third), image]
    model = keras.Model([a, b], [*outputs, layers.Add()(outputs[:2])])
    fill(model)
    CHECK(tmp_path, model, [rand(1, 6, 6, 3), rand(1, 6, 6, 3) + 1], endings=BOTH)


@pytest.mark.parametrize("built", [True, False])
def test_a_sequential_model(tmp_path: Path, built: bool) -> None:
    parts = [layers.Conv2D(4, 3), layers.BatchNormalization(), layers.Flatten()]
    first = [keras.Input((6, 6, 3), name="x0")] if built else []
    model = keras.Sequential([*first, *parts, layers.Dense(3, name="y")])
    assert type(model).__name__ == "Sequential"
    x = rand(2, 6, 6, 3)
    wanted = model(x)
    for ending in BOTH:
        path = tmp_path / f"model.{ending}"
        model.save(path)
        name = model.get_config()["layers"][0]["config"]["name"]
        request = ImportRequest(
            "m", path, (InputSpec(name, x.shape),), (OutputSpec("y"),)
        )
        result = run_graph(import_model(request), {name: x})["y"]
        np.testing.assert_allclose(result, wanted, 1e-5, 1e-5)


def test_half_precision_is_computed_in_floats(tmp_path: Path) -> None:
    x = keras.Input((4,), name="x0")
    model = keras.Model(x, layers.Dense(3, dtype="mixed_float16")(x))
    CHECK(tmp_path, model, [rand(2, 4)], tolerance=2e-2)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """image -> conv -> inner model -> out, and a second input that is not used."""
    image, other = keras.Input((4, 4, 3), name="image"), keras.Input((2,), name="other")
    z = keras.Input((4, 4, 2))
    inner = keras.Model(z, layers.Flatten()(layers.ReLU(name="relu")(z)), name="inner")
    y = inner(layers.Conv2D(2, 1, name="conv")(image))
    model = keras.Model([image, other], [layers.Dense(3, name="out")(y), other])
    file = tmp_path_factory.mktemp("keras") / "model.keras"
    model.save(file)
    return file


IMAGE = InputSpec("image", (1, 4, 4, 3))


def _load(
    path: Path, output: str = "out", inputs: tuple[InputSpec, ...] = (IMAGE,)
) -> Any:
    return import_model(ImportRequest("m", path, inputs, (OutputSpec(output),)))


def test_inner_tensors_are_inputs_and_outputs(path: Path) -> None:
    graph = _load(path, inputs=(InputSpec("conv", (1, 4, 4, 2)),))
    assert [op.type for op in graph.ops] == ["Activation", "Reshape", "FullyConnected"]
    assert graph.formats["conv"] is DataFormat.NHWC
    x = rand(1, 4, 4, 3)
    conv = run_graph(_load(path, "conv"), {"image": x})["conv"]
    relu = run_graph(_load(path, "inner/relu"), {"image": x})["inner/relu"]
    np.testing.assert_array_equal(relu, np.maximum(conv, 0))


def test_names_of_keras_2(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import keras

    image = keras.Input((4, 4, 3), name="image")
    x = keras.layers.Conv2D(2, 3, activation="relu", name="conv_1")(image)
    x = keras.layers.Dense(4, name="dense", activation="linear")(
        keras.layers.Flatten(name="flat")(x)
    )
    y = keras.layers.Dense(3, activation="softmax", name="dense_1", use_bias=False)(x)
    model = keras.Model(image, y)
    fill(model)
    model.save(tmp_path / "m.h5")
    names = {
        "dense_1/Softmax:0": "dense_1",
        "dense_1:0": "dense_1",
        "dense/BiasAdd:0": "dense",
        "dense/BiasAdd": "dense",
        "flat/Reshape:0": "flat",
        "conv_1/Relu:0": "conv_1",
    }
    sums = ("conv_1/BiasAdd:0", "dense_1/MatMul:0")
    inputs = (InputSpec("image:0", (1, 4, 4, 3)),)
    a = {"image:0": rand(1, 4, 4, 3)}
    request = ReferenceRequest(
        "keras", tmp_path / "m.h5", a, tuple({*names, *names.values(), *sums})
    )
    expected = run(request).tensors
    for name in (*names, *sums):
        (found,) = run_graph(_load(tmp_path / "m.h5", name, inputs), a).values()
        np.testing.assert_allclose(found, expected[name], atol=1e-5, err_msg=name)
    for name, layer in names.items():
        np.testing.assert_array_equal(expected[name], expected[layer])
    assert (expected["conv_1/BiasAdd:0"] < 0).any()
    text = caplog.text
    assert "dense_1/Softmax:0 is a name of Keras 2; taken for the result of" in text
    assert "dense_1:0 is a name" not in text
    for wrong in ("dense_1/Relu:0", "conv_1/Conv2D:0", "flat_1/Reshape:0"):
        with pytest.raises(ImportModelError, match=f"no tensor '{wrong}'"):
            _load(tmp_path / "m.h5", wrong)
        with pytest.raises(FrameworkError, match=f"no tensor '{wrong}'"):
            run(ReferenceRequest("keras", tmp_path / "m.h5", a, (wrong,)))


def test_a_nchw_user_shape_is_turned(path: Path) -> None:
    spec = InputSpec("image", (1, 3, 4, 4), data_format=DataFormat.NCHW)
    assert _load(path, inputs=(spec,)).inputs[0].shape == (1, 4, 4, 3)


def test_names_and_shapes_that_are_wrong(path: Path) -> None:
    with pytest.raises(ImportModelError, match=r"output_tensors.*near names: out"):
        _load(path, "outt")
    with pytest.raises(ImportModelError, match=r"input_tensors.*'imag'.*image"):
        _load(path, inputs=(InputSpec("imag", (1, 4, 4, 3)),))
    with pytest.raises(ImportModelError, match="also need image"):
        _load(path, inputs=())
    with pytest.raises(ImportModelError, match=r"\[-1, 4, 4, 3\].*\[1, 5, 4, 3\]"):
        _load(path, inputs=(InputSpec("image", (1, 5, 4, 3)),))
    with pytest.raises(ImportModelError, match="its layer has fewer results"):
        _load(path, "conv:1")
    with pytest.raises(ImportModelError, match="no tensor 'inner/gelu'"):
        _load(path, "inner/gelu")


def _edited(path: Path, target: Path, edit: Callable[[Any], None]) -> Path:
    """The file with another configuration."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "config.json":
                config = json.loads(data)
                edit(config["config"])
                data = json.dumps(config).encode()
            new.writestr(name, data)
    return target


def test_all_unsupported_layers_are_in_one_table(path: Path, tmp_path: Path) -> None:
    def edit(config: Any) -> None:
        by_name = {layer["name"]: layer for layer in config["layers"]}
        by_name["conv"].update(module="my.code", registered_name="My>Conv2D")
        by_name["out"]["class_name"] = "Densee"

    with pytest.raises(UnsupportedNodesError) as caught:
        _load(_edited(path, tmp_path / "m.keras", edit))
    rows = {n.node: (n.op, n.reason, n.hint) for n in caught.value.nodes}
    assert set(rows) == {"conv", "out"}
    assert "not of Keras (my.code)" in rows["conv"][1]
    assert "Dense" in rows["out"][2]


def test_an_unknown_order_of_dimensions_is_refused(path: Path, tmp_path: Path) -> None:
    def edit(config: Any) -> None:
        config["layers"][1]["config"]["data_format"] = "channels_middle"
        assert config["layers"][1]["name"] == "conv"

    with pytest.raises(UnsupportedNodesError, match="data_format is 'channels_middle'"):
        _load(_edited(path, tmp_path / "m.keras", edit))


def test_a_loop_is_named(path: Path, tmp_path: Path) -> None:
    def edit(config: Any) -> None:
        (node,) = config["layers"][1]["inbound_nodes"]
        node["args"][0]["config"]["keras_history"] = ["out", 0, 0]

    with pytest.raises(ImportModelError, match="depends on itself"):
        _load(_edited(path, tmp_path / "m.keras", edit))


def test_weights_alone_are_refused(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((3,), name="x0"), layers.Dense(2, name="y")])
    path = tmp_path / "model.weights.h5"
    model.save_weights(path)
    with pytest.raises(ImportModelError, match="only weights, no configuration"):
        imported(path, [rand(1, 3)], ["y"])


def test_a_subclassed_model_is_refused(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "m.keras"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "config.json":
                data = data.replace(b"Functional", b"MyModel", 1)
            new.writestr(name, data)
    with pytest.raises(ImportModelError, match=r"'MyModel'.*model\.export"):
        _load(target)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "neither a .keras file nor"),
        (b"not a model", "neither a .keras file nor"),
        (b"PK\x03\x04 no archive", "it is damaged"),
        (b"\x89HDF\r\n\x1a\n no file", "it is damaged"),
        (b"\x1f\x8b\x08 packed", "compressed: unpack it"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "model.keras"
    path.write_bytes(data)
    with pytest.raises(ImportModelError, match=message):
        _load(path)


def test_a_folder_and_a_missing_file_are_named(tmp_path: Path) -> None:
    for path, words in (
        (tmp_path, "platform: tensorflow"),
        (tmp_path / "x", "No such"),
    ):
        with pytest.raises(ImportModelError, match=words):
            _load(path)


def test_what_a_file_says_of_itself(path: Path) -> None:
    about = FRAMEWORK.open(path).describe()
    assert about.framework == "Keras 3"
    assert [(t.name, t.shape) for t in about.inputs] == [
        ("image", (None, 4, 4, 3)),
        ("other", (None, 2)),
    ]
    assert [t.name for t in about.outputs] == ["out", "other"]
    kinds = {"Conv2D": 1, "ReLU": 1, "Flatten": 1, "Dense": 1}
    assert dict(about.operators) == kinds


@pytest.mark.parametrize("ending", ["h5", "keras"])
def test_files_of_keras_2(tmp_path: Path, ending: str) -> None:
    # tf_keras 2.21 wrote the files and computed the results.
    with zipfile.ZipFile(Path(__file__).with_name("testdata") / "keras2.zip") as files:
        path = Path(files.extract(f"keras2.{ending}", tmp_path))
    x = np.random.default_rng(1).normal(size=(1, 6, 6, 2)).astype(np.float32)
    graph = imported(path, [x], ["y", "z"])
    results = run_graph(graph, {"x0": x})
    wanted = [[0.2982417941093445, 0.3731870651245117, 0.328571081161499]]
    np.testing.assert_allclose(results["y"], wanted, 1e-5)
    wanted = [[0.010723970830440521, -0.01770883798599243]]
    np.testing.assert_allclose(results["z"], wanted, 1e-5)


def test_calls_of_functions_of_tensorflow(tmp_path: Path) -> None:
    """In the form in which Keras 2 writes them."""

    def layer(name: str, function: str, *nodes: list[Any]) -> Any:
        config = {"name": name, "function": function, "dtype": "float32"}
        return {
            "class_name": "TFOpLambda",
            "config": config,
            "inbound_nodes": [list(nodes)],
        }

    start = {"name": "x0", "batch_input_shape": [None, 3], "dtype": "float32"}
    layers = [
        {"class_name": "InputLayer", "config": start, "inbound_nodes": []},
        layer("double", "math.multiply", ["x0", 0, 0, {"y": 2.0, "name": None}]),
        layer(
            "less",
            "math.subtract",
            ["_CONSTANT_VALUE", -1, 1.0, {"y": ["double", 0, 0], "name": None}],
        ),
        layer("y", "math.reduce_mean", ["less", 0, 0, {"axis": [1], "keepdims": True}]),
        layer("odd", "math.lgamma", ["less", 0, 0, {}]),
    ]
    sides = {"input_layers": [["x0", 0, 0]], "output_layers": [["y", 0, 0]]}
    model = {"class_name": "Functional", "config": {"layers": layers, **sides}}
    path = tmp_path / "model.h5"
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(model)
        file.create_group("model_weights").attrs["layer_names"] = []
    x = rand(2, 3)
    result = run_graph(imported(path, [x], ["y"]), {"x0": x})["y"]
    np.testing.assert_allclose(result, (1 - 2 * x).mean(1, keepdims=True), 1e-5)
    with pytest.raises(UnsupportedNodesError, match=r"tf\.math\.lgamma"):
        imported(path, [x], ["odd"])


# No output is as wide as it has channels: Keras then adds biases along its width.
FIRST = {"data_format": "channels_first"}


IMAGE_SHAPE = (2, 6, 8, 9)


@pytest.mark.parametrize(
    ("shape", "build"),
    [
        *(
            (IMAGE_SHAPE, build)
            for build in (
                lambda x: layers.Conv2D(4, 3, strides=2, padding="same", **FIRST)(x),
                lambda x: layers.SeparableConv2D(5, 3, **FIRST)(x),
                lambda x: layers.Conv2DTranspose(5, 3, 2, padding="same", **FIRST)(x),
                lambda x: layers.AveragePooling2D(3, 2, padding="same", **FIRST)(x),
                lambda x: (
                    layers.GlobalAveragePooling2D(**FIRST)(x),
                    layers.GlobalMaxPooling2D(keepdims=True, **FIRST)(x),
                ),
                lambda x: layers.Dense(3)(layers.Flatten(**FIRST)(x)),
                lambda x: layers.UpSampling2D((2, 3), **FIRST)(x),
                lambda x: layers.ZeroPadding2D(((1, 2), (3, 0)), **FIRST)(x),
                lambda x: layers.Resizing(4, 5, **FIRST)(x),
            )
        ),
        ((2, 6, 8), lambda x: layers.Conv1D(4, 3, **FIRST)(x)),
        (
            (2, 6, 4, 5, 3),
            lambda x: layers.MaxPooling3D(2, **FIRST)(layers.Conv3D(4, 2, **FIRST)(x)),
        ),
        (
            (2, 3, 4, 5, 6),
            lambda x: layers.TimeDistributed(layers.Conv2D(3, 3, **FIRST))(x),
        ),
    ],
)
def test_channels_first(
    shape: tuple[int, ...], build: Callable[[Any], Any], tmp_path: Path
) -> None:
    ANY.check(tmp_path, build, rand(*shape), tolerance=1e-4)


def test_the_application_may_have_channels_last(tmp_path: Path) -> None:
    x = keras.Input((6, 8, 9), name="x0")
    y = layers.BatchNormalization(axis=1)(layers.Conv2D(4, 3, **FIRST)(x))
    model = keras.Model(x, layers.Dense(3)(layers.Flatten(**FIRST)(y)))
    fill(model)
    path = tmp_path / "model.keras"
    model.save(path)
    assert FRAMEWORK.open(path).describe().image_order is DataFormat.NCHW
    spec = InputSpec("x0", (2, 8, 9, 6), data_format=DataFormat.NHWC)
    name = model.layers[-1].name
    output = OutputSpec(name, DataFormat.NONE)
    graph = import_model(ImportRequest("m", path, (spec,), (output,)))
    optimize(graph)
    array = rand(2, 6, 8, 9)
    (given,) = graph.inputs
    # The passes let the application keep its order.
    fed = array if given.shape == array.shape else array.transpose(0, 2, 3, 1)
    (found,) = run_graph(graph, {"x0": fed}).values()
    np.testing.assert_allclose(found, np.asarray(results_of(model, array)), 1e-4, 1e-4)

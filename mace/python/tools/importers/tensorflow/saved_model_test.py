# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of SavedModels, good and damaged. TensorFlow writes them."""

from __future__ import annotations

import importlib
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodesError,
)
from mace.python.tools.importers.tensorflow import FRAMEWORK
from mace.python.tools.importers.tensorflow.bundle import PROTO, Bundle
from mace.python.tools.importers.tensorflow.testing import rand, saved_graph
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.proto import load_proto

X = rand(2, 3)
DATA = "variables/variables.data-00000-of-00001"
INDEX = "variables/variables.index"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """y = x @ w + b, with a variable for each."""
    tf = importlib.import_module("tensorflow")
    module = tf.Module()
    module.w, module.b = tf.Variable(rand(3, 4)), tf.Variable(rand(4))
    # Enough for an index of several blocks.
    module.others = [tf.Variable(rand(1), name=f"other/{i}" * 40) for i in range(60)]
    function = tf.function(lambda x: {"y": x @ module.w + module.b})
    concrete = function.get_concrete_function(tf.TensorSpec([2, 3], name="x"))
    folder = tmp_path_factory.mktemp("saved") / "model"
    tf.saved_model.save(module, str(folder), signatures=concrete)
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """A copy, for tests to damage."""
    return Path(shutil.copytree(written, tmp_path / "model"))


def _result(folder: Path, *names: str) -> Array:
    (output,) = names or ("y",)
    return run_graph(saved_graph(folder, {"x": X}, [output]), {"x": X})[output]


def test_names_of_the_signature_and_of_the_graph(written: Path) -> None:
    wanted = X @ rand(3, 4) + rand(4)
    for name in ("y", "StatefulPartitionedCall:0", "StatefulPartitionedCall"):
        np.testing.assert_allclose(_result(written, name), wanted, 1e-5)
    with pytest.raises(ImportModelError, match="no tensor 'z'; the model has: x, y$"):
        _result(written, "z")


@pytest.mark.parametrize("part", ["saved_model.pb", INDEX, DATA, "variables"])
def test_a_link_out_of_the_folder_is_not_followed(
    part: str, folder: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    (folder / part).rename(secret)
    (folder / part).symlink_to(secret)
    with pytest.raises(ImportModelError, match="symbolic link to a file outside of"):
        _result(folder)
    # In the folder, links are fine, and the folder itself may be one.
    secret.rename(folder / "moved")
    (folder / part).unlink()
    (folder / part).symlink_to(folder / "moved")
    (tmp_path / "link").symlink_to(folder)
    assert _result(tmp_path / "link").shape == (2, 4)
    (folder / part).unlink()
    (folder / part).symlink_to(folder / part)
    with pytest.raises(MaceError):
        _result(folder)


def test_an_index_of_several_blocks(written: Path) -> None:
    bundle = Bundle(written / "variables" / "variables", written)
    for number in range(60):
        key = f"others/{number}/.ATTRIBUTES/VARIABLE_VALUE"
        np.testing.assert_array_equal(bundle.read(key), rand(1))
    assert "others/60/.ATTRIBUTES/VARIABLE_VALUE" not in bundle


def test_the_text_form_of_the_graph(folder: Path) -> None:
    saved = load_proto(PROTO).SavedModel()
    path = folder / "saved_model.pb"
    saved.ParseFromString(path.read_bytes())
    path.with_suffix(".pbtxt").write_text(str(saved))
    path.unlink()
    _result(folder)


def _no_index(folder: Path) -> None:
    (folder / INDEX).unlink()


def _no_data(folder: Path) -> None:
    (folder / DATA).unlink()


def _short_data(folder: Path) -> None:
    (folder / DATA).write_bytes((folder / DATA).read_bytes()[:16])


def _no_graph(folder: Path) -> None:
    (folder / "saved_model.pb").unlink()


def _other_tag(folder: Path) -> None:
    path = folder / "saved_model.pb"
    path.write_bytes(path.read_bytes().replace(b"serve", b"train", 1))


def _changed_index(folder: Path) -> None:
    data = bytearray((folder / INDEX).read_bytes())
    data[40] ^= 1
    (folder / INDEX).write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_no_index, "a variable"),
        (_no_data, f"{DATA} cannot be read: No such file"),
        (_short_data, "is damaged"),
        (_no_graph, "without saved_model.pb"),
        (_other_tag, "no graph with the tag 'serve' \\(it has: train\\)"),
        (_changed_index, "the checksum of a block is wrong"),
    ],
)
def test_what_is_missing_or_damaged_is_named(
    folder: Path, damage: Callable[[Path], None], message: str
) -> None:
    damage(folder)
    with pytest.raises((ImportModelError, UnsupportedNodesError), match=message):
        _result(folder)


def test_the_file_alone_is_not_enough(written: Path) -> None:
    with pytest.raises(ImportModelError, match=r"name its folder"):
        _result(written / "saved_model.pb")


@pytest.mark.parametrize("name", ["saved_model.pb", INDEX])
def test_damaged_files_give_errors_not_crashes(folder: Path, name: str) -> None:
    path = folder / name
    good = path.read_bytes()
    rng = random.Random(name)
    refused = 0
    rounds = 50
    for _ in range(rounds):
        data = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.3:
            data = data[: rng.randrange(len(data))]
        path.write_bytes(data)
        try:
            _result(folder)
        except MaceError as error:
            assert str(error).strip()
            refused += 1
    assert refused > rounds // 3


def test_what_it_says_of_itself(written: Path) -> None:
    about = FRAMEWORK.open(written).describe()
    assert about.framework == "TensorFlow, a SavedModel"
    assert [(t.name, t.shape) for t in about.inputs] == [("x", (2, 3))]
    assert [(t.name, t.shape) for t in about.outputs] == [("y", (2, 4))]
    assert about.operators["MatMul"] == 1
    assert "RestoreV2" not in about.operators


def test_of_several_signatures_it_has_all(tmp_path: Path) -> None:
    tf = importlib.import_module("tensorflow")
    module = tf.Module()
    module.w = tf.Variable(rand(3, 4))
    signatures: dict[str, Any] = {}
    for name, function in (
        ("first", lambda a: {"y": a @ module.w}),
        ("second", lambda b: {"y": -b}),
    ):
        argument = tf.TensorSpec([2, 3], name="ab"[len(signatures)])
        signatures[name] = tf.function(function).get_concrete_function(argument)
    tf.saved_model.save(module, str(tmp_path), signatures=signatures)
    about = FRAMEWORK.open(tmp_path).describe()
    assert [tensor.name for tensor in about.inputs] == ["first_a", "second_b"]
    outputs = [tensor.name for tensor in about.outputs]
    assert len(outputs) == 2
    graph = saved_graph(tmp_path, {"first_a": X, "second_b": X}, outputs)
    results = run_graph(graph, {"first_a": X, "second_b": X})
    np.testing.assert_allclose(results[outputs[0]], X @ rand(3, 4), 1e-5)
    np.testing.assert_allclose(results[outputs[1]], -X)


def _keras_model() -> Any:
    keras = importlib.import_module("keras")
    keras.utils.set_random_seed(3)
    layers = keras.layers
    x = keras.Input((6, 5), batch_size=2, name="x")
    y = layers.BatchNormalization()(layers.Conv1D(4, 3)(x))
    # Two layers of one name inside, as in models made of models.
    y = keras.Sequential([layers.LSTM(3, name="inner")])(y)
    y = keras.Sequential([layers.Dense(2, name="inner")])(y)
    model = keras.Model(x, y)
    for weight in model.weights:
        weight.assign(rand(*weight.shape) ** 2)
    return model


@pytest.mark.parametrize("wrapped", [False, True], ids=["model", "in a module"])
def test_keras_3_models_saved_by_tensorflow(wrapped: bool, tmp_path: Path) -> None:
    """The objects lead to the variables that the graph has under other names."""
    tf = importlib.import_module("tensorflow")
    model = _keras_model()
    x = rand(2, 6, 5)
    saved: Any = model
    signature = None
    if wrapped:
        saved = tf.Module()
        saved.net, saved.scale = model, tf.Variable(rand(2))
        call = tf.function(lambda x: {"y": saved.net(x) * saved.scale})
        signature = call.get_concrete_function(tf.TensorSpec(x.shape, name="x"))
    folder = tmp_path / "model"
    tf.saved_model.save(saved, str(folder), signatures=signature)
    serve = tf.saved_model.load(str(folder)).signatures["serving_default"]
    (name,) = serve.structured_input_signature[1]
    ((output, wanted),) = serve(**{name: tf.constant(x)}).items()
    graph = saved_graph(folder, {name: x}, [output])
    found = run_graph(graph, {name: x})[output]
    np.testing.assert_allclose(found, wanted.numpy(), 1e-4, 1e-5)


def test_damaged_objects(folder: Path) -> None:
    bundle = Bundle(folder / "variables" / "variables", folder)
    text = bundle.read_text("_CHECKPOINTABLE_OBJECT_GRAPH")
    data = folder / DATA
    content = data.read_bytes()
    place = content.find(text)
    data.write_bytes(
        content[:place] + b"\xff" * len(text) + content[place + len(text) :]
    )
    with pytest.raises(ImportModelError, match="checkpoint of the model is damaged"):
        _result(folder)
    data.write_bytes(content[: place - 4])
    with pytest.raises(ImportModelError, match="its place is not in the file"):
        _result(folder)

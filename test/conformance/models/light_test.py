# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that the seeded networks return different outputs for different images."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.validate.frameworks.onnx_session import open_session
from test.conformance.models import (
    LIGHT_MODELS,
    light_input,
    light_source,
    make_light_model,
)


def _answers(path: Path, name: str, seeds: tuple[int, ...]) -> np.ndarray:
    pytest.importorskip("onnxruntime")
    session = open_session(str(path), threads=1)
    info = LIGHT_MODELS[name]
    runs = [
        session.run([info.output], {info.input: light_input(name, seed)})
        for seed in seeds
    ]
    return np.stack([run[0].ravel().astype(np.float64) for run in runs])


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_declared_tensors_are_those_of_the_file(name: str) -> None:
    graph = onnx.load(str(light_source(name))).graph
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in weights]
    info = LIGHT_MODELS[name]
    assert [value.name for value in inputs] == [info.input]
    dims = inputs[0].type.tensor_type.shape.dim
    assert tuple(dim.dim_value for dim in dims) == info.input_shape
    assert [value.name for value in graph.output] == [info.output]


# The large ones take seconds and half a gigabyte each; the recipe is one.
@pytest.mark.parametrize(
    "name", ["shufflenet", "squeezenet", "densenet121", "inception_v2"]
)
def test_the_answer_depends_on_the_image(name: str, tmp_path: Path) -> None:
    path = make_light_model(name, directory=tmp_path)
    first, second = _answers(path, name, (0, 1))
    assert np.isfinite(first).all()
    # Neither one class alone nor all classes alike.
    assert first.std() > 0.05 * np.abs(first).max() / len(first) ** 0.5
    assert np.abs(first - second).max() > 0.02 * np.abs(first).max()
    if first.min() >= 0:
        assert first.max() < 0.99


def test_seeds_name_their_weights(tmp_path: Path) -> None:
    one = make_light_model("shufflenet", seed=1, directory=tmp_path / "a")
    again = make_light_model("shufflenet", seed=1, directory=tmp_path / "b")
    other = make_light_model("shufflenet", seed=2, directory=tmp_path / "b")
    assert one.read_bytes() == again.read_bytes()
    assert one.read_bytes() != other.read_bytes()


def test_no_weight_is_left_constant(tmp_path: Path) -> None:
    for name in ("inception_v2", "shufflenet"):
        model = onnx.load(str(make_light_model(name, directory=tmp_path)))
        onnx.checker.check_model(model)
        assert all(n.op_type != "ConstantOfShape" for n in model.graph.node)
        for tensor in model.graph.initializer:
            if tensor.data_type == onnx.TensorProto.FLOAT:
                assert np.ptp(onnx.numpy_helper.to_array(tensor)) > 0


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    path = make_light_model("shufflenet", directory=tmp_path)
    path.write_bytes(b"kept")
    assert make_light_model("shufflenet", directory=tmp_path) == path
    assert path.read_bytes() == b"kept"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_an_unknown_name_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="squeezenet"):
        make_light_model("resnet18", directory=tmp_path)

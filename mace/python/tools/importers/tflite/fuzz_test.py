# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Files with wrong numbers give one clear error, or a usable graph.

What is changed at random are options, inputs, shapes, types, constants and scales, at
places a seed decides, by the code that is generated from the schema. The number of
mutations grows with the environment variable MACE_FUZZ_ROUNDS.
"""

from __future__ import annotations

import copy
import importlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame import budget
from mace.python.tools.importers.tflite.context import HANDLERS
from mace.python.tools.importers.tflite.options import BUILTINS
from mace.python.tools.importers.tflite.testing import converted, import_file, rand
from mace.python.tools.passes.manager import optimize

tf = pytest.importorskip("tensorflow", reason="its converter makes the models")

_LOG = logging.getLogger(__name__)

_SEED = 13
_ROUNDS = int(os.environ.get("MACE_FUZZ_ROUNDS", "1"))
_NUMBERS = (-(2**31), -7, -2, -1, 0, 1, 2, 3, 9, 2**20, 2**31 - 1)
_REALS = (0.0, -1.0, 1e38, 1e-45, float("nan"), float("inf"))


def _image(x: Any) -> Any:
    y = tf.nn.relu6(tf.nn.conv2d(x, rand(3, 3, 4, 8), 2, "SAME") + rand(8))
    y = tf.nn.depthwise_conv2d(y, rand(3, 3, 8, 1), [1, 1, 1, 1], "VALID")
    y = tf.nn.max_pool2d(y, 2, 2, "SAME") + tf.nn.avg_pool2d(y, 2, 2, "SAME")
    y = tf.pad(y, [[0, 0], [1, 1], [1, 1], [0, 0]])
    y = tf.nn.space_to_depth(y[:, 1:, :0:-1, :], 2)
    parts = tf.split(y, [16, 16], axis=3)
    y = tf.concat([parts[1], tf.nn.leaky_relu(parts[0])], 3)
    y = tf.compat.v1.image.resize_bilinear(y, [8, 8], align_corners=True)
    y = tf.nn.conv2d_transpose(y, rand(2, 2, 3, 32), [1, 16, 16, 3], [1, 2, 2, 1])
    return tf.nn.depth_to_space(tf.concat([y, y, y, y], 3), 2)


def _table(x: Any) -> Any:
    y = tf.transpose(tf.reshape(x, [2, 32, 8]), [0, 2, 1])
    y = tf.matmul(tf.reshape(y, [16, 32]), rand(32, 6)) * tf.constant(rand(6))
    y = tf.nn.softmax(y) - tf.reduce_mean(y, axis=[1], keepdims=True)
    y = tf.stack(tf.unstack(y[:, ::2], axis=1), axis=1)
    y = tf.tile(tf.gather(y, tf.constant([0, 2]), axis=1), [1, 2])
    y = tf.where(y > 0.1, y, 0.5)
    hot = tf.one_hot(tf.argmax(y, axis=1), 4)
    return hot + tf.pow(y, 2.0) + tf.cumsum(tf.gather_nd(y, tf.constant([[3]])), 1)


def _whole(x: Any) -> Any:
    y = tf.nn.relu(tf.nn.conv2d(x, rand(3, 3, 4, 8), 2, "SAME") + rand(8))
    y = tf.nn.relu6(y + tf.nn.depthwise_conv2d(y, rand(3, 3, 8, 1), [1] * 4, "SAME"))
    y = tf.sigmoid(tf.reduce_mean(y, [1, 2])) * 2.0
    return tf.nn.softmax(tf.matmul(tf.concat([y, -y], 1), rand(16, 5)) + rand(5))


def _steps(x: Any) -> Any:
    weights = rand(8, 8)

    def body(i: Any, x: Any) -> tuple[Any, Any]:
        return i + 1, tf.tanh(tf.matmul(x, weights) + tf.cast(i, tf.float32))

    y = tf.while_loop(lambda i, x: i < 3, body, (0, x))[1]
    return tf.cond(tf.reduce_sum(y) > 0, lambda: y * 2.0, lambda: tf.exp(y))


_MODELS: dict[str, tuple[Callable[..., Any], tuple[int, ...], str]] = {
    "image": (_image, (1, 16, 16, 4), ""),
    "table": (_table, (2, 8, 8, 4), ""),
    "integers": (_whole, (1, 8, 8, 4), "int8"),
    "steps": (_steps, (2, 8), ""),
}


def _mutate(rng: np.random.Generator, model: Any) -> None:
    graph = model.subgraphs[rng.integers(len(model.subgraphs))]
    change = rng.integers(4)
    if change == 0:
        _mutate_tensor(rng, model, graph.tensors[rng.integers(len(graph.tensors))])
    elif change == 1:
        code = model.operatorCodes[rng.integers(len(model.operatorCodes))]
        types = HANDLERS.types()
        number = BUILTINS.index(types[rng.integers(len(types))])
        code.builtinCode, code.deprecatedBuiltinCode = number, min(number, 127)
    else:
        operators = graph.operators
        _mutate_operator(rng, graph, operators[rng.integers(len(operators))])


def _mutate_operator(rng: np.random.Generator, graph: Any, operator: Any) -> None:
    options = (
        vars(operator.builtinOptions or object()) if operator.builtinOptions else {}
    )
    if options and rng.integers(2):
        name = sorted(options)[rng.integers(len(options))]
        old = options[name]
        if isinstance(old, bool):
            new: Any = not old
        elif isinstance(old, float):
            new = _REALS[rng.integers(len(_REALS))]
        elif isinstance(old, (int, np.integer)):
            new = int(np.clip(_number(rng), -128, 127))
        else:
            new = old
        setattr(operator.builtinOptions, name, new)
        return
    inputs = list(operator.inputs)
    change = rng.integers(3)
    if change == 0:
        inputs = inputs[: rng.integers(len(inputs) + 1)]
    elif change == 1:
        inputs.append(int(rng.integers(-1, len(graph.tensors))))
    elif inputs:
        inputs[rng.integers(len(inputs))] = int(rng.integers(-1, len(graph.tensors)))
    operator.inputs = inputs


def _mutate_tensor(rng: np.random.Generator, model: Any, tensor: Any) -> None:
    change = rng.integers(4)
    shape = list(tensor.shape) if tensor.shape is not None else []
    if change == 0:
        tensor.type = int(rng.integers(22))
    elif change == 1:
        if shape and rng.integers(2):
            shape[rng.integers(len(shape))] = _number(rng)
        else:
            shape.append(_number(rng))
        tensor.shape = shape
    elif change == 2 and tensor.quantization is not None:
        _mutate_scales(rng, tensor.quantization)
    else:
        data = model.buffers[tensor.buffer].data
        if data is not None and len(data) >= 4:
            numbers = np.array(data, np.uint8)
            at = 4 * rng.integers(len(numbers) // 4)
            new = np.array(_number(rng), np.int32)
            numbers[at : at + 4] = np.frombuffer(new.tobytes(), np.uint8)
            model.buffers[tensor.buffer].data = numbers


def _mutate_scales(rng: np.random.Generator, scales: Any) -> None:
    change = rng.integers(3)
    if change == 0:
        scales.quantizedDimension = _number(rng)
    elif change == 1:
        scales.scale = [_REALS[rng.integers(len(_REALS))]] * int(rng.integers(1, 4))
    else:
        scales.zeroPoint = [_number(rng)] * int(rng.integers(3))


def _number(rng: np.random.Generator) -> int:
    return _NUMBERS[rng.integers(len(_NUMBERS))]


@pytest.mark.parametrize("name", _MODELS)
def test_wrong_numbers_never_crash(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Loops that became endless end soon.
    monkeypatch.setattr(budget, "FLOOR_NODES", 200)
    schema: Any = importlib.import_module("tensorflow.lite.python.schema_py_generated")
    flatbuffers: Any = importlib.import_module("flatbuffers")
    function, shape, integers = _MODELS[name]
    good = converted(function, [rand(*shape)], integers)
    path = tmp_path / "model.tflite"
    path.write_bytes(good)
    optimize(import_file(path))
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(good, 0))
    refused = 0
    count = (40 if name == "steps" else 200) * _ROUNDS
    for index in range(count):
        seed = [_SEED, index]
        rng = np.random.default_rng(seed)
        mutated = copy.deepcopy(model)
        for _ in range(rng.integers(1, 4)):
            _mutate(rng, mutated)
        builder = flatbuffers.Builder(1024)
        builder.Finish(mutated.Pack(builder), b"TFL3")
        path.write_bytes(builder.Output())
        try:
            optimize(import_file(path))
        except MaceError as error:
            assert str(error).strip()
            refused += 1
        except BaseException:
            _LOG.error("model %s, seed %s", name, seed)
            raise
    _LOG.info("seed %d, %d of %d refused", _SEED, refused, count)
    # Mutations that nobody notices, or none that pass, would test nothing.
    assert 0 < refused < count

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Frozen graphs with wrong numbers give one clear error, or a usable graph.

What is changed at random are attributes, inputs, constants and types of nodes, at
places a seed decides: bytes changed at random rarely get past protobuf. The
number of mutations grows with the environment variable MACE_FUZZ_ROUNDS.
"""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.tensorflow import import_model
from mace.python.tools.importers.tensorflow.testing import frozen, rand, traced
from mace.python.tools.importers.tf_operators.context import HANDLERS
from mace.python.tools.importers.tf_operators.node import ELEMENT_TYPES
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize

_LOG = logging.getLogger(__name__)

_SEED = 12
_ROUNDS = int(os.environ.get("MACE_FUZZ_ROUNDS", "1"))
_NUMBERS = (-(2**63), -(2**31), -7, -2, -1, 0, 1, 2, 3, 9, 2**31 - 1, 2**40, 2**62)


def _image_model(tf: Any) -> Callable[..., Any]:
    def model(x: Any) -> Any:
        y = tf.nn.conv2d(x, rand(3, 3, 4, 8), [1, 2, 2, 1], "SAME", dilations=1)
        y = tf.nn.bias_add(y, rand(8))
        y = tf.compat.v1.nn.fused_batch_norm(
            y, rand(8), rand(8), rand(8), rand(8, low=0.1), 1e-3, is_training=False
        )[0]
        y = tf.nn.relu6(y)
        y = tf.nn.depthwise_conv2d(y, rand(3, 3, 8, 1), [1, 1, 1, 1], "VALID")
        y = tf.nn.atrous_conv2d(y, rand(3, 3, 8, 8), 2, "SAME")
        y = tf.nn.max_pool2d(y, 2, 2, "SAME") + tf.nn.avg_pool2d(y, 2, 2, "SAME")
        y = tf.nn.local_response_normalization(y, 2)
        y = tf.pad(y, [[0, 0], [1, 1], [1, 1], [0, 0]])
        y = tf.nn.space_to_depth(y[:, 1:, :0:-1, :], 2)
        parts = tf.split(y, [16, 16], axis=3)
        y = tf.concat([parts[1], tf.nn.leaky_relu(parts[0])], 3)
        y = tf.compat.v1.image.resize_bilinear(y, [8, 8], align_corners=True)
        y = tf.nn.conv2d_transpose(y, rand(2, 2, 3, 32), [1, 16, 16, 3], [1, 2, 2, 1])
        return tf.nn.depth_to_space(tf.concat([y, y, y, y], 3), 2)

    return model


def _table_model(tf: Any) -> Callable[..., Any]:
    def model(x: Any) -> Any:
        y = tf.transpose(tf.reshape(x, [2, 32, 8]), [0, 2, 1])
        y = tf.reshape(y, tf.stack([tf.shape(y)[0] * 8, -1]))
        y = tf.matmul(y, rand(32, 6)) * tf.constant(rand(6))
        y = tf.nn.softmax(y)
        y = tf.reduce_mean(tf.expand_dims(y, 1), axis=[1], keepdims=True)
        y = tf.squeeze(y[:, ::2, :], [1])
        y = tf.stack(tf.unstack(y, axis=1), axis=1)
        y = tf.gather(y, tf.constant([0, 2, 5]), axis=1)
        y = tf.where(y > 0.1, y, tf.fill(tf.shape(y), 0.5))
        return tf.one_hot(tf.argmax(y, axis=1), 3) + tf.pow(y, 2.0)

    return model


def _rounded_model(tf: Any) -> Callable[..., Any]:
    def model(x: Any) -> Any:
        of = tf.quantization
        y = of.fake_quant_with_min_max_args(x, -2.0, 2.0)
        w = of.fake_quant_with_min_max_vars_per_channel(
            tf.constant(rand(3, 3, 4, 8)), [-2.0] * 8, [2.0] * 8, narrow_range=True
        )
        y = tf.nn.relu6(tf.nn.bias_add(tf.nn.conv2d(y, w, 2, "SAME"), rand(8)))
        y = tf.nn.max_pool2d(of.fake_quant_with_min_max_vars(y, 0.0, 6.0), 2, 2, "SAME")
        y = of.fake_quant_with_min_max_vars(tf.reduce_mean(y, [1, 2]), -3.0, 6.0)
        w = of.fake_quant_with_min_max_vars(tf.constant(rand(8, 5)), -1.0, 2.0)
        return of.fake_quant_with_min_max_vars(tf.matmul(y, w), -9.0, 9.0, 8)

    return model


_MODELS = {
    "rounded": (_rounded_model, (1, 8, 8, 4)),
    "image": (_image_model, (1, 16, 16, 4)),
    "table": (_table_model, (2, 8, 8, 4)),
}


@pytest.fixture(params=_MODELS)
def model(request: pytest.FixtureRequest) -> tuple[Any, tuple[str, ...], Any]:
    """A frozen graph, the names of its outputs, and the shape of input x0."""
    make, shape = _MODELS[request.param]
    tf = importlib.import_module("tensorflow")
    concrete = frozen(traced(tf, make(tf), [rand(*shape)], dynamic=False))
    names = tuple(tensor.name for tensor in concrete.outputs)
    return concrete.graph.as_graph_def(), names, shape


def _requests(
    path: Path, outputs: tuple[str, ...], shape: tuple[int, ...]
) -> list[ImportRequest]:
    return [
        ImportRequest(
            "fuzzed",
            path,
            (InputSpec("x0", given, data_format=DataFormat.NHWC),),
            tuple(OutputSpec(name, DataFormat.NHWC) for name in outputs),
        )
        for given in (shape, (-1, *shape[1:]))
    ]


def _number(rng: np.random.Generator) -> int:
    return _NUMBERS[rng.integers(len(_NUMBERS))]


def _mutate_attribute(rng: np.random.Generator, attribute: Any) -> None:
    kind = attribute.WhichOneof("value")
    if kind == "tensor":
        _mutate_tensor(rng, attribute.tensor)
    elif kind == "list":
        numbers = attribute.list.i
        change = rng.integers(3)
        if change == 0 or not numbers:
            numbers.append(_number(rng))
        elif change == 1:
            del numbers[rng.integers(len(numbers))]
        else:
            numbers[rng.integers(len(numbers))] = _number(rng)
    elif kind == "shape":
        attribute.shape.dim.add().size = _number(rng)
    elif kind == "i":
        attribute.i = _number(rng)
    elif kind == "type":
        attribute.type = int(rng.integers(25))
    elif kind == "f":
        attribute.f = (0.0, -1.0, 1e38, float("nan"), float("inf"))[rng.integers(5)]
    elif kind == "b":
        attribute.b = not attribute.b
    elif kind == "s":
        attribute.s = (b"", b"NCHW", b"VALID", b"EXPLICIT", b"\xff")[rng.integers(5)]


def _mutate_tensor(rng: np.random.Generator, tensor: Any) -> None:
    change = rng.integers(4)
    dims = tensor.tensor_shape.dim
    if change == 0:
        tensor.dtype = int(rng.integers(25))
    elif change == 1 and dims:
        dims[rng.integers(len(dims))].size = _number(rng)
    elif change == 2:
        if dims and rng.integers(2):
            del dims[rng.integers(len(dims))]
        else:
            dims.add().size = _number(rng) % 5
    elif tensor.tensor_content and tensor.dtype in ELEMENT_TYPES:
        dtype = ELEMENT_TYPES[tensor.dtype].numpy
        array = np.frombuffer(tensor.tensor_content, dtype).copy()
        if len(array) and array.dtype.kind in "if":
            number = np.array(_number(rng), np.int64).astype(array.dtype)
            array[rng.integers(len(array))] = number
        tensor.tensor_content = array.tobytes()
    else:
        for values in (tensor.int_val, tensor.float_val, tensor.int64_val):
            if values:
                values[0] = type(values[0])(max(min(_number(rng), 2**31 - 1), -(2**31)))


def _mutate(rng: np.random.Generator, graph: Any) -> None:
    node = graph.node[rng.integers(len(graph.node))]
    kind = rng.integers(8)
    if kind == 0:
        node.op = HANDLERS.types()[rng.integers(len(HANDLERS.types()))]
    elif kind == 1 and node.input:
        del node.input[rng.integers(len(node.input))]
    elif kind == 2:
        # Mostly a node before it: another one makes a loop.
        other = graph.node[rng.integers(len(graph.node))].name
        if node.input and rng.integers(2):
            node.input[rng.integers(len(node.input))] = other
        else:
            node.input.append(other)
    elif kind == 3 and node.input:
        del node.input[:]
    else:
        names = sorted(node.attr)
        if names:
            name = names[rng.integers(len(names))]
            if rng.integers(8) == 0:
                del node.attr[name]
            else:
                _mutate_attribute(rng, node.attr[name])


def test_wrong_numbers_never_crash(model: Any, tmp_path: Path) -> None:
    graph, outputs, shape = model
    path = tmp_path / "model.pb"
    path.write_bytes(graph.SerializeToString())
    requests = _requests(path, outputs, shape)
    optimize(import_model(requests[0]))
    refused = 0
    count = 250 * _ROUNDS
    for index in range(count):
        seed = [_SEED, index]
        rng = np.random.default_rng(seed)
        mutated = type(graph)()
        mutated.CopyFrom(graph)
        for _ in range(rng.integers(1, 4)):
            _mutate(rng, mutated)
        path.write_bytes(mutated.SerializeToString())
        for request in requests:
            try:
                optimize(import_model(request))
            except MaceError as error:
                assert str(error).strip()
                refused += 1
            except BaseException:
                _LOG.error("model %s, seed %s", outputs, seed)
                raise
    _LOG.info("seed %d, %d of %d refused", _SEED, refused, 2 * count)
    # Mutations that nobody notices, or none that pass, would test nothing.
    assert 0 < refused < 2 * count

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged files give one clear error, or a graph that can be optimised.

Bytes are changed at random, at places a seed decides, in small models that
together use every handler of the importer; so are attributes, inputs and constants,
which bytes seldom hit. The number of mutations grows with the environment variable
MACE_FUZZ_ROUNDS.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.importers.onnx.testing import make_model, normal
from mace.python.tools.importers.standard.node import HANDLERS
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize

_LOG = logging.getLogger(__name__)

_SEED = 11
_ROUNDS = int(os.environ.get("MACE_FUZZ_ROUNDS", "1"))


def _image_model() -> onnx.ModelProto:
    make = onnx.helper.make_node
    nodes = [
        make("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1], group=2),
        make("BatchNormalization", ["c", "s", "s", "s", "s"], ["n"]),
        make("Clip", ["n", "low", "high"], ["r"]),
        make("MaxPool", ["r"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
        make("LRN", ["m"], ["l"], size=3),
        make("Split", ["l", "parts"], ["p", "q"], axis=1),
        make("Pad", ["p", "pads"], ["pp"]),
        make("Slice", ["pp", "zeros", "ends", "axes"], ["ps"]),
        make("PRelu", ["q", "slope"], ["qr"]),
        make("Concat", ["ps", "qr"], ["j"], axis=1),
        make("Transpose", ["j"], ["t"], perm=[0, 2, 3, 1]),
        make("ReduceMean", ["t", "axes"], ["y"], keepdims=0),
    ]
    ints = {
        "parts": [4, 4],
        "pads": [0, 0, 1, 1, 0, 0, 1, 1],
        "zeros": [1, 1],
        "ends": [-1, -1],
        "axes": [2, 3],
    }
    constants: dict[str, Array] = {n: np.array(v, np.int64) for n, v in ints.items()}
    constants |= {
        "w": normal(8, 2, 3, 3),
        "b": normal(8),
        "s": np.abs(normal(8)),
        "low": np.array(0, np.float32),
        "high": np.array(6, np.float32),
        "slope": normal(4, 1, 1),
    }
    return make_model(nodes, {"x": normal(1, 4, 8, 8)}, ["y"], constants, opset=18)


def _table_model() -> onnx.ModelProto:
    make = onnx.helper.make_node
    nodes = [
        make("Shape", ["x"], ["shape"]),
        make("Gather", ["shape", "zero"], ["n"], axis=0),
        make("Unsqueeze", ["n", "zeros"], ["n1"]),
        make("Concat", ["n1", "minus"], ["target"], axis=0),
        make("Reshape", ["x", "target"], ["flat"]),
        make("Gemm", ["flat", "w", "b"], ["g"], transB=1, alpha=0.5),
        make("LayerNormalization", ["g", "b", "b"], ["l"], axis=-1),
        make("Softmax", ["l"], ["s"], axis=-1),
        make("Expand", ["s", "wide"], ["e"]),
        make("Tile", ["e", "twice"], ["tt"]),
        make("ConstantOfShape", ["wide"], ["filled"]),
        make("Add", ["tt", "filled"], ["sum"]),
        make("Range", ["zero", "five", "one"], ["range"]),
        make("Cast", ["range"], ["rf"], to=1),
        make("Where", ["yes", "rf", "b"], ["chosen"]),
        make("Mul", ["sum", "chosen"], ["y"]),
    ]
    ints = {
        "zero": 0,
        "one": 1,
        "five": 5,
        "zeros": [0],
        "minus": [-1],
        "wide": [2, 2, 5],
        "twice": [1, 1, 1],
    }
    constants: dict[str, Array] = {n: np.array(v, np.int64) for n, v in ints.items()}
    constants |= {"w": normal(5, 12), "b": normal(5), "yes": normal(5) > 0}
    return make_model(nodes, {"x": normal(2, 3, 4)}, ["y"], constants, opset=18)


def _big_model() -> onnx.ModelProto:
    """With a weight large enough to be cut out of the file."""
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"])
    return make_model([node], {"x": normal(2, 64)}, ["y"], {"w": normal(64, 64)})


def _function_model() -> onnx.ModelProto:
    """Nodes that others take the place of."""
    make = onnx.helper.make_node
    info = onnx.helper.make_tensor_value_info

    def branch(op_type: str) -> onnx.GraphProto:
        result = f"{op_type}/result"
        return onnx.helper.make_graph(
            [make(op_type, ["a"], [result])],
            op_type,
            [],
            [info(result, onnx.TensorProto.FLOAT, None)],
        )

    nodes = [
        make("Attention", ["x", "x", "x"], ["a"], is_causal=1, scale=0.5),
        make(
            "If", ["yes"], ["b"], then_branch=branch("Neg"), else_branch=branch("Relu")
        ),
        make("Trilu", ["b", "k"], ["t"], upper=0),
        make("Hardmax", ["t"], ["h"], axis=-1),
        make("IsInf", ["h"], ["bad"]),
        make("EyeLike", ["square"], ["eye"]),
        make("Where", ["bad", "eye", "h"], ["y"]),
    ]
    constants = {"k": np.array(1), "yes": np.array(True), "square": normal(4, 4)}
    feeds = {"x": normal(1, 2, 4, 4)}
    return make_model(nodes, feeds, ["y"], constants, opset=23)


_MODELS = {
    "image": _image_model,
    "table": _table_model,
    "big": _big_model,
    "functions": _function_model,
}


def _mutate(rng: np.random.Generator, data: bytes) -> bytes:
    array = bytearray(data)
    kind = rng.integers(8)
    if kind == 0:
        return bytes(array[: rng.integers(1, len(array))])
    if kind == 1:
        begin, length = rng.integers(len(array)), rng.integers(1, 64)
        del array[begin : begin + length]
        return bytes(array)
    if kind == 2:
        begin, to = rng.integers(len(array), size=2)
        array[to:to] = array[begin : begin + int(rng.integers(1, 64))]
        return bytes(array)
    for place in rng.integers(len(array), size=rng.integers(1, 6)):
        # Single bits hit lengths and tags, the extremes hit numbers.
        change = rng.integers(3)
        if change == 0:
            array[place] ^= 1 << rng.integers(8)
        else:
            array[place] = (0, 0x7F, 0xFF, int(rng.integers(256)))[rng.integers(4)]
    return bytes(array)


_NUMBERS = (-(2**63), -(2**31), -7, -2, -1, 0, 1, 2, 3, 9, 2**31 - 1, 2**40, 2**62)


def _mutate_numbers(rng: np.random.Generator, data: bytes) -> bytes:
    model = onnx.ModelProto.FromString(data)
    for _ in range(rng.integers(1, 4)):
        if rng.integers(3) == 0:
            _mutate_constant(rng, model.graph.initializer)
        else:
            _mutate_node(rng, model.graph.node)
    mutated: bytes = model.SerializeToString()
    return mutated


def _mutate_constant(rng: np.random.Generator, tensors: Any) -> None:
    tensor = tensors[rng.integers(len(tensors))]
    array = np.array(onnx.numpy_helper.to_array(tensor))
    if rng.integers(3) == 0:
        array = array.reshape(-1)[: rng.integers(3)]
    elif array.size and array.dtype == np.int64:
        array.reshape(-1)[rng.integers(array.size)] = _number(rng)
    elif rng.integers(3) == 0:
        array = array.astype((np.float32, np.int32, np.uint8)[rng.integers(3)])
    tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))


def _mutate_node(rng: np.random.Generator, nodes: Any) -> None:
    node = nodes[rng.integers(len(nodes))]
    kind = rng.integers(6)
    if kind == 0 and node.input:
        del node.input[rng.integers(len(node.input))]
    elif kind == 1:
        node.input.append(nodes[rng.integers(len(nodes))].output[0])
    elif kind == 2:
        types = sorted(HANDLERS.types())
        node.op_type = types[rng.integers(len(types))]
    elif node.attribute:
        attribute = node.attribute[rng.integers(len(node.attribute))]
        if attribute.ints and rng.integers(4):
            attribute.ints[rng.integers(len(attribute.ints))] = _number(rng)
        elif attribute.ints:
            del attribute.ints[rng.integers(len(attribute.ints))]
        elif attribute.type == onnx.AttributeProto.INT:
            attribute.i = _number(rng)
        else:
            attribute.f = (0.0, -1.0, 1e38, float("nan"), float("inf"))[rng.integers(5)]


def _number(rng: np.random.Generator) -> int:
    return _NUMBERS[rng.integers(len(_NUMBERS))]


_MUTATIONS = {"bytes": _mutate, "numbers": _mutate_numbers}


def _requests(path: Path, model: onnx.ModelProto) -> list[ImportRequest]:
    inputs, outputs = [], []
    for value in model.graph.input:
        dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        inputs.append((value.name, tuple(dims)))
    outputs = [value.name for value in model.graph.output]
    return [
        ImportRequest(
            "fuzzed",
            path,
            tuple(InputSpec(n, s, data_format=DataFormat.NCHW) for n, s in shapes),
            tuple(OutputSpec(name, DataFormat.NCHW) for name in outputs),
        )
        for shapes in (inputs, [(name, ()) for name, _ in inputs])
    ]


@pytest.mark.parametrize("name", _MODELS)
def test_intact_models_are_imported(name: str, tmp_path: Path) -> None:
    model = _MODELS[name]()
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    for request in _requests(path, model):
        optimize(import_model(request))


@pytest.mark.parametrize("kind", _MUTATIONS)
@pytest.mark.parametrize("name", _MODELS)
def test_damaged_models_never_crash(name: str, kind: str, tmp_path: Path) -> None:
    model = _MODELS[name]()
    data = model.SerializeToString()
    path = tmp_path / "model.onnx"
    requests = _requests(path, model)
    refused = 0
    count = 300 * _ROUNDS
    for index in range(count):
        seed = [_SEED, index]
        mutated = _MUTATIONS[kind](np.random.default_rng(seed), data)
        path.write_bytes(mutated)
        for request in requests:
            try:
                optimize(import_model(request))
            except MaceError as error:
                assert str(error).strip()
                refused += 1
            except BaseException:
                _LOG.error("model %r, %s, seed %s", name, kind, seed)
                raise
    _LOG.info("%s: seed %d, %d of %d refused", name, _SEED, refused, 2 * count)
    # Mutations that nobody notices, or none that pass, would test nothing.
    assert 0 < refused < 2 * count

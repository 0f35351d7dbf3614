# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that draw random numbers."""

from __future__ import annotations

import onnx

from mace.python.tools.importers.emit import random_numbers
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.attributes import (
    ELEMENT_TYPES,
    element_type_name,
)
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import CAST_TARGETS, DataType
from mace.python.tools.ir.graph import Value

_FLOATS = frozenset(
    {
        onnx.TensorProto.UNDEFINED,
        onnx.TensorProto.FLOAT,
        onnx.TensorProto.FLOAT16,
        onnx.TensorProto.BFLOAT16,
        onnx.TensorProto.DOUBLE,
    }
)


@HANDLERS.register(
    "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"
)
def _random(node: Node) -> None:
    dtype = node.integer("dtype", onnx.TensorProto.UNDEFINED)
    if dtype not in _FLOATS:
        raise UnsupportedNodeError(
            f"dtype is {element_type_name(dtype)}; floats are drawn"
        )
    if node.type.endswith("Like"):
        if not dtype and node.input(0).dtype is not DataType.FLOAT32:
            raise UnsupportedNodeError("the elements are no floats; give dtype")
        shape = random_numbers.shape_of(node.builder, node.input(0), node.label)
    else:
        dims = tuple(node.integers("shape"))
        shape = random_numbers.constant_shape(node.builder, dims, node.label)
    normal = "Normal" in node.type
    numbers = _draw(node, normal, shape)
    if normal:
        offset, factor = node.real("mean", 0.0), node.real("scale", 1.0)
    else:
        offset = node.real("low", 0.0)
        factor = node.real("high", 1.0) - offset
    for mode, number, neutral in (("MUL", factor, 1), ("ADD", offset, 0)):
        if number != neutral:
            operand = node.scalar(number, numbers)
            numbers = node.eltwise(mode, numbers, operand)
    node.set_output(0, numbers)


@HANDLERS.register("Bernoulli")
def _bernoulli(node: Node) -> None:
    x = node.input(0)
    if x.dtype is not DataType.FLOAT32:
        raise UnsupportedNodeError(f"{x.name} has elements of type {x.dtype.value}")
    shape = random_numbers.shape_of(node.builder, x, node.label)
    drawn = _draw(node, False, shape)
    result = node.eltwise("LESS", drawn, x)
    wanted = DataType.FLOAT32
    if node.has("dtype"):
        wanted = _target(node.integer("dtype", 0))
    if wanted is not DataType.BOOL:
        result = node.cast(result, wanted)
    node.set_output(0, result)


@HANDLERS.register("Multinomial")
def _multinomial(node: Node) -> None:
    """Counts the classes whose cumulative probabilities a number is not below."""
    x = node.input(0)
    batch, classes = _matrix(node, x)
    samples = node.integer("sample_size", 1)
    if node.has("dtype"):
        wanted = _target(node.integer("dtype", 0))
        if wanted is not DataType.INT32:
            raise UnsupportedNodeError(f"dtype is {wanted.value}, no int32 or int64")
    shape = random_numbers.constant_shape(node.builder, (batch, samples, 1), node.label)
    drawn = _draw(node, False, shape)
    chances = node.make("Softmax", [x], {"axis": 1})
    sums = node.make("CumSum", [chances], {"axis": 1})
    # Without the last sum, which no number reaches.
    sums = node.slice(sums, 1, 0, classes - 1)
    sums = node.expand_dims(sums, [1])
    reached = node.eltwise("LESS_EQUAL", sums, drawn)
    reached = node.cast(reached, DataType.FLOAT32)
    found = node.reduce("SUM", reached, [2], keep_dims=False)
    node.set_output(0, node.cast(found, DataType.INT32))


def _draw(node: Node, normal: bool, shape: Value) -> Value:
    given = node.real("seed", 0.0) if node.has("seed") else None
    seed = random_numbers.seed_of(node.output_name, given)
    return random_numbers.draw(node.builder, node.label, normal, shape, seed)


def _matrix(node: Node, x: Value) -> tuple[int, int]:
    shape = node.static_shape(x)
    if len(shape) != 2 or shape[1] < 1:
        raise UnsupportedNodeError(
            f"{x.name} has the shape {list(shape)}; [batch, classes] is needed"
        )
    return shape[0], shape[1]


def _target(number: int) -> DataType:
    dtype = ELEMENT_TYPES.get(number)
    if dtype is None or dtype.narrowed not in CAST_TARGETS:
        raise UnsupportedNodeError(f"dtype is {element_type_name(number)}")
    return dtype.narrowed

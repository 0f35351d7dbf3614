# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Constants, casts and operators that have no effect in inference."""

from __future__ import annotations

import numpy as np
import onnx

from mace.python.tools.importers.emit import random_numbers
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.attributes import (
    ELEMENT_TYPES,
    element_type_name,
)
from mace.python.tools.importers.standard.handlers.elementwise import wrap
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import CAST_TARGETS, DataType

_HALVES = (DataType.BFLOAT16, DataType.FLOAT16)


@HANDLERS.register("Constant")
def _constant(node: Node) -> None:
    if node.has("value"):
        constant = node.attribute_tensor("value")
        node.set_output(0, node.lazy(constant, "value"))
        return
    types = {
        "value_float": np.float32,
        "value_floats": np.float32,
        "value_int": np.int64,
        "value_ints": np.int64,
    }
    for name, dtype in types.items():
        if node.has(name):
            array = np.asarray(node.attribute_value(name), dtype)
            node.set_output(0, node.builder.constant(f"{node.label}/value", array))
            return
    raise UnsupportedNodeError("strings and sparse tensors", "store it as a tensor")


@HANDLERS.register("Identity")
def _identity(node: Node) -> None:
    node.set_output(0, node.input(0))


@HANDLERS.register("OptionalGetElement")
def _optional(node: Node) -> None:
    node.set_output(0, node.input(0))


@HANDLERS.register("Dropout")
def _dropout(node: Node) -> None:
    x = node.input(0)
    if node.opset >= 12 and node.has_input(2):
        training = node.constant(2, "training_mode").reshape(-1)
        if training.size and bool(training[0]) and _dropout_ratio(node) != 0:
            _drop(node, _dropout_ratio(node))
            return
    if node.is_used(1):
        # Nothing is dropped.
        shape = node.static_shape(x)
        dtype = DataType.BOOL if node.opset >= 10 else x.dtype
        node.set_output(1, node.literal(np.ones(shape), dtype))
    node.set_output(0, x)


def _dropout_ratio(node: Node) -> float:
    if not node.has_input(1):
        return 0.5
    ratio = node.constant(1, "ratio").reshape(-1)
    return float(ratio[0]) if ratio.size else 0.5


def _drop(node: Node, ratio: float) -> None:
    """Dropout in training: elements become 0, the others larger."""
    x = node.input(0)
    if not 0 <= ratio < 1:
        raise UnsupportedNodeError(f"ratio is {ratio}, not within [0, 1)")
    shape = random_numbers.shape_of(node.builder, x, node.label)
    given = node.integer("seed", 0) if node.has("seed") else None
    seed = random_numbers.seed_of(node.output_name, given)
    drawn = random_numbers.draw(node.builder, node.label, False, shape, seed)
    limit = node.scalar(ratio, drawn)
    kept = node.eltwise("GREATER_EQUAL", drawn, limit)
    larger = node.scalar(1 / (1 - ratio), x)
    scaled = node.eltwise("MUL", x, larger)
    node.set_output(0, node.make("Where", [kept, scaled, node.scalar(0, x)]))
    node.set_output(1, kept)


@HANDLERS.register("Cast", "CastLike")
def _cast(node: Node) -> None:
    x = node.input(0)
    to = node.input(1).dtype if node.type == "CastLike" else _target(node)
    if to in _HALVES:
        # The values are rounded, and computed with in float32.
        if x.dtype is not DataType.FLOAT32:
            x = node.cast(x, DataType.FLOAT32)
        rounded = node.cast(x, to)
        node.emit("Cast", [rounded], {"to": "FLOAT32"})
        return
    if to in (DataType.INT16, DataType.UINT16):
        whole = node.cast(x, DataType.INT32)
        node.set_output(0, wrap(node, whole, to))
        return
    if to.narrowed is x.dtype and (to in CAST_TARGETS or x.is_constant):
        node.set_output(0, x)
        return
    if to not in CAST_TARGETS and not x.is_constant:
        raise UnsupportedNodeError(f"a cast to {to.value}")
    node.emit("Cast", [x], {"to": to.narrowed.value.upper()})


def _target(node: Node) -> DataType:
    if node.opset < 6:
        name = node.text("to", "")
        number = dict(onnx.TensorProto.DataType.items()).get(name, 0)
    else:
        number = node.integer("to", 0)
        name = element_type_name(number)
    if number not in ELEMENT_TYPES:
        raise UnsupportedNodeError(f"a cast to {name or number}")
    return ELEMENT_TYPES[number]

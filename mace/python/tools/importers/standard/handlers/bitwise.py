# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operations on the bits of integers."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.element_types import (
    ELEMENT_TYPES,
    element_type_name,
)
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_MODES = {"BitwiseAnd": "AND", "BitwiseOr": "OR", "BitwiseXor": "XOR"}
_BYTES = (DataType.INT8, DataType.UINT8)


@HANDLERS.register(*_MODES)
def _two_operands(node: Node) -> None:
    # The results have the range of the operands.
    _emit(node, _MODES[node.type], node.input(0).dtype)


@HANDLERS.register("BitwiseNot")
def _not(node: Node) -> None:
    dtype = node.integer_type(0)
    if dtype in (DataType.UINT32, DataType.UINT64):
        raise UnsupportedNodeError(
            f"the results are {dtype.value} above those of int32, in which MACE "
            "computes"
        )
    _emit(node, "NOT", dtype)


@HANDLERS.register("BitShift")
def _shift(node: Node) -> None:
    direction = node.text("direction", "")
    if direction not in ("LEFT", "RIGHT"):
        raise UnsupportedNodeError(f"direction is {direction!r}; LEFT and RIGHT work")
    dtype = node.input(0).dtype if direction == "RIGHT" else node.integer_type(0)
    _emit(node, f"SHIFT_{direction}", dtype)


@HANDLERS.register("BitCast")
def _bit_cast(node: Node) -> None:
    x, kind = node.input(0), node.integer("to", 0)
    to, dtype = ELEMENT_TYPES.get(kind), node.integer_type(0)
    if to is None or to.is_float or dtype.is_float:
        raise UnsupportedNodeError(
            f"from {dtype.value} to {element_type_name(kind)}; integers of the same "
            "size work"
        )
    sizes = [np.dtype(kind.numpy).itemsize for kind in (dtype, to)]
    if sizes[0] != sizes[1] or (sizes[0] > 2 and dtype is not to):
        raise UnsupportedNodeError(f"from {dtype.value} to {to.value}")
    if sizes[0] == 1:
        node.emit("Cast", [x], {"to": to.value.upper()})
    else:
        node.set_output(0, x if dtype is to else wrap(node, x, to))


def _emit(node: Node, mode: str, dtype: DataType) -> None:
    """Computes in int32 and returns to the range of the type.

    Args:
        node: whose inputs are the operands.
        mode: of Bitwise.
        dtype: of the results in ONNX, if they can leave its range.
    """
    values = [node.input(index) for index in range(len(node.inputs))]
    narrow = values[0].dtype in _BYTES
    if narrow:
        values = [node.make("Cast", [value], {"to": "INT32"}) for value in values]
    attrs = {"mode": mode}
    if not narrow and dtype not in (DataType.INT16, DataType.UINT16):
        node.emit("Bitwise", values, attrs)
        return
    result = node.make("Bitwise", values, attrs)
    if narrow:
        node.emit("Cast", [result], {"to": dtype.value.upper()})
    else:
        node.set_output(0, wrap(node, result, dtype))


def wrap(node: Node, value: Value, dtype: DataType) -> Value:
    """The lowest 16 bits of int32 as a number of int16 or uint16."""
    if dtype is DataType.UINT16:
        mask = node.scalar(0xFFFF, value)
        return node.make("Bitwise", [value, mask], {"mode": "AND"})
    bits = node.scalar(16, value)
    high = node.make("Bitwise", [value, bits], {"mode": "SHIFT_LEFT"})
    return node.make("Bitwise", [high, bits], {"mode": "SHIFT_RIGHT"})

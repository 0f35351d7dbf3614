# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Trigonometry, bits of integers, logic, and algebra of matrices."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.emit.einsum import einsum
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.importers.tf_operators.node import ELEMENT_TYPES, type_name
from mace.python.tools.ir.dtypes import DataType

_TRIGONOMETRIC = ("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh", "Sinh")
_BITS = {
    "BitwiseAnd": "AND",
    "BitwiseOr": "OR",
    "BitwiseXor": "XOR",
    "Invert": "NOT",
    "LeftShift": "SHIFT_LEFT",
    "RightShift": "SHIFT_RIGHT",
}
_LOGIC = {"LogicalAnd": "MIN", "LogicalOr": "MAX"}
_BYTES = (DataType.INT8, DataType.UINT8)
_INT32 = (DataType.INT32, DataType.INT64)


@HANDLERS.register(*_TRIGONOMETRIC)
def trigonometric(context: Context) -> None:
    """Inverse trigonometric and hyperbolic functions."""
    mode = context.node.op.upper()
    context.emit("Trigonometric", [context.input(0)], mode=mode)


@HANDLERS.register("Tan")
def tan(context: Context) -> None:
    """The quotient of sine and cosine."""
    x = context.input(0)
    sine = context.step("Eltwise", [x], "sine", mode="SIN")
    cosine = context.step("Eltwise", [x], "cosine", mode="COS")
    context.emit("Eltwise", [sine, cosine], mode="DIV")


@HANDLERS.register(*_BITS)
def bits(context: Context) -> None:
    """Operations on the bits of integers, in int32."""
    number = context.node.integer("T")
    dtype = ELEMENT_TYPES.get(number)
    if dtype not in (*_BYTES, *_INT32):
        raise UnsupportedNodeError(
            f"integers of type {type_name(number)}; int8, uint8, int32 and int64 work"
        )
    values, mode = list(context.inputs), _BITS[context.node.op]
    if dtype in _INT32:
        context.emit("Bitwise", values, mode=mode)
        return
    wide = [
        context.step("Cast", [value], f"wide_{index}", to="INT32")
        for index, value in enumerate(values)
    ]
    result = context.step("Bitwise", wide, "bits", mode=mode)
    context.emit("Cast", [result], to=dtype.value.upper())


@HANDLERS.register(*_LOGIC)
def logic(context: Context) -> None:
    """Two conditions, as the integers 0 and 1."""
    wide = [
        context.step("Cast", [context.input(i)], f"number_{i}", to="INT32")
        for i in range(2)
    ]
    result = context.step("Eltwise", wide, "both", mode=_LOGIC[context.node.op])
    context.emit("Cast", [result], to="BOOL")


@HANDLERS.register("LogicalNot")
def logical_not(context: Context) -> None:
    """A condition is false where its integer is 0."""
    number = context.step("Cast", [context.input(0)], "number", to="INT32")
    zero = context.constant(np.zeros((), np.int32), "zero")
    context.emit("Eltwise", [number, zero], mode="EQUAL")


@HANDLERS.register("MatrixDeterminant")
def determinant(context: Context) -> None:
    """tf.linalg.det."""
    context.emit("Determinant", [context.input(0)])


@HANDLERS.register("Einsum")
def einsum_of(context: Context) -> None:
    """tf.einsum."""
    values = [context.input(i) for i in range(len(context.inputs))]
    result = einsum(
        lambda op_type, inputs, attrs: context.step(op_type, inputs, "term", **attrs),
        context.node.string("equation"),
        values,
    )
    context.results[0] = context.builder.alias(result, context.output_name())

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Angles, rests, arithmetic in which zero wins, and bits of integers."""

from __future__ import annotations

import math
from collections.abc import Callable

from mace.python.tools.importers.emit.near_zero import log1p
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.importers.tf_operators.handlers.elementwise import or_zero
from mace.python.tools.importers.tf_operators.node import ELEMENT_TYPES, type_name
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_BITS = {
    "BitwiseAnd": "AND",
    "BitwiseOr": "OR",
    "BitwiseXor": "XOR",
    "Invert": "NOT",
    "LeftShift": "SHIFT_LEFT",
    "RightShift": "SHIFT_RIGHT",
}
_BYTES = (DataType.INT8, DataType.UINT8)
_INT32 = (DataType.INT32, DataType.INT64)


def _rest(context: Context, x: Value, y: Value) -> Value:
    """It has the sign of x."""
    rest = context.eltwise(
        "FLOOR_MOD", context.eltwise("ABS", x), context.eltwise("ABS", y)
    )
    return context.eltwise("MUL", rest, context.eltwise("SIGN", x))


def _quotient(context: Context, x: Value, y: Value) -> Value:
    """Rounded towards zero."""
    whole = context.eltwise(
        "FLOOR_DIV", context.eltwise("ABS", x), context.eltwise("ABS", y)
    )
    sign = context.eltwise(
        "MUL", context.eltwise("SIGN", x), context.eltwise("SIGN", y)
    )
    return context.eltwise("MUL", whole, sign)


def _angle(context: Context, y: Value, x: Value) -> Value:
    """Of (x, y), from -pi to pi."""
    angle = context.step(
        "Trigonometric", [context.eltwise("DIV", y, x)], "atan", mode="ATAN"
    )
    turns = [
        context.eltwise("LESS", y, 0),
        context.number(-math.pi, x),
        context.number(math.pi, x),
    ]
    left = context.eltwise("ADD", angle, context.step("Where", turns, "half_turn"))
    angle = context.step("Where", [context.eltwise("LESS", x, 0), left, angle], "side")
    upright = context.eltwise("MUL", context.eltwise("SIGN", y), math.pi / 2)
    return context.step("Where", [context.eltwise("EQUAL", x, 0), upright, angle])


# What several operators compute together, of the context and the inputs.
_FORMULAS: dict[str, Callable[..., Value]] = {
    "ApproximateEqual": lambda context, x, y: context.eltwise(
        "LESS",
        context.eltwise("ABS", context.eltwise("SUB", x, y)),
        context.node.number("tolerance", 1e-5),
    ),
    "Atan2": _angle,
    "Mod": _rest,
    "MulNoNan": lambda context, x, y: or_zero(context, y, context.eltwise("MUL", x, y)),
    "TruncateDiv": _quotient,
    "TruncateMod": _rest,
    "Xdivy": lambda context, x, y: or_zero(context, x, context.eltwise("DIV", x, y)),
    "Xlog1py": lambda context, x, y: or_zero(
        context,
        x,
        context.eltwise("MUL", x, log1p(context.builder, y, context.node.name)),
    ),
    "Xlogy": lambda context, x, y: or_zero(
        context, x, context.eltwise("MUL", x, context.eltwise("LOG", y))
    ),
}


@HANDLERS.register(*_FORMULAS)
def formula(context: Context) -> None:
    """What several operators compute together."""
    context.pass_on(_FORMULAS[context.node.op](context, *context.inputs))


@HANDLERS.register(*_BITS)
def bits(context: Context) -> None:
    """Operations on the bits of integers, in int32."""
    number = context.node.integer("T")
    dtype = ELEMENT_TYPES.get(number)
    if dtype not in (*_BYTES, *_INT32):
        raise UnsupportedNodeError(
            f"integers of type {type_name(number)}; int8, uint8, int32 and int64 work"
        )
    values, mode = context.inputs, _BITS[context.node.op]
    if dtype in _INT32:
        context.emit("Bitwise", values, mode=mode)
        return
    wide = [context.cast(value, DataType.INT32) for value in values]
    result = context.step("Bitwise", wide, "bits", mode=mode)
    context.emit("Cast", [result], to=dtype.value.upper())

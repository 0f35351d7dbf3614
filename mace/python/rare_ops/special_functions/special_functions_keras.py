# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions between layers: further functions of elements, norms and products."""

from __future__ import annotations

from functools import partial

import numpy as np

from mace.python.tools.importers.emit.near_zero import expm1, log1p
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context
from mace.python.tools.importers.keras.handlers.operations import (
    Call,
    Function,
    give_results,
)
from mace.python.tools.ir.graph import Value


def _unary(op_type: str) -> Function:
    return lambda c: c.op(op_type, c.floats())


def _scaled(op_type: str, before: float, behind: float, c: Call) -> Value:
    """`op_type` of a multiple of x, times a number."""
    x = c.floats() if before == 1 else c.op("Mul", c.floats(), before)
    y = c.op(op_type, x)
    return y if behind == 1 else c.op("Mul", y, behind)


def _shrunk(is_soft: bool, c: Call) -> Value:
    least = c.number(1, "threshold", 0.5)
    return c.op("Shrink", c.floats(), lambd=least, bias=least if is_soft else 0.0)


def _norm(c: Call) -> Value:
    order = c.get(1, "ord")
    if order not in (None, 2, "fro", "euclidean"):
        raise UnsupportedNodeError(f"ord is {order!r}")
    x = c.floats()
    axes = c.places(2, "axis", c.rank(x))
    if order == 2 and len(axes) != 1:
        raise UnsupportedNodeError("the largest singular value of matrices")
    keep = int(bool(c.get(3, "keepdims", False)))
    return c.op("ReduceL2", x, axes, keepdims=keep)


def _modulo(c: Call) -> Value:
    """With the sign of the divisor."""
    a, b = c.floats(0), c.floats(1)
    return c.op("Sub", a, c.op("Mul", c.op("Floor", c.op("Div", a, b)), b))


def _trunc(c: Call) -> Value:
    x = c.floats()
    return c.op("Mul", c.op("Sign", x), c.op("Floor", c.op("Abs", x)))


def _glu(c: Call) -> Value:
    x = c.floats()
    axis = c.axis(c.integers(1, "axis")[0], c.rank(x))
    half = c.length(x, axis) // 2
    gate = c.op("Sigmoid", c.slice(x, axis, half))
    return c.op("Mul", c.slice(x, axis, 0, half), gate)


def _threshold(c: Call) -> Value:
    x = c.floats()
    above = c.op("Greater", x, c.number(1, "threshold", 0))
    return c.op("Where", above, x, c.number(2, "default_value", 0))


def _outer(c: Call) -> Value:
    a, b = (c.reshape(c.floats(i), [-1]) for i in (0, 1))
    return c.op("Mul", c.unsqueeze(a, 1), c.unsqueeze(b, 0))


def _dot(c: Call) -> Value:
    a, b = c.floats(0), c.floats(1)
    if c.rank(b) > 2:
        raise UnsupportedNodeError("the second operand has more than 2 dimensions")
    return c.op("MatMul", a, b)


def _normal_rows(c: Call) -> Value:
    """What Keras calls rms_normalization."""
    x = c.floats()
    axes = [c.axis(a, c.rank(x)) for a in c.integers(2, "axis")]
    least = c.get(3, "epsilon")
    least = 1e-7 if least is None else float(least)
    squares = c.op("ReduceMean", c.op("Mul", x, x), axes, keepdims=1)
    y = c.op("Div", x, c.op("Sqrt", c.op("Add", squares, least)))
    return y if c.get(1, "scale") is None else c.op("Mul", y, c.floats(1, "scale"))


_FUNCTIONS: dict[str, Function] = {
    "ops.Arccos": _unary("Acos"),
    "ops.Arccosh": _unary("Acosh"),
    "ops.Arcsin": _unary("Asin"),
    "ops.Arcsinh": _unary("Asinh"),
    "ops.Arctan": _unary("Atan"),
    "ops.Arctanh": _unary("Atanh"),
    "ops.Cosh": _unary("Cosh"),
    "ops.Sinh": _unary("Sinh"),
    "ops.Tan": _unary("Tan"),
    "ops.Isnan": _unary("IsNaN"),
    "ops.Isinf": _unary("IsInf"),
    "ops.Expm1": lambda c: expm1(c.builder, c.floats(), c.label),
    "ops.Log1p": lambda c: log1p(c.builder, c.floats(), c.label),
    "ops.Exp2": partial(_scaled, "Exp", float(np.log(2)), 1),
    "ops.Log2": partial(_scaled, "Log", 1, float(1 / np.log(2))),
    "ops.Log10": partial(_scaled, "Log", 1, float(1 / np.log(10))),
    "ops.Deg2rad": partial(_scaled, "Identity", float(np.pi / 180), 1),
    "ops.Rad2deg": partial(_scaled, "Identity", float(180 / np.pi), 1),
    "ops.Erfc": lambda c: c.op("Sub", 1.0, c.op("Erf", c.floats())),
    "ops.Trunc": _trunc,
    "ops.Celu": lambda c: c.op("Celu", c.floats(), alpha=c.number(1, "alpha", 1)),
    "ops.HardTanh": lambda c: c.op("Clip", c.floats(), -1.0, 1.0),
    "ops.TanhShrink": lambda c: c.op("Sub", c.floats(), c.op("Tanh", c.floats())),
    "ops.HardShrink": partial(_shrunk, False),
    "ops.SoftShrink": partial(_shrunk, True),
    "ops.Threshold": _threshold,
    "ops.Glu": _glu,
    "ops.Mod": _modulo,
    "ops.Outer": _outer,
    "ops.Dot": _dot,
    "ops.Norm": _norm,
    "ops.RMSNorm": _normal_rows,
}


@HANDLERS.register(*_FUNCTIONS)
def convert(context: Context) -> None:
    """A function of the table."""
    give_results(Call(context), _FUNCTIONS[context.layer.kind])

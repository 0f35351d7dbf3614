# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic that several operators of MACE compute together."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.emit.near_zero import expm1, log1p
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_SELU = (1.0507009873554805, 1.6732632423543772)


def _number(context: Context, value: float, like: Value) -> Value:
    """A constant in the type of another value."""
    dtype = np.int32 if like.dtype is DataType.INT32 else np.float32
    return context.constant(np.asarray(value, dtype), "number")


def _two(context: Context, mode: str, a: Value, b: Value) -> Value:
    return context.step("Eltwise", [a, b], mode.lower(), mode=mode)


def _one(context: Context, mode: str, a: Value) -> Value:
    return context.step("Eltwise", [a], mode.lower(), mode=mode)


@HANDLERS.register("Log1p")
def log_1p(context: Context) -> None:
    """The logarithm of 1 + x."""
    _give(context, log1p(context.builder, context.input(0), context.node.name))


@HANDLERS.register("Expm1")
def exp_m1(context: Context) -> None:
    """exp(x) - 1."""
    _give(context, expm1(context.builder, context.input(0), context.node.name))


@HANDLERS.register("Xdivy", "Xlogy", "Xlog1py")
def with_zero(context: Context) -> None:
    """0 where x is 0, whatever y is."""
    x, y = context.input(0), context.input(1)
    op = context.node.op
    if op == "Xdivy":
        result = _two(context, "DIV", x, y)
    else:
        log = (
            log1p(context.builder, y, context.node.name)
            if op == "Xlog1py"
            else _one(context, "LOG", y)
        )
        result = _two(context, "MUL", x, log)
    zero = _number(context, 0, x)
    is_zero = _two(context, "EQUAL", x, zero)
    context.emit("Where", [is_zero, zero, result])


@HANDLERS.register("DivNoNan", "MulNoNan")
def no_nan(context: Context) -> None:
    """0 where y is 0, whatever x is."""
    x, y = context.input(0), context.input(1)
    mode = "DIV" if context.node.op == "DivNoNan" else "MUL"
    zero = _number(context, 0, y)
    is_zero = _two(context, "EQUAL", y, zero)
    context.emit("Where", [is_zero, zero, _two(context, mode, x, y)])


@HANDLERS.register("Mod", "TruncateMod")
def truncated_rest(context: Context) -> None:
    """The rest has the sign of x."""
    x, y = context.input(0), context.input(1)
    rest = _two(context, "FLOOR_MOD", _one(context, "ABS", x), _one(context, "ABS", y))
    context.emit("Eltwise", [rest, _one(context, "SIGN", x)], mode="MUL")


@HANDLERS.register("TruncateDiv")
def truncated_quotient(context: Context) -> None:
    """Towards zero."""
    x, y = context.input(0), context.input(1)
    whole = _two(context, "FLOOR_DIV", _one(context, "ABS", x), _one(context, "ABS", y))
    sign = _two(context, "MUL", _one(context, "SIGN", x), _one(context, "SIGN", y))
    context.emit("Eltwise", [whole, sign], mode="MUL")


@HANDLERS.register("Erfc")
def erfc(context: Context) -> None:
    """1 - erf(x): exact to a rounding of 1, not to one of small results."""
    x = context.input(0)
    context.emit(
        "Eltwise", [_number(context, 1, x), _one(context, "ERF", x)], mode="SUB"
    )


@HANDLERS.register("Atan2")
def atan2(context: Context) -> None:
    """The angle of (x, y), from -pi to pi."""
    y, x = context.input(0), context.input(1)
    zero = _number(context, 0, x)
    quotient = _two(context, "DIV", y, x)
    angle = context.step("Trigonometric", [quotient], "atan", mode="ATAN")
    is_below = _two(context, "LESS", y, zero)
    pi = _number(context, math.pi, x)
    half_turn = context.step(
        "Where", [is_below, _number(context, -math.pi, x), pi], "half_turn"
    )
    left = _two(context, "ADD", angle, half_turn)
    angle = context.step("Where", [_two(context, "LESS", x, zero), left, angle], "side")
    quarter = _number(context, math.pi / 2, x)
    upright = _two(context, "MUL", _one(context, "SIGN", y), quarter)
    is_zero = _two(context, "EQUAL", x, zero)
    context.emit("Where", [is_zero, upright, angle])


@HANDLERS.register("IsNan", "IsInf", "IsFinite")
def is_number(context: Context) -> None:
    """NaN alone is not equal to itself, infinities alone are not below one."""
    x, op = context.input(0), context.node.op
    if op == "IsNan":
        context.emit("Eltwise", [x, x], mode="NOT_EQUAL")
        return
    size = _one(context, "ABS", x)
    infinity = _number(context, math.inf, x)
    mode = "EQUAL" if op == "IsInf" else "LESS"
    context.emit("Eltwise", [size, infinity], mode=mode)


@HANDLERS.register("ClipByValue")
def clip(context: Context) -> None:
    """Between two numbers or tensors."""
    x, low, high = (context.input(i) for i in range(3))
    context.emit("Eltwise", [_two(context, "MIN", x, high), low], mode="MAX")


@HANDLERS.register("Selu")
def selu(context: Context) -> None:
    """A scaled ELU."""
    scale, alpha = _SELU
    x = context.input(0)
    elu = context.step(
        "Activation", [x], "elu", activation="ELU", activation_alpha=alpha
    )
    context.emit("Eltwise", [elu, _number(context, scale, x)], mode="MUL")


@HANDLERS.register("L2Loss")
def l2_loss(context: Context) -> None:
    """Half of the sum of squares."""
    x = context.input(0)
    total = context.step("Reduce", [x], "total", mode="SUM_SQUARE", keep_dims=False)
    context.emit("Eltwise", [total, _number(context, 0.5, x)], mode="MUL")


@HANDLERS.register("ApproximateEqual")
def almost(context: Context) -> None:
    """Whether two numbers are nearer than the tolerance."""
    x, y = context.input(0), context.input(1)
    far = _one(context, "ABS", _two(context, "SUB", x, y))
    tolerance = _number(context, context.node.number("tolerance", 1e-5), x)
    context.emit("Eltwise", [far, tolerance], mode="LESS")


@HANDLERS.register("EuclideanNorm")
def norm(context: Context) -> None:
    """The length of vectors."""
    axes = context.ints(1, "axis")
    keep = context.node.flag("keep_dims")
    context.emit("Reduce", [context.input(0)], mode="L2", axes=axes, keep_dims=keep)


@HANDLERS.register("All", "Any")
def conditions(context: Context) -> None:
    """Over some axes, as the numbers 0 and 1."""
    x, axes = context.input(0), context.ints(1, "axis")
    if not axes:
        _give(context, x)
        return
    numbers = context.step("Cast", [x], "numbers", to="FLOAT32")
    mode = "MIN" if context.node.op == "All" else "MAX"
    keep = context.node.flag("keep_dims")
    result = context.step(
        "Reduce", [numbers], "reduced", mode=mode, axes=axes, keep_dims=keep
    )
    context.emit("Cast", [result], to="BOOL")


def _give(context: Context, value: Value) -> None:
    context.results[0] = context.builder.alias(value, context.output_name())

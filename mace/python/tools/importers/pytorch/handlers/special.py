# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of elements that consist of several operators, and losses."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.importers.pytorch.handlers.elementwise import as_float
from mace.python.tools.importers.pytorch.promotion import promoted
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32


def _floats(c: Context, *names: str) -> list[Value]:
    return promoted(c, names, _FLOAT)


def _number(c: Context, number: float) -> Value:
    return c.constant(number, _FLOAT)


@HANDLERS.register("aten.logaddexp", "aten.logaddexp2")
def _log_add_exp(c: Context) -> None:
    a, b = _floats(c, "self", "other")
    base = 1.0 if c.operator == "logaddexp" else math.log(2.0)
    c.give(log_add_exp(c, a, b, base))


def log_add_exp(c: Context, a: Value, b: Value, base: float = 1.0) -> Value:
    """The logarithm of the sum of two powers; `base` is the logarithm of their base."""
    # The difference of equal infinities is no number.
    gap = c.op("Where", c.op("Equal", a, b), _number(c, 0), c.op("Sub", a, b))
    power = c.op("Exp", c.op("Mul", c.op("Abs", gap), _number(c, -base)))
    more = c.op("Log", c.op("Add", power, _number(c, 1)))
    if base != 1:
        more = c.op("Mul", more, _number(c, 1 / base))
    return c.op("Add", c.op("Max", a, b), more)


@HANDLERS.register("aten.xlogy", "aten.special_xlogy", "aten.special_xlog1py")
def _x_log_y(c: Context) -> None:
    x, y = _floats(c, "self", "other")
    inner = c.op("Add", y, _number(c, 1)) if "log1p" in c.operator else y
    product = c.op("Mul", x, c.op("Log", inner))
    nothing = c.op("And", c.op("Equal", x, _number(c, 0)), c.op("Equal", y, y))
    c.give(c.op("Where", nothing, _number(c, 0), product))


@HANDLERS.register("aten.logit", "aten.special_logit")
def _logit(c: Context) -> None:
    x = as_float(c, c.value("self"))
    if c.has("eps"):
        bound = c.number("eps")
        x = c.op("Clip", x, _number(c, bound), _number(c, 1 - bound))
    c.give(c.op("Log", c.op("Div", x, c.op("Sub", _number(c, 1), x))))


@HANDLERS.register("aten.hypot")
def _hypot(c: Context) -> None:
    a, b = _floats(c, "self", "other")
    c.give(c.op("Sqrt", c.op("Add", c.op("Mul", a, a), c.op("Mul", b, b))))


def _is_negative(c: Context, x: Value) -> Value:
    """Whether a number has the sign -, which 0 may have, too."""
    below = c.op("Less", x, c.constant(0, x.dtype))
    if not x.dtype.is_float:
        return below
    return c.op("Or", below, c.op("Less", c.op("Reciprocal", x), _number(c, 0)))


@HANDLERS.register("aten.signbit")
def _signbit(c: Context) -> None:
    c.give(_is_negative(c, c.value("self")))


@HANDLERS.register("aten.copysign")
def _copysign(c: Context) -> None:
    a, b = _floats(c, "self", "other")
    size = c.op("Abs", a)
    c.give(c.op("Where", _is_negative(c, b), c.op("Neg", size), size))


@HANDLERS.register("aten.sinc", "aten.special_sinc")
def _sinc(c: Context) -> None:
    x = c.op("Mul", as_float(c, c.value("self")), _number(c, math.pi))
    found = c.op("Div", c.op("Sin", x), x)
    c.give(c.op("Where", c.op("Equal", x, _number(c, 0)), _number(c, 1), found))


@HANDLERS.register("aten.heaviside")
def _heaviside(c: Context) -> None:
    x, at_zero = promoted(c, ("self", "values"))
    zero, one = c.constant(0, x.dtype), c.constant(1, x.dtype)
    found = c.op("Where", c.op("Greater", x, zero), one, zero)
    c.give(c.op("Where", c.op("Equal", x, zero), at_zero, found))


@HANDLERS.register("aten.deg2rad", "aten.rad2deg")
def _angle(c: Context) -> None:
    x = as_float(c, c.value("self"))
    factor = math.pi / 180 if c.operator == "deg2rad" else 180 / math.pi
    c.give(c.op("Mul", x, _number(c, factor)))


@HANDLERS.register("aten.ldexp")
def _ldexp(c: Context) -> None:
    x, exponent = _floats(c, "self", "other")
    c.give(c.op("Mul", x, c.op("Pow", _number(c, 2), exponent)))


@HANDLERS.register("aten.isneginf", "aten.isposinf")
def _is_infinite(c: Context) -> None:
    x = as_float(c, c.value("self"))
    bound = -np.inf if c.operator == "isneginf" else np.inf
    c.give(c.op("Equal", x, _number(c, bound)))


@HANDLERS.register("aten.fmax", "aten.fmin")
def _other_than_nan(c: Context) -> None:
    """The larger or smaller one, or the one that is a number."""
    a, b = promoted(c, ("self", "other"))
    found = c.op("Max" if c.operator == "fmax" else "Min", a, b)
    if a.dtype.is_float:
        found = c.op("Where", c.op("IsNaN", b), a, found)
        found = c.op("Where", c.op("IsNaN", a), b, found)
    c.give(found)


@HANDLERS.register("aten.isclose")
def _isclose(c: Context) -> None:
    a, b = _floats(c, "self", "other")
    bound = c.op(
        "Add",
        _number(c, c.number("atol", 1e-8)),
        c.op("Mul", c.op("Abs", b), _number(c, c.number("rtol", 1e-5))),
    )
    gap = c.op("Abs", c.op("Sub", a, b))
    near = c.op("And", c.op("LessOrEqual", gap, bound), c.op("Not", c.op("IsInf", gap)))
    near = c.op("Or", near, c.op("Equal", a, b))
    if c.flag("equal_nan"):
        near = c.op("Or", near, c.op("And", c.op("IsNaN", a), c.op("IsNaN", b)))
    c.give(near)


@HANDLERS.register("aten.special_ndtr", "aten.special_entr")
def _of_probability(c: Context) -> None:
    x = as_float(c, c.value("self"))
    if c.operator == "special_ndtr":
        share = c.op("Erf", c.op("Mul", x, _number(c, math.sqrt(0.5))))
        c.give(c.op("Mul", c.op("Add", share, _number(c, 1)), _number(c, 0.5)))
        return
    zero = _number(c, 0)
    found = c.op("Neg", c.op("Mul", x, c.op("Log", x)))
    found = c.op("Where", c.op("Equal", x, zero), zero, found)
    c.give(c.op("Where", c.op("Less", x, zero), _number(c, -np.inf), found))


@HANDLERS.register("aten.bitwise_left_shift", "aten.bitwise_right_shift")
@HANDLERS.register("aten.__lshift__", "aten.__rshift__")
def _shift(c: Context) -> None:
    """Products with powers of 2, and quotients that are rounded down."""
    x = c.value("self")
    if not c.value("other").is_constant or x.dtype.is_float:
        raise UnsupportedNodeError(
            f"a shift of {x.dtype.value} by a number that is computed at run time"
        )
    by = c.known("other")
    if by.size and not 0 <= by.min() <= by.max() < 31:
        raise UnsupportedNodeError(f"a shift by {by.reshape(-1)[:5].tolist()}")
    power = c.constant(2 ** by.astype(np.int64), DataType.INT32)
    wide = c.cast(x, DataType.INT32)
    if "left" in c.operator or "lshift" in c.operator:
        result = c.op("Mul", wide, power)
    else:
        rest = c.op("Mod", wide, power)
        result = c.op("Div", c.op("Sub", wide, rest), power)
    c.give(c.cast(result, c.type_of_result()))


# Losses ----------------------------------------------------------------------------


@HANDLERS.register(
    "aten.mse_loss", "aten.l1_loss", "aten.smooth_l1_loss", "aten.huber_loss"
)
def _loss(c: Context) -> None:
    a, b = c.value("self"), c.value("target")
    gap = c.op("Sub", a, b)
    if c.operator == "mse_loss":
        found = c.op("Mul", gap, gap)
    else:
        found = size = c.op("Abs", gap)
        bound = c.number("beta" if c.operator == "smooth_l1_loss" else "delta", 1)
        if c.operator != "l1_loss" and bound > 0:
            huber = c.operator == "huber_loss"
            half = 0.5 if huber else 0.5 / bound
            near = c.op("Mul", c.op("Mul", size, size), _number(c, half))
            far = c.op("Sub", size, _number(c, 0.5 * bound))
            far = c.op("Mul", far, _number(c, bound)) if huber else far
            found = c.op("Where", c.op("Less", size, _number(c, bound)), near, far)
    reduction = c.integer("reduction", 1)
    if reduction:
        kind = "ReduceMean" if reduction == 1 else "ReduceSum"
        if c.rank(found):
            found = c.op(kind, found, list(range(c.rank(found))), keepdims=0)
    c.give(found)

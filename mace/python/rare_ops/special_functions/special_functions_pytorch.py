# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of elements that consist of several operators, and losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mace.python.tools.importers.emit.near_zero import log1p
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32


def _floats(c: Context, *names: str) -> list[Value]:
    return c.promoted(*names, least=_FLOAT)


@HANDLERS.register("aten.logaddexp", "aten.logaddexp2")
def _log_add_exp(c: Context) -> None:
    a, b = _floats(c, "self", "other")
    base = 1.0 if c.operator == "logaddexp" else math.log(2.0)
    c.give(log_add_exp(c, a, b, base))


def log_add_exp(c: Context, a: Value, b: Value, base: float = 1.0) -> Value:
    """The logarithm of the sum of two powers; `base` is the logarithm of their base."""
    # The difference of equal infinities is no number.
    gap = c.op("Where", c.op("Equal", a, b), 0.0, c.op("Sub", a, b))
    power = c.op("Exp", c.op("Mul", c.op("Abs", gap), -base))
    more = log1p(c.builder, power, c.label)
    if base != 1:
        more = c.op("Mul", more, 1 / base)
    return c.op("Add", c.op("Max", a, b), more)


@HANDLERS.register("aten.xlogy", "aten.special_xlogy", "aten.special_xlog1py")
def _x_log_y(c: Context) -> None:
    x, y = _floats(c, "self", "other")
    is_more = "log1p" in c.operator
    log = log1p(c.builder, y, c.label) if is_more else c.op("Log", y)
    product = c.op("Mul", x, log)
    nothing = c.op("And", c.op("Equal", x, 0.0), c.op("Equal", y, y))
    c.give(c.op("Where", nothing, 0.0, product))


@HANDLERS.register("aten.logit", "aten.special_logit")
def _logit(c: Context) -> None:
    x = c.floats()
    if c.has("eps"):
        bound = c.number("eps")
        x = c.op("Clip", x, bound, 1 - bound)
    c.give(c.op("Log", c.op("Div", x, c.op("Sub", 1.0, x))))


@HANDLERS.register("aten.hypot")
def _hypot(c: Context) -> None:
    a, b = _floats(c, "self", "other")
    c.give(c.op("Sqrt", c.op("Add", c.op("Mul", a, a), c.op("Mul", b, b))))


def _is_negative(c: Context, x: Value) -> Value:
    """Whether a number has the sign -, which 0 may have, too."""
    below = c.op("Less", x, c.constant(0, x.dtype))
    if not x.dtype.is_float:
        return below
    return c.op("Or", below, c.op("Less", c.op("Reciprocal", x), 0.0))


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
    x = c.op("Mul", c.floats(), math.pi)
    found = c.op("Div", c.op("Sin", x), x)
    c.give(c.op("Where", c.op("Equal", x, 0.0), 1.0, found))


# By M. Giles, "Approximating the erfinv function" (2010), single precision: polynomials
# in -log(1 - x * x), near 0 and for the rest, the highest power first.
_ERFINV_NEAR = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087),
    *(-0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
)
_ERFINV_FAR = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773),
    *(-0.0076224613, 0.00943887047, 1.00167406, 2.83297682),
)


def _polynomial(c: Context, x: Value, factors: Sequence[float]) -> Value:
    result = c.op("Add", c.op("Mul", factors[0], x), factors[1])
    for factor in factors[2:]:
        result = c.op("Add", c.op("Mul", result, x), factor)
    return result


def _erfinv(c: Context, x: Value) -> Value:
    one = 1.0
    product = c.op("Mul", c.op("Sub", one, x), c.op("Add", one, x))
    power = c.op("Neg", c.op("Log", product))
    near = _polynomial(c, c.op("Sub", power, 2.5), _ERFINV_NEAR)
    root = c.op("Sqrt", c.op("Max", power, 0.0))
    far = _polynomial(c, c.op("Sub", root, 3.0), _ERFINV_FAR)
    factor = c.op("Where", c.op("Less", power, 5.0), near, far)
    at_end = c.op("Equal", c.op("Abs", x), one)
    return c.op("Mul", x, c.op("Where", at_end, math.inf, factor))


@HANDLERS.register("aten.erfinv", "aten.special_erfinv")
def _inverse_of_erf(c: Context) -> None:
    c.give(_erfinv(c, c.floats()))


@HANDLERS.register("aten.special_ndtri")
def _quantile_of_normal(c: Context) -> None:
    x = c.op("Mul", c.floats(), 2.0)
    found = _erfinv(c, c.op("Sub", x, 1.0))
    c.give(c.op("Mul", found, math.sqrt(2)))


# Up to here, the gamma function is that of a number larger by as much, and a product.
_GAMMA_STEPS = 8.0


@dataclass(frozen=True)
class _GammaArgument:
    """An argument for Stirling's series.

    Attributes:
        mirrored: whether it is below 1/2: then the rest is about 1 - x.
        is_small: whether it is less than _GAMMA_STEPS.
        small: x, or something harmless if it is not small.
        large: at least _GAMMA_STEPS.
        turn: pi * x without whole turns.
    """

    mirrored: Value
    is_small: Value
    small: Value
    large: Value
    turn: Value


def _gamma_argument(c: Context, x: Value) -> _GammaArgument:
    steps = _GAMMA_STEPS
    mirrored = c.op("Less", x, 0.5)
    y = c.op("Where", mirrored, c.op("Sub", 1.0, x), x)
    is_small = c.op("Less", y, steps)
    large = c.op("Where", is_small, c.op("Add", y, steps), y)
    turn = c.op("Mul", c.op("Sub", x, c.op("Floor", x)), math.pi)
    return _GammaArgument(mirrored, is_small, c.op("Min", y, steps), large, turn)


@HANDLERS.register("aten.lgamma", "aten.special_gammaln")
def _log_gamma(c: Context) -> None:
    x = c.floats()
    known = _gamma_argument(c, x)
    inverse = c.op("Reciprocal", known.large)
    rest = _polynomial(c, c.op("Mul", inverse, inverse), (1 / 1260, -1 / 360, 1 / 12))
    logarithm = c.op("Log", known.large)
    half = c.op("Sub", known.large, 0.5)
    result = c.op("Sub", c.op("Mul", half, logarithm), known.large)
    result = c.op("Add", result, math.log(2 * math.pi) / 2)
    result = c.op("Add", result, c.op("Mul", rest, inverse))
    product = known.small
    for step in range(1, int(_GAMMA_STEPS)):
        product = c.op("Mul", product, c.op("Add", known.small, float(step)))
    less = c.op("Where", known.is_small, c.op("Log", product), 0.0)
    result = c.op("Sub", result, less)
    sine = c.op("Abs", c.op("Sin", known.turn))
    other = c.op("Sub", c.op("Log", c.op("Div", math.pi, sine)), result)
    c.give(c.op("Where", known.mirrored, other, result))


@HANDLERS.register("aten.digamma", "aten.special_digamma", "aten.special_psi")
def _digamma(c: Context) -> None:
    x = c.floats()
    known = _gamma_argument(c, x)
    inverse = c.op("Reciprocal", known.large)
    square = c.op("Mul", inverse, inverse)
    rest = _polynomial(c, square, (1 / 252, -1 / 120, 1 / 12))
    rest = c.op("Add", c.op("Mul", rest, square), c.op("Mul", inverse, 0.5))
    result = c.op("Sub", c.op("Log", known.large), rest)
    for step in range(int(_GAMMA_STEPS)):
        part = c.op("Reciprocal", c.op("Add", known.small, float(step)))
        part = c.op("Where", known.is_small, part, 0.0)
        result = c.op("Sub", result, part)
    slope = c.op("Div", c.op("Cos", known.turn), c.op("Sin", known.turn))
    other = c.op("Sub", result, c.op("Mul", slope, math.pi))
    c.give(c.op("Where", known.mirrored, other, result))


@HANDLERS.register("aten.heaviside")
def _heaviside(c: Context) -> None:
    x, at_zero = c.promoted("self", "values")
    zero, one = c.constant(0, x.dtype), c.constant(1, x.dtype)
    found = c.op("Where", c.op("Greater", x, zero), one, zero)
    c.give(c.op("Where", c.op("Equal", x, zero), at_zero, found))


@HANDLERS.register("aten.deg2rad", "aten.rad2deg")
def _angle(c: Context) -> None:
    x = c.floats()
    factor = math.pi / 180 if c.operator == "deg2rad" else 180 / math.pi
    c.give(c.op("Mul", x, factor))


@HANDLERS.register("aten.ldexp")
def _ldexp(c: Context) -> None:
    x, exponent = _floats(c, "self", "other")
    c.give(c.op("Mul", x, c.op("Pow", 2.0, exponent)))


@HANDLERS.register("aten.isneginf", "aten.isposinf")
def _is_infinite(c: Context) -> None:
    x = c.floats()
    bound = -np.inf if c.operator == "isneginf" else np.inf
    c.give(c.op("Equal", x, bound))


@HANDLERS.register("aten.fmax", "aten.fmin")
def _other_than_nan(c: Context) -> None:
    """The larger or smaller one, or the one that is a number."""
    a, b = c.promoted("self", "other")
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
        c.number("atol", 1e-8),
        c.op("Mul", c.op("Abs", b), c.number("rtol", 1e-5)),
    )
    gap = c.op("Abs", c.op("Sub", a, b))
    near = c.op("And", c.op("LessOrEqual", gap, bound), c.op("Not", c.op("IsInf", gap)))
    near = c.op("Or", near, c.op("Equal", a, b))
    if c.flag("equal_nan"):
        near = c.op("Or", near, c.op("And", c.op("IsNaN", a), c.op("IsNaN", b)))
    c.give(near)


@HANDLERS.register("aten.special_ndtr", "aten.special_entr")
def _of_probability(c: Context) -> None:
    x = c.floats()
    if c.operator == "special_ndtr":
        share = c.op("Erf", c.op("Mul", x, math.sqrt(0.5)))
        c.give(c.op("Mul", c.op("Add", share, 1.0), 0.5))
        return
    zero = 0.0
    found = c.op("Neg", c.op("Mul", x, c.op("Log", x)))
    found = c.op("Where", c.op("Equal", x, zero), zero, found)
    c.give(c.op("Where", c.op("Less", x, zero), -np.inf, found))


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
            near = c.op("Mul", c.op("Mul", size, size), half)
            far = c.op("Sub", size, 0.5 * bound)
            far = c.op("Mul", far, bound) if huber else far
            found = c.op("Where", c.op("Less", size, bound), near, far)
    reduction = c.integer("reduction", 1)
    if reduction:
        kind = "ReduceMean" if reduction == 1 else "ReduceSum"
        if c.rank(found):
            found = c.op(kind, found, list(range(c.rank(found))), keepdims=0)
    c.give(found)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of elements that consist of several operators, and losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mace.python.tools.importers.emit.near_zero import log1p
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context, Function
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value


def _log_add_exp(c: Context, a: Value, b: Value, base: float = 1.0) -> Value:
    """The logarithm of the sum of two powers; `base` is the logarithm of their base."""
    # The difference of equal infinities is no number.
    gap = c.op("Where", c.op("Equal", a, b), 0.0, c.op("Sub", a, b))
    power = c.op("Exp", c.op("Mul", c.op("Abs", gap), -base))
    more = log1p(c.builder, power, c.label)
    if base != 1:
        more = c.op("Mul", more, 1 / base)
    return c.op("Add", c.op("Max", a, b), more)


def _x_log_y(c: Context, x: Value, y: Value) -> Value:
    is_more = "log1p" in c.operator
    log = log1p(c.builder, y, c.label) if is_more else c.op("Log", y)
    nothing = c.op("And", c.op("Equal", x, 0.0), c.op("Equal", y, y))
    return c.op("Where", nothing, 0.0, c.op("Mul", x, log))


def _hypot(c: Context, a: Value, b: Value) -> Value:
    return c.op("Sqrt", c.op("Add", c.op("Mul", a, a), c.op("Mul", b, b)))


def _copysign(c: Context, a: Value, b: Value) -> Value:
    size = c.op("Abs", a)
    return c.op("Where", _is_negative(c, b), c.op("Neg", size), size)


def _is_negative(c: Context, x: Value) -> Value:
    """Whether a number has the sign -, which 0 may have, too."""
    below = c.op("Less", x, c.constant(0, x.dtype))
    if not x.dtype.is_float:
        return below
    return c.op("Or", below, c.op("Less", c.op("Reciprocal", x), 0.0))


def _isclose(c: Context, a: Value, b: Value) -> Value:
    relative = c.op("Mul", c.op("Abs", b), c.number("rtol", 1e-5))
    bound = c.op("Add", c.number("atol", 1e-8), relative)
    gap = c.op("Abs", c.op("Sub", a, b))
    near = c.op("And", c.op("LessOrEqual", gap, bound), c.op("Not", c.op("IsInf", gap)))
    near = c.op("Or", near, c.op("Equal", a, b))
    if c.flag("equal_nan"):
        near = c.op("Or", near, c.op("And", c.op("IsNaN", a), c.op("IsNaN", b)))
    return near


_OF_TWO: Mapping[str, Callable[[Context, Value, Value], Value]] = {
    "aten.copysign": _copysign,
    "aten.hypot": _hypot,
    "aten.isclose": _isclose,
    "aten.ldexp": lambda c, a, b: c.op("Mul", a, c.op("Pow", 2.0, b)),
    "aten.logaddexp": _log_add_exp,
    "aten.logaddexp2": lambda c, a, b: _log_add_exp(c, a, b, math.log(2)),
    "aten.special_xlog1py": _x_log_y,
    "aten.special_xlogy": _x_log_y,
    "aten.xlogy": _x_log_y,
}


@HANDLERS.register(*_OF_TWO)
def _of_two(c: Context) -> None:
    operands = c.promoted("self", "other", least=DataType.FLOAT32)
    c.give(_OF_TWO[f"aten.{c.operator}"](c, *operands))


@HANDLERS.register("aten.signbit")
def _signbit(c: Context) -> None:
    c.give(_is_negative(c, c.value("self")))


def _logit(c: Context, x: Value) -> Value:
    if c.has("eps"):
        bound = c.number("eps")
        x = c.op("Clip", x, bound, 1 - bound)
    return c.op("Log", c.op("Div", x, c.op("Sub", 1.0, x)))


def _sinc(c: Context, x: Value) -> Value:
    x = c.op("Mul", x, math.pi)
    return c.op("Where", c.op("Equal", x, 0.0), 1.0, c.op("Div", c.op("Sin", x), x))


def _ndtr(c: Context, x: Value) -> Value:
    share = c.op("Erf", c.op("Mul", x, math.sqrt(0.5)))
    return c.op("Mul", c.op("Add", share, 1.0), 0.5)


def _ndtri(c: Context, x: Value) -> Value:
    found = _erfinv(c, c.op("Sub", c.op("Mul", x, 2.0), 1.0))
    return c.op("Mul", found, math.sqrt(2))


def _entr(c: Context, x: Value) -> Value:
    found = c.op("Neg", c.op("Mul", x, c.op("Log", x)))
    found = c.op("Where", c.op("Equal", x, 0.0), 0.0, found)
    return c.op("Where", c.op("Less", x, 0.0), -math.inf, found)


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
    product = c.op("Mul", c.op("Sub", 1.0, x), c.op("Add", 1.0, x))
    power = c.op("Neg", c.op("Log", product))
    near = _polynomial(c, c.op("Sub", power, 2.5), _ERFINV_NEAR)
    root = c.op("Sqrt", c.op("Max", power, 0.0))
    far = _polynomial(c, c.op("Sub", root, 3.0), _ERFINV_FAR)
    factor = c.op("Where", c.op("Less", power, 5.0), near, far)
    at_end = c.op("Equal", c.op("Abs", x), 1.0)
    return c.op("Mul", x, c.op("Where", at_end, math.inf, factor))


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


def _log_gamma(c: Context, x: Value) -> Value:
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
    return c.op("Where", known.mirrored, other, result)


def _digamma(c: Context, x: Value) -> Value:
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
    return c.op("Where", known.mirrored, other, result)


_OF_ONE: Mapping[str, Function] = {
    "aten.deg2rad": lambda c, x: c.op("Mul", x, math.pi / 180),
    "aten.digamma": _digamma,
    "aten.erfinv": _erfinv,
    "aten.isneginf": lambda c, x: c.op("Equal", x, -math.inf),
    "aten.isposinf": lambda c, x: c.op("Equal", x, math.inf),
    "aten.lgamma": _log_gamma,
    "aten.logit": _logit,
    "aten.rad2deg": lambda c, x: c.op("Mul", x, 180 / math.pi),
    "aten.sinc": _sinc,
    "aten.special_digamma": _digamma,
    "aten.special_entr": _entr,
    "aten.special_erfinv": _erfinv,
    "aten.special_gammaln": _log_gamma,
    "aten.special_logit": _logit,
    "aten.special_ndtr": _ndtr,
    "aten.special_ndtri": _ndtri,
    "aten.special_psi": _digamma,
    "aten.special_sinc": _sinc,
}


@HANDLERS.register(*_OF_ONE)
def _of_one(c: Context) -> None:
    c.give(_OF_ONE[f"aten.{c.operator}"](c, c.floats()))


@HANDLERS.register("aten.heaviside")
def _heaviside(c: Context) -> None:
    x, at_zero = c.promoted("self", "values")
    zero, one = c.constant(0, x.dtype), c.constant(1, x.dtype)
    found = c.op("Where", c.op("Greater", x, zero), one, zero)
    c.give(c.op("Where", c.op("Equal", x, zero), at_zero, found))


@HANDLERS.register("aten.fmax", "aten.fmin")
def _other_than_nan(c: Context) -> None:
    """The larger or smaller one, or the one that is a number."""
    a, b = c.promoted("self", "other")
    found = c.op("Max" if c.operator == "fmax" else "Min", a, b)
    if a.dtype.is_float:
        found = c.op("Where", c.op("IsNaN", b), a, found)
        found = c.op("Where", c.op("IsNaN", a), b, found)
    c.give(found)


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


@HANDLERS.register("aten.mse_loss", "aten.l1_loss", "aten.smooth_l1_loss")
@HANDLERS.register("aten.huber_loss")
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
    if reduction and c.rank(found):
        kind = "ReduceMean" if reduction == 1 else "ReduceSum"
        found = c.op(kind, found, list(range(c.rank(found))), keepdims=0)
    c.give(found)

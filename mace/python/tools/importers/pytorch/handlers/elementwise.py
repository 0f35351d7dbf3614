# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, comparisons and functions of single elements."""

from __future__ import annotations

import math

from mace.python.tools.importers.emit.near_zero import expm1, log1p
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.importers.pytorch.promotion import common_type, promoted
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32


def positions(c: Context, mask: Value) -> Value:
    """[rank, elements]: where a value is not 0. Each run counts the elements."""
    if not c.rank(mask):
        raise UnsupportedNodeError(f"{mask.name} has no dimensions")
    return c.op("NonZero", mask)


# Functions of one float that ONNX has under another name.
_FLOAT_FUNCTIONS = {
    "acos": "Acos",
    "acosh": "Acosh",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "cos": "Cos",
    "cosh": "Cosh",
    "erf": "Erf",
    "exp": "Exp",
    "log": "Log",
    "reciprocal": "Reciprocal",
    "sigmoid": "Sigmoid",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
}
_FUNCTIONS = {"abs": "Abs", "neg": "Neg", "sign": "Sign"}
_ROUNDING = {"ceil": "Ceil", "floor": "Floor"}
_COMPARISONS = {
    "eq": "Equal",
    "ge": "GreaterOrEqual",
    "gt": "Greater",
    "le": "LessOrEqual",
    "lt": "Less",
}
_LOGIC = {"and": "And", "or": "Or", "xor": "Xor"}


def _name(c: Context) -> str:
    return c.operator.removeprefix("special_")


def as_float(c: Context, value: Value) -> Value:
    """A value in floats, in which PyTorch computes functions of integers."""
    return c.cast(value, _FLOAT)


@HANDLERS.register(*(f"aten.{name}" for name in _FLOAT_FUNCTIONS))
def _float_function(c: Context) -> None:
    x = as_float(c, c.value("self"))
    c.give(c.op(_FLOAT_FUNCTIONS[_name(c)], x))


@HANDLERS.register(*(f"aten.{name}" for name in _FUNCTIONS))
def _function(c: Context) -> None:
    c.give(c.op(_FUNCTIONS[_name(c)], c.value("self")))


@HANDLERS.register(*(f"aten.{name}" for name in _ROUNDING))
def _rounding(c: Context) -> None:
    x = c.value("self")
    c.give(c.op(_ROUNDING[_name(c)], x) if x.dtype.is_float else x)


@HANDLERS.register("aten.round")
def _round(c: Context) -> None:
    x = c.value("self")
    decimals = c.integer("decimals", 0)
    if decimals and x.dtype.is_float:
        scale = c.constant(10.0**decimals, _FLOAT)
        c.give(c.op("Div", c.op("Round", c.op("Mul", x, scale)), scale))
        return
    c.give(c.op("Round", x) if x.dtype.is_float else x)


@HANDLERS.register("aten.trunc")
def _trunc(c: Context) -> None:
    x = c.value("self")
    c.give(truncated(c, x) if x.dtype.is_float else x)


def truncated(c: Context, x: Value) -> Value:
    """Floats without their fractions."""
    down, up = c.op("Floor", x), c.op("Ceil", x)
    return c.op("Where", c.op("Less", x, 0.0), up, down)


@HANDLERS.register("aten.frac")
def _frac(c: Context) -> None:
    x = c.value("self")
    c.give(c.op("Sub", x, truncated(c, x)))


@HANDLERS.register("aten.rsqrt")
def _rsqrt(c: Context) -> None:
    x = as_float(c, c.value("self"))
    c.give(c.op("Reciprocal", c.op("Sqrt", x)))


@HANDLERS.register("aten.square")
def _square(c: Context) -> None:
    x = c.value("self")
    c.give(c.op("Mul", x, x))


@HANDLERS.register("aten.exp2")
def _exp2(c: Context) -> None:
    x = as_float(c, c.value("self"))
    c.give(c.op("Exp", c.op("Mul", x, c.constant(math.log(2.0), _FLOAT))))


@HANDLERS.register("aten.expm1", "aten.log1p", "aten.log2", "aten.log10")
def _shifted(c: Context) -> None:
    x, name = as_float(c, c.value("self")), _name(c)
    if name == "expm1":
        result = expm1(c.builder, x, c.label)
    elif name == "log1p":
        result = log1p(c.builder, x, c.label)
    else:
        base = 2.0 if name == "log2" else 10.0
        result = c.op("Mul", c.op("Log", x), c.constant(1 / math.log(base), _FLOAT))
    c.give(result)


@HANDLERS.register("aten.erfc")
def _erfc(c: Context) -> None:
    x = as_float(c, c.value("self"))
    c.give(c.op("Sub", c.constant(1, _FLOAT), c.op("Erf", x)))


@HANDLERS.register("aten.add", "aten.sub", "aten.subtract", "aten.rsub")
def _add(c: Context) -> None:
    name = _name(c)
    a, b = promoted(c, ("self", "other"))
    if name == "rsub":
        a, b = b, a
    factor = c.number("alpha", 1)
    if factor != 1:
        if name == "rsub":
            a, b = b, a
            a = c.op("Mul", a, c.constant(factor, a.dtype))
            a, b = b, a
        else:
            b = c.op("Mul", b, c.constant(factor, b.dtype))
    if a.dtype is DataType.BOOL:
        c.give(c.op("Or", a, b))
    else:
        c.give(c.op("Add" if name == "add" else "Sub", a, b))


@HANDLERS.register("aten.mul", "aten.multiply")
def _mul(c: Context) -> None:
    a, b = promoted(c, ("self", "other"))
    c.give(c.op("And" if a.dtype is DataType.BOOL else "Mul", a, b))


@HANDLERS.register("aten.div", "aten.divide", "aten.true_divide")
def _div(c: Context) -> None:
    mode = c.text("rounding_mode", "")
    if not mode:
        a, b = promoted(c, ("self", "other"), _FLOAT)
        c.give(c.op("Div", a, b))
        return
    a, b = promoted(c, ("self", "other"))
    if mode == "floor":
        c.give(_floor_divided(c, a, b))
    elif a.dtype.is_float:
        c.give(truncated(c, c.op("Div", a, b)))
    else:
        c.give(c.op("Div", a, b))  # truncates


@HANDLERS.register("aten.floor_divide")
def _floor_divide(c: Context) -> None:
    c.give(_floor_divided(c, *promoted(c, ("self", "other"))))


def _floor_divided(c: Context, a: Value, b: Value) -> Value:
    if a.dtype.is_float:
        return c.op("Floor", c.op("Div", a, b))
    # a - (a mod b), where the remainder has the sign of b, is divided exactly.
    return c.op("Div", c.op("Sub", a, c.op("Mod", a, b)), b)


@HANDLERS.register("aten.remainder", "aten.fmod")
def _remainder(c: Context) -> None:
    a, b = promoted(c, ("self", "other"))
    if _name(c) == "fmod":
        c.give(c.op("Mod", a, b, fmod=1))
    elif a.dtype.is_float:
        quotient = c.op("Floor", c.op("Div", a, b))
        c.give(c.op("Sub", a, c.op("Mul", quotient, b)))
    else:
        c.give(c.op("Mod", a, b))


@HANDLERS.register("aten.pow", "aten.float_power")
def _pow(c: Context) -> None:
    least = _FLOAT if _name(c) == "float_power" else None
    a, b = promoted(c, ("self", "exponent"), least)
    if not a.dtype.is_float and not b.is_constant:
        raise UnsupportedNodeError("an integer to the power of a computed integer")
    c.give(c.op("Pow", a, b))


@HANDLERS.register("aten.maximum", "aten.minimum")
def _extreme(c: Context) -> None:
    a, b = promoted(c, ("self", "other"))
    c.give(extreme(c, "Max" if _name(c) in ("maximum", "fmax") else "Min", a, b))


def extreme(c: Context, op_type: str, a: Value, b: Value) -> Value:
    """The larger or smaller of two values."""
    if a.dtype is DataType.BOOL:
        return c.op("Or" if op_type == "Max" else "And", a, b)
    return c.op(op_type, a, b)


@HANDLERS.register("aten.atan2", "aten.arctan2")
def _atan2(c: Context) -> None:
    y, x = promoted(c, ("self", "other"), _FLOAT)
    c.give(angle(c, y, x))


def angle(c: Context, y: Value, x: Value) -> Value:
    """The angle from the positive half of the first axis to a point (x, y)."""
    found = c.op("Atan", c.op("Div", y, x))
    turn = c.op(
        "Where",
        c.op("Less", y, 0.0),
        c.constant(-math.pi, _FLOAT),
        c.constant(math.pi, _FLOAT),
    )
    left = c.op("Where", c.op("Less", x, 0.0), c.op("Add", found, turn), found)
    # 0 / 0 is no number, but its angle is 0.
    both = c.op("And", c.op("Equal", x, 0.0), c.op("Equal", y, 0.0))
    return c.op("Where", both, c.constant(0, _FLOAT), left)


@HANDLERS.register(*(f"aten.{name}" for name in _COMPARISONS))
def _compare(c: Context) -> None:
    a, b = promoted(c, ("self", "other"))
    if a.dtype is DataType.BOOL and _name(c) != "eq":
        a, b = (c.cast(value, DataType.INT32) for value in (a, b))
    c.give(c.op(_COMPARISONS[_name(c)], a, b))


@HANDLERS.register("aten.ne", "aten.not_equal")
def _not_equal(c: Context) -> None:
    c.give(c.op("Not", c.op("Equal", *promoted(c, ("self", "other")))))


@HANDLERS.register(
    *(f"aten.logical_{name}" for name in _LOGIC), "aten.logical_not", "aten.isfinite"
)
def _logical(c: Context) -> None:
    name = _name(c).removeprefix("logical_")
    if name == "isfinite":
        x = c.value("self")
        bad = c.op("Or", c.op("IsNaN", x), c.op("IsInf", x))
        c.give(c.op("Not", bad))
        return
    a = c.cast(c.value("self"), DataType.BOOL)
    if name == "not":
        c.give(c.op("Not", a))
    else:
        c.give(c.op(_LOGIC[name], a, c.cast(c.value("other"), DataType.BOOL)))


@HANDLERS.register(
    *(f"aten.bitwise_{name}" for name in _LOGIC),
    *(f"aten.__{name}__" for name in _LOGIC),
)
def _bitwise(c: Context) -> None:
    name = c.operator.strip("_")
    word = _LOGIC[name.removeprefix("bitwise_")]
    a, b = promoted(c, ("self", "other"))
    c.give(c.op(word if a.dtype is DataType.BOOL else f"Bitwise{word}", a, b))


@HANDLERS.register("aten.bitwise_not")
def _bitwise_not(c: Context) -> None:
    x = c.value("self")
    c.give(c.op("Not" if x.dtype is DataType.BOOL else "BitwiseNot", x))


@HANDLERS.register("aten.isnan", "aten.isinf")
def _is(c: Context) -> None:
    c.give(c.op("IsNaN" if _name(c) == "isnan" else "IsInf", c.value("self")))


@HANDLERS.register("aten.nan_to_num")
def _nan_to_num(c: Context) -> None:
    x = c.value("self")
    bound = 3.4028234663852886e38
    nan, high, low = (
        c.constant(c.number(name, default), x.dtype)
        for name, default in (("nan", 0.0), ("posinf", bound), ("neginf", -bound))
    )
    result = c.op("Where", c.op("IsNaN", x), nan, x)
    result = c.op("Where", c.op("IsInf", x, detect_negative=0), high, result)
    c.give(c.op("Where", c.op("IsInf", x, detect_positive=0), low, result))


@HANDLERS.register("aten.clamp", "aten.clip", "aten.clamp_min", "aten.clamp_max")
def _clamp(c: Context) -> None:
    names = [name for name in ("min", "max") if c.has(name)]
    dtype = common_type([c.raw(name) for name in ("self", *names)])
    x = c.cast(c.value("self"), dtype)
    low, high = (
        c.cast(c.value(name), dtype) if name in names else None
        for name in ("min", "max")
    )
    if all(bound is None or bound.shape == () for bound in (low, high)):
        c.give(c.op("Clip", x, low, high))
        return
    if low is not None:
        x = c.op("Max", x, low)
    c.give(x if high is None else c.op("Min", x, high))


@HANDLERS.register("aten.where")
def _where(c: Context) -> None:
    if not c.has("self"):
        mask = c.value("condition")
        places = positions(c, mask)
        rows = range(c.rank(mask))
        c.give(*(c.squeeze(c.slice(places, 0, i, i + 1), 0) for i in rows))
        return
    a, b = promoted(c, ("self", "other"))
    c.give(c.op("Where", c.cast(c.value("condition"), DataType.BOOL), a, b))


@HANDLERS.register("aten.masked_fill")
def _masked_fill(c: Context) -> None:
    x = c.value("self")
    filler = c.cast(c.value("value"), x.dtype)
    c.give(c.op("Where", c.cast(c.value("mask"), DataType.BOOL), filler, x))


@HANDLERS.register("aten.lerp")
def _lerp(c: Context) -> None:
    a, b, w = (as_float(c, c.value(name)) for name in ("self", "end", "weight"))
    c.give(c.op("Add", a, c.op("Mul", w, c.op("Sub", b, a))))


@HANDLERS.register("aten.addcmul", "aten.addcdiv")
def _addc(c: Context) -> None:
    x, a, b = promoted(c, ("self", "tensor1", "tensor2"))
    part = c.op("Mul" if _name(c) == "addcmul" else "Div", a, b)
    factor = c.number("value", 1)
    if factor != 1:
        part = c.op("Mul", part, c.constant(factor, part.dtype))
    c.give(c.op("Add", x, part))

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, comparisons and functions of single elements; activations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from mace.python.tools.importers.emit.near_zero import expm1, log1p
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import (
    ALIASES,
    HANDLERS,
    Context,
    Function,
    common_type,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32

# Operators of one tensor of any type, and of ONNX.
_FUNCTIONS = {
    "aten.abs": "Abs",
    "aten.isinf": "IsInf",
    "aten.isnan": "IsNaN",
    "aten.neg": "Neg",
    "aten.sign": "Sign",
}
# Those that compute in floats, also of integers.
_FLOAT_FUNCTIONS: Mapping[str, str | Function] = {
    "aten.acos": "Acos",
    "aten.acosh": "Acosh",
    "aten.asin": "Asin",
    "aten.asinh": "Asinh",
    "aten.atan": "Atan",
    "aten.atanh": "Atanh",
    "aten.cos": "Cos",
    "aten.cosh": "Cosh",
    "aten.erf": "Erf",
    "aten.erfc": lambda c, x: c.op("Sub", 1.0, c.op("Erf", x)),
    "aten.exp": "Exp",
    "aten.exp2": lambda c, x: c.op("Exp", c.op("Mul", x, math.log(2))),
    "aten.expm1": lambda c, x: expm1(c.builder, x, c.label),
    "aten.log": "Log",
    "aten.log10": lambda c, x: c.op("Mul", c.op("Log", x), 1 / math.log(10)),
    "aten.log1p": lambda c, x: log1p(c.builder, x, c.label),
    "aten.log2": lambda c, x: c.op("Mul", c.op("Log", x), 1 / math.log(2)),
    "aten.reciprocal": "Reciprocal",
    "aten.rsqrt": lambda c, x: c.op("Reciprocal", c.op("Sqrt", x)),
    "aten.sigmoid": "Sigmoid",
    "aten.sin": "Sin",
    "aten.sinh": "Sinh",
    "aten.sqrt": "Sqrt",
    "aten.tan": "Tan",
    "aten.tanh": "Tanh",
}
Function2 = Callable[[Context, Value, Value], Value]


def _add(c: Context, a: Value, b: Value) -> Value:
    if c.operator == "rsub":
        a, b = b, a
    factor = c.number("alpha", 1)
    if factor != 1:
        b = c.op("Mul", b, c.constant(factor, b.dtype))
    if a.dtype is DataType.BOOL:
        return c.op("Or", a, b)
    return c.op("Add" if c.operator == "add" else "Sub", a, b)


def _mul(c: Context, a: Value, b: Value) -> Value:
    return c.op("And" if a.dtype is DataType.BOOL else "Mul", a, b)


def _remainder(c: Context, a: Value, b: Value) -> Value:
    if not a.dtype.is_float:
        return c.op("Mod", a, b)
    quotient = c.op("Floor", c.op("Div", a, b))
    return c.op("Sub", a, c.op("Mul", quotient, b))


def extreme(c: Context, op_type: str, a: Value, b: Value) -> Value:
    """The larger or smaller of two values."""
    if a.dtype is DataType.BOOL:
        return c.op("Or" if op_type == "Max" else "And", a, b)
    return c.op(op_type, a, b)


def _compared(c: Context, op_type: str, a: Value, b: Value) -> Value:
    if a.dtype is DataType.BOOL:
        a, b = (c.cast(value, DataType.INT32) for value in (a, b))
    return c.op(op_type, a, b)


# Operators of two operands in their common type.
_FUNCTIONS_OF_TWO: Mapping[str, Function2] = {
    "aten.add": _add,
    "aten.eq": lambda c, a, b: c.op("Equal", a, b),
    "aten.fmod": lambda c, a, b: c.op("Mod", a, b, fmod=1),
    "aten.ge": lambda c, a, b: _compared(c, "GreaterOrEqual", a, b),
    "aten.gt": lambda c, a, b: _compared(c, "Greater", a, b),
    "aten.le": lambda c, a, b: _compared(c, "LessOrEqual", a, b),
    "aten.lt": lambda c, a, b: _compared(c, "Less", a, b),
    "aten.maximum": lambda c, a, b: extreme(c, "Max", a, b),
    "aten.minimum": lambda c, a, b: extreme(c, "Min", a, b),
    "aten.mul": _mul,
    "aten.ne": lambda c, a, b: c.op("Not", c.op("Equal", a, b)),
    "aten.remainder": _remainder,
    "aten.rsub": _add,
    "aten.sub": _add,
}
_LOGIC = {
    **dict.fromkeys(("logical_and", "bitwise_and", "__and__"), "And"),
    **dict.fromkeys(("logical_or", "bitwise_or", "__or__"), "Or"),
    **dict.fromkeys(("logical_xor", "bitwise_xor", "__xor__"), "Xor"),
}


def positions(c: Context, mask: Value) -> Value:
    """[rank, elements]: where a value is not 0. Each run counts the elements."""
    if not c.rank(mask):
        raise UnsupportedNodeError(f"{mask.name} has no dimensions")
    return c.op("NonZero", mask)


@HANDLERS.register(*(f"aten.{name}" for name in ALIASES))
def _alias(c: Context) -> None:
    handler = HANDLERS.find(f"aten.{c.operator}")
    assert handler is not None, c.operator
    handler(c)


@HANDLERS.register(*_FUNCTIONS)
def _function(c: Context) -> None:
    c.give(c.op(_FUNCTIONS[f"aten.{c.operator}"], c.value("self")))


@HANDLERS.register(*_FLOAT_FUNCTIONS)
def _float_function(c: Context) -> None:
    x, function = c.floats(), _FLOAT_FUNCTIONS[f"aten.{c.operator}"]
    c.give(c.op(function, x) if isinstance(function, str) else function(c, x))


@HANDLERS.register("aten.ceil", "aten.floor", "aten.round", "aten.trunc")
def _rounded(c: Context) -> None:
    x = c.value("self")
    decimals = c.integer("decimals", 0)
    if not x.dtype.is_float:
        c.give(x)
    elif c.operator == "trunc":
        c.give(truncated(c, x))
    elif decimals:
        scale = 10.0**decimals
        c.give(c.op("Div", c.op("Round", c.op("Mul", x, scale)), scale))
    else:
        c.give(c.op(c.operator.capitalize(), x))


def truncated(c: Context, x: Value) -> Value:
    """Floats without their fractions."""
    down, up = c.op("Floor", x), c.op("Ceil", x)
    return c.op("Where", c.op("Less", x, 0.0), up, down)


@HANDLERS.register("aten.frac")
def _frac(c: Context) -> None:
    x = c.value("self")
    c.give(c.op("Sub", x, truncated(c, x)))


@HANDLERS.register("aten.square")
def _square(c: Context) -> None:
    x = c.value("self")
    c.give(c.op("Mul", x, x))


@HANDLERS.register(*_FUNCTIONS_OF_TWO)
def _function_of_two(c: Context) -> None:
    c.give(_FUNCTIONS_OF_TWO[f"aten.{c.operator}"](c, *c.promoted("self", "other")))


@HANDLERS.register("aten.div", "aten.floor_divide")
def _div(c: Context) -> None:
    mode = c.text("rounding_mode", "floor" if c.operator == "floor_divide" else "")
    least = DataType.BOOL if mode else _FLOAT
    a, b = c.promoted("self", "other", least=least)
    if mode == "floor" and a.dtype.is_float:
        c.give(c.op("Floor", c.op("Div", a, b)))
    elif mode == "floor":
        # a - (a mod b), where the remainder has the sign of b, is divided exactly.
        c.give(c.op("Div", c.op("Sub", a, c.op("Mod", a, b)), b))
    elif mode and a.dtype.is_float:
        c.give(truncated(c, c.op("Div", a, b)))
    else:
        c.give(c.op("Div", a, b))  # truncates integers


@HANDLERS.register("aten.pow", "aten.float_power")
def _pow(c: Context) -> None:
    least = _FLOAT if c.operator == "float_power" else DataType.BOOL
    a, b = c.promoted("self", "exponent", least=least)
    if not a.dtype.is_float and not b.is_constant:
        raise UnsupportedNodeError("an integer to the power of a computed integer")
    c.give(c.op("Pow", a, b))


@HANDLERS.register("aten.atan2")
def _atan2(c: Context) -> None:
    c.give(angle(c, *c.promoted("self", "other", least=_FLOAT)))


def angle(c: Context, y: Value, x: Value) -> Value:
    """The angle from the positive half of the first axis to a point (x, y)."""
    found = c.op("Atan", c.op("Div", y, x))
    turn = c.op("Where", c.op("Less", y, 0.0), -math.pi, math.pi)
    left = c.op("Where", c.op("Less", x, 0.0), c.op("Add", found, turn), found)
    # 0 / 0 is no number, but its angle is 0.
    both = c.op("And", c.op("Equal", x, 0.0), c.op("Equal", y, 0.0))
    return c.op("Where", both, 0.0, left)


@HANDLERS.register("aten.isfinite")
def _isfinite(c: Context) -> None:
    x = c.value("self")
    c.give(c.op("Not", c.op("Or", c.op("IsNaN", x), c.op("IsInf", x))))


@HANDLERS.register(*(f"aten.{name}" for name in _LOGIC))
def _logic(c: Context) -> None:
    word = _LOGIC[c.operator]
    if c.operator.startswith("logical"):
        a, b = (c.cast(c.value(name), DataType.BOOL) for name in ("self", "other"))
    else:
        a, b = c.promoted("self", "other")
    c.give(c.op(word if a.dtype is DataType.BOOL else f"Bitwise{word}", a, b))


@HANDLERS.register("aten.bitwise_not", "aten.logical_not")
def _not(c: Context) -> None:
    x = c.value("self")
    if c.operator == "logical_not":
        x = c.cast(x, DataType.BOOL)
    c.give(c.op("Not" if x.dtype is DataType.BOOL else "BitwiseNot", x))


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
        c.give(*places_by_axis(c, c.value("condition")))
        return
    a, b = c.promoted("self", "other")
    c.give(c.op("Where", c.cast(c.value("condition"), DataType.BOOL), a, b))


def places_by_axis(c: Context, mask: Value) -> list[Value]:
    """Where a value is not 0, as indices of each axis."""
    places, rows = positions(c, mask), range(c.rank(mask))
    return [c.squeeze(c.slice(places, 0, row, row + 1), 0) for row in rows]


@HANDLERS.register("aten.masked_fill")
def _masked_fill(c: Context) -> None:
    x = c.value("self")
    filler = c.cast(c.value("value"), x.dtype)
    c.give(c.op("Where", c.cast(c.value("mask"), DataType.BOOL), filler, x))


@HANDLERS.register("aten.lerp")
def _lerp(c: Context) -> None:
    a, b, w = (c.floats(name) for name in ("self", "end", "weight"))
    c.give(c.op("Add", a, c.op("Mul", w, c.op("Sub", b, a))))


@HANDLERS.register("aten.addcmul", "aten.addcdiv")
def _addc(c: Context) -> None:
    x, a, b = c.promoted("self", "tensor1", "tensor2")
    part = c.op("Mul" if c.operator == "addcmul" else "Div", a, b)
    factor = c.number("value", 1)
    if factor != 1:
        part = c.op("Mul", part, c.constant(factor, part.dtype))
    c.give(c.op("Add", x, part))


# Activations, and the softmax ---------------------------------------------------------


def _hardtanh(c: Context, x: Value) -> Value:
    low, high = c.number("min_val", -1), c.number("max_val", 1)
    return c.op("Clip", x, c.constant(low, x.dtype), c.constant(high, x.dtype))


def _rrelu(c: Context, x: Value) -> Value:
    if c.flag("training"):
        raise UnsupportedNodeError("training is True", "export after model.eval()")
    slope = (c.number("lower", 0.125) + c.number("upper", 1 / 3)) / 2
    return c.op("LeakyRelu", x, alpha=slope)


def _prelu(c: Context, x: Value) -> Value:
    slope, rank = c.value("weight"), c.rank(x)
    if c.rank(slope) == 1 and rank > 1 and c.shape(slope) != (1,):
        slope = c.reshape(slope, [-1, *(1,) * (rank - 2)])
    return c.op("PRelu", x, slope)


def _elu(c: Context, x: Value) -> Value:
    if c.number("input_scale", 1) != 1:
        raise UnsupportedNodeError("input_scale is not 1")
    result = c.op("Elu", x, alpha=c.number("alpha", 1))
    scale = c.number("scale", 1)
    return result if scale == 1 else c.op("Mul", result, scale)


def _softplus(c: Context, x: Value) -> Value:
    beta, threshold = c.number("beta", 1), c.number("threshold", 20)
    scaled = x if beta == 1 else c.op("Mul", x, beta)
    soft = c.op("Softplus", scaled)
    if beta != 1:
        soft = c.op("Mul", soft, 1 / beta)
    if threshold >= 20:  # there, log(1 + exp(x)) is x in floats
        return soft
    return c.op("Where", c.op("Greater", scaled, threshold), x, soft)


def _threshold(c: Context, x: Value) -> Value:
    bound, other = (
        c.constant(c.number(name), x.dtype) for name in ("threshold", "value")
    )
    return c.op("Where", c.op("Greater", x, bound), x, other)


def _shrink(c: Context, x: Value) -> Value:
    bound = c.number("lambd", 0.5)
    bias = bound if c.operator == "softshrink" else 0.0
    return c.op("Shrink", x, lambd=bound, bias=bias)


def _glu(c: Context, x: Value) -> Value:
    axis = c.axis(c.integer("dim", -1), c.rank(x))
    a, b = c.op_all("Split", [x], 2, axis=axis, num_outputs=2)
    return c.op("Mul", a, c.op("Sigmoid", b))


def _softmax(c: Context, x: Value) -> Value:
    c.dtype()
    axis = c.axis(c.integer("dim"), c.rank(x))
    op_type = "LogSoftmax" if "log" in c.operator else "Softmax"
    return c.op(op_type, c.cast(x, _FLOAT), axis=axis)


def _safe_softmax(c: Context, x: Value) -> Value:
    """A softmax that is 0, not NaN, where all numbers are minus infinity."""
    weights = _softmax(c, x)
    axis = c.axis(c.integer("dim"), c.rank(x))
    largest = c.op("ReduceMax", c.cast(x, _FLOAT), [axis], keepdims=1)
    return c.op("Where", c.op("Equal", largest, -np.inf), 0.0, weights)


_ACTIVATIONS: Mapping[str, Function] = {
    "aten._log_softmax": _softmax,
    "aten._safe_softmax": _safe_softmax,
    "aten._softmax": _softmax,
    "aten.celu": lambda c, x: c.op("Celu", x, alpha=c.number("alpha", 1)),
    "aten.elu": _elu,
    "aten.gelu": lambda c, x: c.op(
        "Gelu", x, approximate=c.text("approximate", "none")
    ),
    "aten.glu": _glu,
    "aten.hardshrink": _shrink,
    "aten.hardsigmoid": lambda c, x: c.op("HardSigmoid", x, alpha=1 / 6, beta=0.5),
    "aten.hardswish": lambda c, x: c.op("HardSwish", x),
    "aten.hardtanh": _hardtanh,
    "aten.leaky_relu": lambda c, x: c.op(
        "LeakyRelu", x, alpha=c.number("negative_slope", 0.01)
    ),
    "aten.log_sigmoid": lambda c, x: c.op("Neg", c.op("Softplus", c.op("Neg", x))),
    "aten.log_softmax": _softmax,
    "aten.mish": lambda c, x: c.op("Mish", x),
    "aten.prelu": _prelu,
    "aten.relu": lambda c, x: c.op("Relu", x),
    "aten.relu6": lambda c, x: c.op("Clip", x, 0.0, 6.0),
    "aten.rrelu": _rrelu,
    "aten.rrelu_with_noise_functional": _rrelu,
    "aten.selu": lambda c, x: c.op("Selu", x),
    "aten.silu": lambda c, x: c.op("Mul", x, c.op("Sigmoid", x)),
    "aten.softmax": _softmax,
    "aten.softplus": _softplus,
    "aten.softshrink": _shrink,
    "aten.threshold": _threshold,
}


@HANDLERS.register(*_ACTIVATIONS)
def _activation(c: Context) -> None:
    # The second result is for gradients.
    c.give(_ACTIVATIONS[f"aten.{c.operator}"](c, c.value("self")), None)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, comparisons, activations, logic and types."""

from __future__ import annotations

import math
from collections.abc import Callable

from mace.python.tools.importers.emit.near_zero import expm1, log1p
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.importers.tf_operators.node import (
    ELEMENT_TYPES,
    type_name,
    upper_names,
)
from mace.python.tools.ir.dtypes import CAST_TARGETS, DataType
from mace.python.tools.ir.graph import Value

_BINARY = {
    **upper_names("Add", "Div", "Equal", "FloorDiv", "FloorMod", "Greater", "Less"),
    **upper_names("GreaterEqual", "LessEqual", "Mul", "NotEqual", "Pow", "Sub"),
    "AddV2": "ADD",
    "Maximum": "MAX",
    "Minimum": "MIN",
    "RealDiv": "DIV",
    "SquaredDifference": "SQR_DIFF",
}
_UNARY = {
    **upper_names("Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "Log", "Neg", "Round"),
    **upper_names("Reciprocal", "Rsqrt", "Sign", "Sin", "Sqrt", "Square"),
    "Inv": "RECIPROCAL",
    "Rint": "ROUND",
}
_ACTIVATIONS: dict[str, dict[str, object]] = {
    "Elu": {"activation": "ELU", "activation_alpha": 1.0},
    "Relu": {"activation": "RELU"},
    "Relu6": {"activation": "RELUX", "activation_limit": 6.0},
    "Sigmoid": {"activation": "SIGMOID"},
    "Softplus": {"activation": "SOFTPLUS"},
    "Softsign": {"activation": "SOFTSIGN"},
    "Tanh": {"activation": "TANH"},
}
_TRIGONOMETRIC = ("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh", "Sinh")
_SELU = {"activation": "ELU", "activation_alpha": 1.6732632423543772}
_SELU_SCALE = 1.0507009873554805


def or_zero(context: Context, tested: Value, result: Value) -> Value:
    """0 where a tensor is 0, whatever the result is."""
    is_zero = context.eltwise("EQUAL", tested, 0)
    return context.step("Where", [is_zero, context.number(0, tested), result])


# What several operators compute together, of the context and the inputs.
_FORMULAS: dict[str, Callable[..., Value]] = {
    "ClipByValue": lambda context, x, low, high: context.eltwise(
        "MAX", context.eltwise("MIN", x, high), low
    ),
    "DivNoNan": lambda context, x, y: or_zero(context, y, context.eltwise("DIV", x, y)),
    # Exact to a rounding of 1, not to one of small results.
    "Erfc": lambda context, x: context.eltwise("SUB", 1, context.eltwise("ERF", x)),
    "Expm1": lambda context, x: expm1(context.builder, x, context.node.name),
    # NaN alone is not equal to itself, infinities alone are not below one.
    "IsFinite": lambda context, x: context.eltwise(
        "LESS", context.eltwise("ABS", x), math.inf
    ),
    "IsInf": lambda context, x: context.eltwise(
        "EQUAL", context.eltwise("ABS", x), math.inf
    ),
    "IsNan": lambda context, x: context.eltwise("NOT_EQUAL", x, x),
    "Log1p": lambda context, x: log1p(context.builder, x, context.node.name),
    "LogicalNot": lambda context, x: context.eltwise(
        "EQUAL", context.cast(x, DataType.INT32), 0
    ),
    "Selu": lambda context, x: context.eltwise(
        "MUL", context.step("Activation", [x], **_SELU), _SELU_SCALE
    ),
    "Tan": lambda context, x: context.eltwise(
        "DIV", context.eltwise("SIN", x), context.eltwise("COS", x)
    ),
}


@HANDLERS.register(*_FORMULAS)
def formula(context: Context) -> None:
    """What several operators compute together."""
    context.pass_on(_FORMULAS[context.node.op](context, *context.inputs))


@HANDLERS.register(*_BINARY)
def binary(context: Context) -> None:
    """Two operands that broadcast."""
    inputs, mode = [context.input(0), context.input(1)], _BINARY[context.node.op]
    context.emit("Eltwise", inputs, mode=mode)


@HANDLERS.register(*_UNARY)
def unary(context: Context) -> None:
    """One operand."""
    context.emit("Eltwise", [context.input(0)], mode=_UNARY[context.node.op])


@HANDLERS.register("AddN")
def add_n(context: Context) -> None:
    """A sum of any number of tensors."""
    total, *others = context.inputs
    for value in others:
        total = context.eltwise("ADD", total, value)
    context.pass_on(total)


@HANDLERS.register(*_ACTIVATIONS)
def activation(context: Context) -> None:
    """Activations with known parameters."""
    context.emit("Activation", [context.input(0)], **_ACTIVATIONS[context.node.op])


@HANDLERS.register("LeakyRelu")
def leaky_relu(context: Context) -> None:
    """With a slope below zero."""
    alpha = context.node.number("alpha", 0.2)
    attrs = {"activation": "LEAKY_RELU", "activation_alpha": alpha}
    context.emit("Activation", [context.input(0)], **attrs)


@HANDLERS.register("Softmax", "LogSoftmax")
def softmax(context: Context) -> None:
    """Over the innermost axis."""
    log = context.node.op == "LogSoftmax"
    context.emit("Softmax", [context.input(0)], axis=-1, log=log)


@HANDLERS.register("Cast")
def cast(context: Context) -> None:
    """Changes the element type; 64-bit types become 32-bit ones."""
    number = context.node.integer("DstT")
    target = ELEMENT_TYPES.get(number)
    if target not in CAST_TARGETS:
        raise UnsupportedNodeError(f"cast to {type_name(number)}")
    context.emit("Cast", [context.input(0)], to=target.narrowed.name)


@HANDLERS.register(*_TRIGONOMETRIC)
def trigonometric(context: Context) -> None:
    """Inverse trigonometric and hyperbolic functions."""
    mode = context.node.op.upper()
    context.emit("Trigonometric", [context.input(0)], mode=mode)


@HANDLERS.register("LogicalAnd", "LogicalOr")
def logic(context: Context) -> None:
    """Two conditions, as the integers 0 and 1."""
    wide = [context.cast(context.input(i), DataType.INT32) for i in range(2)]
    mode = "MIN" if context.node.op == "LogicalAnd" else "MAX"
    context.emit("Cast", [context.eltwise(mode, *wide)], to="BOOL")

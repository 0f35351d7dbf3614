# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, comparison, activation."""

from __future__ import annotations

from mace.python.tools.importers.emit.casts import CAST_TARGETS
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.importers.tf_operators.node import ELEMENT_TYPES, type_name

_BINARY = {
    "Add": "ADD",
    "AddV2": "ADD",
    "Sub": "SUB",
    "Mul": "MUL",
    "Div": "DIV",
    "RealDiv": "DIV",
    "Maximum": "MAX",
    "Minimum": "MIN",
    "Pow": "POW",
    "SquaredDifference": "SQR_DIFF",
    "FloorDiv": "FLOOR_DIV",
    "FloorMod": "FLOOR_MOD",
    "Equal": "EQUAL",
    "NotEqual": "NOT_EQUAL",
    "Less": "LESS",
    "LessEqual": "LESS_EQUAL",
    "Greater": "GREATER",
    "GreaterEqual": "GREATER_EQUAL",
}
_UNARY = {
    "Neg": "NEG",
    "Abs": "ABS",
    "Sqrt": "SQRT",
    "Rsqrt": "RSQRT",
    "Square": "SQUARE",
    "Exp": "EXP",
    "Log": "LOG",
    "Floor": "FLOOR",
    "Ceil": "CEIL",
    "Round": "ROUND",
    "Rint": "ROUND",
    "Sign": "SIGN",
    "Reciprocal": "RECIPROCAL",
    "Inv": "RECIPROCAL",
    "Erf": "ERF",
    "Sin": "SIN",
    "Cos": "COS",
}
_ACTIVATIONS = {
    "Relu": "RELU",
    "Sigmoid": "SIGMOID",
    "Tanh": "TANH",
    "Softplus": "SOFTPLUS",
    "Softsign": "SOFTSIGN",
}


@HANDLERS.register(*_BINARY)
def binary(context: Context) -> None:
    """Two operands that broadcast."""
    context.emit(
        "Eltwise",
        [context.input(0), context.input(1)],
        mode=_BINARY[context.node.op],
    )


@HANDLERS.register(*_UNARY)
def unary(context: Context) -> None:
    """One operand."""
    context.emit("Eltwise", [context.input(0)], mode=_UNARY[context.node.op])


@HANDLERS.register("AddN")
def add_n(context: Context) -> None:
    """A sum of any number of tensors."""
    total = context.input(0)
    if len(context.inputs) == 1:
        context.results[0] = context.builder.alias(total, context.output_name())
        return
    for index, value in enumerate(context.inputs[1:-1]):
        total = context.step("Eltwise", [total, value], f"sum_{index}", mode="ADD")
    context.emit("Eltwise", [total, context.inputs[-1]], mode="ADD")


@HANDLERS.register(*_ACTIVATIONS)
def activation(context: Context) -> None:
    """Activations without parameters."""
    context.emit(
        "Activation",
        [context.input(0)],
        activation=_ACTIVATIONS[context.node.op],
    )


@HANDLERS.register("Relu6")
def relu6(context: Context) -> None:
    """min(max(x, 0), 6)."""
    context.emit(
        "Activation",
        [context.input(0)],
        activation="RELUX",
        activation_limit=6.0,
    )


@HANDLERS.register("LeakyRelu", "Elu")
def with_alpha(context: Context) -> None:
    """Activations with a slope or scale below zero."""
    leaky = context.node.op == "LeakyRelu"
    context.emit(
        "Activation",
        [context.input(0)],
        activation="LEAKY_RELU" if leaky else "ELU",
        activation_alpha=context.node.number("alpha", 0.2) if leaky else 1.0,
    )


@HANDLERS.register("Softmax", "LogSoftmax")
def softmax(context: Context) -> None:
    """Over the innermost axis."""
    context.emit(
        "Softmax",
        [context.input(0)],
        axis=-1,
        log=context.node.op == "LogSoftmax",
    )


@HANDLERS.register("Cast")
def cast(context: Context) -> None:
    """Changes the element type; 64-bit types become 32-bit ones."""
    number = context.node.integer("DstT")
    target = ELEMENT_TYPES.get(number)
    if target not in CAST_TARGETS:
        raise UnsupportedNodeError(f"cast to {type_name(number)}")
    context.emit("Cast", [context.input(0)], to=target.narrowed.name)

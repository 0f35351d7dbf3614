# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, comparisons, activations and types."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.emit.casts import CAST_TARGETS
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.context import HANDLERS, Context
from mace.python.tools.importers.tflite.reader import type_name
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

# Operators that mean the same as TensorFlow's.
_OF_TENSORFLOW = {
    "ABS": "Abs",
    "ADD": "Add",
    "ADD_N": "AddN",
    "ATAN2": "Atan2",
    "CEIL": "Ceil",
    "COS": "Cos",
    "DIV": "Div",
    "ELU": "Elu",
    "EQUAL": "Equal",
    "EXP": "Exp",
    "FLOOR": "Floor",
    "FLOOR_DIV": "FloorDiv",
    "FLOOR_MOD": "FloorMod",
    "GREATER": "Greater",
    "GREATER_EQUAL": "GreaterEqual",
    "LESS": "Less",
    "LESS_EQUAL": "LessEqual",
    "LOG": "Log",
    "LOGISTIC": "Sigmoid",
    "LOG_SOFTMAX": "LogSoftmax",
    "MAXIMUM": "Maximum",
    "MINIMUM": "Minimum",
    "MUL": "Mul",
    "NEG": "Neg",
    "NOT_EQUAL": "NotEqual",
    "POW": "Pow",
    "RELU": "Relu",
    "RELU6": "Relu6",
    "ROUND": "Round",
    "RSQRT": "Rsqrt",
    "SIGN": "Sign",
    "SIN": "Sin",
    "SQRT": "Sqrt",
    "SQUARE": "Square",
    "SQUARED_DIFFERENCE": "SquaredDifference",
    "SUB": "Sub",
    "TANH": "Tanh",
}


@HANDLERS.register(*_OF_TENSORFLOW)
def plain(context: Context) -> None:
    """Operators without attributes."""
    context.apply(_OF_TENSORFLOW[context.operator.type])


@HANDLERS.register("BITWISE_XOR", "RIGHT_SHIFT")
def bits(context: Context) -> None:
    """Operations on the bits of integers."""
    x, y = context.input(0), context.input(1)
    if x.dtype is not DataType.INT32:
        raise UnsupportedNodeError(
            f"integers of type {x.dtype.value}; int32 and int64 work"
        )
    mode = "XOR" if context.operator.type == "BITWISE_XOR" else "SHIFT_RIGHT"
    context.emit("Bitwise", [x, y], mode=mode)


@HANDLERS.register("RELU_0_TO_1")
def relu_0_to_1(context: Context) -> None:
    """min(max(x, 0), 1)."""
    attrs = {"activation": "RELUX", "activation_limit": 1.0}
    context.emit("Activation", [context.input(0)], **attrs)


@HANDLERS.register("RELU_N1_TO_1")
def relu_n1_to_1(context: Context) -> None:
    """min(max(x, -1), 1)."""
    low, high = (context.constant(np.array(n, np.float32), "limit") for n in (-1, 1))
    x = context.step("Eltwise", [context.input(0), low], "low", mode="MAX")
    context.emit("Eltwise", [x, high], mode="MIN")


@HANDLERS.register("LEAKY_RELU")
def leaky_relu(context: Context) -> None:
    """With a slope below zero."""
    context.apply("LeakyRelu", alpha=context.node.number("alpha"))


@HANDLERS.register("HARD_SWISH")
def hard_swish(context: Context) -> None:
    """x * relu6(x + 3) / 6."""
    context.emit("Activation", [context.input(0)], activation="HARD_SWISH")


@HANDLERS.register("GELU")
def gelu(context: Context) -> None:
    """By erf, or approximately by tanh."""
    kind = "GELU_TANH" if context.node.flag("approximate") else "GELU"
    context.emit("Activation", [context.input(0)], activation=kind)


@HANDLERS.register("PRELU")
def prelu(context: Context) -> None:
    """A slope below zero for each channel, or of a shape that broadcasts."""
    x, slope = context.input(0), context.input(1)
    shape = slope.shape
    if slope.is_constant and shape and all(dim == 1 for dim in shape[:-1]):
        slopes = context.constant(slope.numpy().reshape(-1), "slope")
        context.emit("Activation", [x, slopes], activation="PRELU")
        return
    zero = context.constant(np.array(0, np.float32), "zero")
    # Not by sums: slopes may be infinite or NaN.
    below = context.step("Eltwise", [x, zero], "below", mode="LESS")
    sloped = context.step("Eltwise", [x, slope], "sloped", mode="MUL")
    context.emit("Where", [below, sloped, x])


@HANDLERS.register("SOFTMAX")
def softmax(context: Context) -> None:
    """Over the innermost axis, of the numbers times beta."""
    x, beta = context.input(0), context.node.number("beta")
    if beta != 1:
        factor = context.constant(np.array(beta, np.float32), "beta")
        x = context.step("Eltwise", [x, factor], "scaled", mode="MUL")
    context.apply("Softmax", [x])


@HANDLERS.register("LOGICAL_AND", "LOGICAL_OR")
def logic(context: Context) -> None:
    """Of booleans, as integers."""
    a, b = (_as_int32(context, context.input(i)) for i in range(2))
    mode = "MIN" if context.operator.type == "LOGICAL_AND" else "MAX"
    both = context.step("Eltwise", [a, b], "numbers", mode=mode)
    context.emit("Cast", [both], to="BOOL")


@HANDLERS.register("LOGICAL_NOT")
def logical_not(context: Context) -> None:
    """Of booleans, as integers."""
    number = _as_int32(context, context.input(0))
    zero = context.constant(np.array(0, np.int32), "zero")
    context.emit("Eltwise", [number, zero], mode="EQUAL")


def _as_int32(context: Context, value: Value) -> Value:
    return context.step("Cast", [value], "number", to="INT32")


@HANDLERS.register("CAST")
def cast(context: Context) -> None:
    """Of the numbers as they are stored; 64-bit types become 32-bit ones."""
    x, tensor = context.stored_input(0), context.tensors[0]
    if tensor.dtype not in CAST_TARGETS | {DataType.FLOAT16}:
        raise UnsupportedNodeError(f"cast to {type_name(tensor.number)}")
    context.emit("Cast", [x], to=tensor.dtype.narrowed.name)


@HANDLERS.register("QUANTIZE")
def quantize(context: Context) -> None:
    """From floats, or to another scale."""
    if context.tensors[0].quantization is None:
        raise UnsupportedNodeError("the result has no scale")
    context.results[0] = context.input(0)


@HANDLERS.register("DEQUANTIZE")
def dequantize(context: Context) -> None:
    """Of quantized integers, and of weights in 16-bit floats."""
    if context.input(0).dtype is not DataType.FLOAT32:
        raise UnsupportedNodeError("the input has no scale")
    context.pass_on(context.input(0))


@HANDLERS.register("FAKE_QUANT")
def fake_quant(context: Context) -> None:
    """Numbers rounded as integers would be."""
    node = context.node
    context.apply(
        "FakeQuantWithMinMaxArgs",
        min=node.number("min"),
        max=node.number("max"),
        num_bits=node.integer("num_bits"),
        narrow_range=node.flag("narrow_range"),
    )


@HANDLERS.register("BITCAST")
def bitcast(context: Context) -> None:
    """The bits of integers as other integers of 8 bits, or of the same type."""
    x, kept = context.input(0), context.tensors[0].dtype
    if x.dtype is kept.narrowed and not x.dtype.is_float:
        context.pass_on(x)
        return
    pair = {x.dtype, kept}
    if pair != {DataType.INT8, DataType.UINT8}:
        raise UnsupportedNodeError(
            f"reads the bits of {x.dtype.value} as {kept.value}",
            "compute it in the application",
        )
    wide = context.step("Cast", [x], "numbers", to="INT32")
    period = context.constant(np.array(256, np.int32), "period")
    half = context.constant(np.array(128, np.int32), "half")
    zero = context.constant(np.array(0, np.int32), "zero")
    # The upper half of one type is the negative one of the other.
    if kept is DataType.UINT8:
        other = context.step("Eltwise", [wide, period], "upper", mode="ADD")
        turned = context.step("Eltwise", [wide, zero], "negative", mode="LESS")
    else:
        other = context.step("Eltwise", [wide, period], "lower", mode="SUB")
        turned = context.step("Eltwise", [wide, half], "large", mode="GREATER_EQUAL")
    found = context.step("Where", [turned, other, wide], "bits")
    context.emit("Cast", [found], to=kept.name)

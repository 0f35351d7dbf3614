# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, comparisons, activations and types."""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.context import HANDLERS, Context, of_tensorflow
from mace.python.tools.importers.tflite.reader import type_name
from mace.python.tools.ir.dtypes import CAST_TARGETS, DataType

_OF_TENSORFLOW = of_tensorflow(
    *("Abs", "Add", "AddN", "Atan2", "Ceil", "Cos", "Div", "Elu", "Equal", "Exp"),
    *("Floor", "FloorDiv", "FloorMod", "Greater", "GreaterEqual", "LeakyRelu", "Less"),
    *("LessEqual", "Log", "LogSoftmax", "LogicalAnd", "LogicalNot", "LogicalOr"),
    *("Maximum", "Minimum", "Mul", "Neg", "NotEqual", "Pow", "Relu", "Relu6", "Round"),
    *("Rsqrt", "Sign", "Sin", "Sqrt", "Square", "SquaredDifference", "Sub", "Tanh"),
    FAKE_QUANT="FakeQuantWithMinMaxArgs",
    LOGISTIC="Sigmoid",
)
_ACTIVATIONS: dict[str, dict[str, object]] = {
    "HARD_SWISH": {"activation": "HARD_SWISH"},
    "RELU_0_TO_1": {"activation": "RELUX", "activation_limit": 1.0},
}


@HANDLERS.register(*_OF_TENSORFLOW)
def as_in_tensorflow(context: Context) -> None:
    """Operators that mean the same as TensorFlow's."""
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


@HANDLERS.register(*_ACTIVATIONS)
def activation(context: Context) -> None:
    """min(max(x, 0), 1), and x * relu6(x + 3) / 6."""
    context.emit(
        "Activation", [context.input(0)], **_ACTIVATIONS[context.operator.type]
    )


@HANDLERS.register("RELU_N1_TO_1")
def relu_n1_to_1(context: Context) -> None:
    """min(max(x, -1), 1)."""
    low = context.eltwise("MAX", context.input(0), -1)
    context.emit("Eltwise", [low, context.number(1)], mode="MIN")


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
    # Not by sums: slopes may be infinite or NaN.
    below, sloped = context.eltwise("LESS", x, 0), context.eltwise("MUL", x, slope)
    context.emit("Where", [below, sloped, x])


@HANDLERS.register("SOFTMAX")
def softmax(context: Context) -> None:
    """Over the innermost axis, of the numbers times beta."""
    x, beta = context.input(0), context.node.number("beta")
    context.apply("Softmax", [x if beta == 1 else context.eltwise("MUL", x, beta)])


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

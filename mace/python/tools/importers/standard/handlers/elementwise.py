# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that work on each element, and on its bits."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.attributes import (
    ELEMENT_TYPES,
    element_type_name,
)
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

# The modes of Eltwise have the names of the operators in capitals.
_UNARY = (
    *("Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "Log", "Neg", "Reciprocal", "Round"),
    *("Sign", "Sin", "Sqrt"),
)
_COMPARISONS = {
    "Equal": "EQUAL",
    "Greater": "GREATER",
    "GreaterOrEqual": "GREATER_EQUAL",
    "Less": "LESS",
    "LessOrEqual": "LESS_EQUAL",
}
_BINARY = {
    **{name: name.upper() for name in ("Add", "Div", "Mul", "Pow", "Sub")},
    **_COMPARISONS,
}
_MANY = {"Max": "MAX", "Mean": "ADD", "Min": "MIN", "Sum": "ADD"}
_TRIGONOMETRIC = ("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh", "Sinh")
_BYTES = (DataType.BOOL, DataType.INT8, DataType.UINT8)


@HANDLERS.register(*_UNARY)
def _unary(node: Node) -> None:
    node.emit("Eltwise", [node.input(0)], {"mode": node.type.upper()})


@HANDLERS.register("Tan")
def _tan(node: Node) -> None:
    x = node.input(0)
    sine, cosine = (node.eltwise(m, x) for m in ("SIN", "COS"))
    node.emit("Eltwise", [sine, cosine], {"mode": "DIV"})


@HANDLERS.register(*_TRIGONOMETRIC)
def _trigonometric(node: Node) -> None:
    node.emit("Trigonometric", [node.input(0)], {"mode": node.type.upper()})


@HANDLERS.register(*_BINARY)
def _binary(node: Node) -> None:
    a, b = node.input(0), lined_up(node)
    if a.dtype in _BYTES and b.dtype is a.dtype:
        _of_bytes(node, a, b)
        return
    if node.type == "Pow" and a.dtype is not b.dtype:
        # The exponent may have another type; the result has the type of the base.
        b = _exponent_like(node, a, b)
    node.emit("Eltwise", [a, b], {"mode": _BINARY[node.type]})


def _exponent_like(node: Node, a: Value, b: Value) -> Value:
    if a.dtype is DataType.FLOAT32:
        return node.cast(b, DataType.FLOAT32)
    # A float that is nearly an integer would be truncated to the one below.
    if a.dtype is DataType.INT32 and b.is_constant:
        exponents = b.numpy()
        if np.array_equal(exponents, np.rint(exponents)):
            return node.literal(exponents, DataType.INT32)
    raise UnsupportedNodeError(
        f"{a.dtype.value} to the power of {b.dtype.value}, which are no constant "
        "integers"
    )


def _of_bytes(node: Node, a: Value, b: Value) -> None:
    """Computes in int32. Results beyond the type wrap around, as they do in ONNX."""
    wide = [node.cast(value, DataType.INT32) for value in (a, b)]
    attrs = {"mode": _BINARY[node.type]}
    if node.type in _COMPARISONS:
        node.emit("Eltwise", wide, attrs)
        return
    result = node.make("Eltwise", wide, attrs)
    node.emit("Cast", [result], {"to": a.dtype.value.upper()})


def lined_up(node: Node) -> Value:
    """The second operand, in a shape that broadcasts by NumPy's rules. Before operator
    set 7, the attribute axis gave the position of its dimensions.
    """
    a, b = node.input(0), node.input(1)
    if node.opset >= 7 or not node.flag("broadcast", False):
        return b
    rank, own = len(node.shape(a)), len(node.shape(b))
    axis = node.integer("axis", rank - own)
    axis += rank if axis < 0 else 0
    after = rank - axis - own
    if axis < 0 or after < 0:
        raise UnsupportedNodeError(f"axis {axis} leaves no room for {own} dimensions")
    if after == 0:
        return b
    axes = range(own, own + after)
    return node.expand_dims(b, axes)


@HANDLERS.register(*_MANY)
def _many(node: Node) -> None:
    values = [node.input(index) for index in range(len(node.inputs))]
    mode = _MANY[node.type]
    if len(values) == 1:
        node.set_output(0, values[0])
        return
    total = values[0]
    mean = node.type == "Mean"
    for value in values[1 : None if mean else -1]:
        total = node.eltwise(mode, total, value)
    if mean:
        count = node.scalar(len(values), total)
        node.emit("Eltwise", [total, count], {"mode": "DIV"})
    else:
        node.emit("Eltwise", [total, values[-1]], {"mode": mode})


@HANDLERS.register("Mod")
def _mod(node: Node) -> None:
    a, b = node.input(0), node.input(1)
    dtype = a.dtype
    if dtype in _BYTES:
        a, b = (node.cast(value, DataType.INT32) for value in (a, b))
    if node.flag("fmod", False):
        # The result has the sign of the dividend, that of FLOOR_MOD the divisor's.
        sign = node.eltwise("SIGN", a)
        a, b = (node.eltwise("ABS", value) for value in (a, b))
        rest = node.eltwise("FLOOR_MOD", a, b)
        result = node.eltwise("MUL", rest, sign)
    else:
        result = node.eltwise("FLOOR_MOD", a, b)
    if dtype in _BYTES:
        result = node.cast(result, dtype)
    node.set_output(0, result)


@HANDLERS.register("IsNaN")
def _is_nan(node: Node) -> None:
    # Only NaN differs from itself.
    x = node.input(0)
    node.emit("Eltwise", [x, x], {"mode": "NOT_EQUAL"})


@HANDLERS.register("IsInf")
def _is_inf(node: Node) -> None:
    x = node.input(0)
    positive = node.flag("detect_positive", True)
    negative = node.flag("detect_negative", True)
    if not positive and not negative:
        node.emit("Eltwise", [x, x], {"mode": "LESS"})  # nowhere true
        return
    if positive and negative:
        x = node.eltwise("ABS", x)
    infinity = node.literal(np.inf if positive else -np.inf)
    node.emit("Eltwise", [x, infinity], {"mode": "EQUAL"})


@HANDLERS.register("And", "Or", "Xor")
def _logic(node: Node) -> None:
    a, b = (
        node.cast(value, DataType.INT32) for value in (node.input(0), lined_up(node))
    )
    if node.type == "Xor":
        node.emit("Eltwise", [a, b], {"mode": "NOT_EQUAL"})
        return
    mode = "MIN" if node.type == "And" else "MAX"
    result = node.eltwise(mode, a, b)
    node.emit("Cast", [result], {"to": "BOOL"})


@HANDLERS.register("Not")
def _not(node: Node) -> None:
    number = node.cast(node.input(0), DataType.INT32)
    node.emit("Eltwise", [number, node.scalar(0, number)], {"mode": "EQUAL"})


@HANDLERS.register("Clip")
def _clip(node: Node) -> None:
    x = node.input(0)
    low, high = _bounds(node)
    # Nothing is beyond an infinite bound.
    low = None if isinstance(low, float) and low == -np.inf else low
    high = None if isinstance(high, float) and high == np.inf else high
    if isinstance(low, Value) or isinstance(high, Value):
        _clip_computed(node, x, low, high)
        return
    if _clip_quantized(node, x, low, high):
        return
    is_float = x.dtype is DataType.FLOAT32
    if is_float and low == 0 and high is None:
        node.emit("Activation", [x], {"activation": "RELU"})
    elif is_float and low == 0 and high is not None and high > 0:
        attrs = {"activation": "RELUX", "activation_limit": float(high)}
        node.emit("Activation", [x], attrs)
    else:
        wrap = [None if v is None else node.scalar(v, x) for v in (low, high)]
        _clip_computed(node, x, *wrap)


def _clip_quantized(
    node: Node, x: Value, low: float | None, high: float | None
) -> bool:
    """Moves an upper bound of integers in front of Quantize, where it is an activation.

    PyTorch trains activations for 7 bits so: Relu, QuantizeLinear, Clip from 0 to 127.
    Only if the zero point is the least integer, as it is after Relu.
    """
    quantize, known = x.producer, x.quantization
    if quantize is None or quantize.type != "Quantize" or known is None:
        return False
    least = int(np.iinfo(x.dtype.numpy).min)
    if (
        not known.per_tensor
        or known.zero_point != least
        or high is None
        or high <= least
    ):
        return False
    if low is not None and low > least:
        return False
    numbers, limit = quantize.input(0), known.scales[0] * (high - least)
    if numbers.producer is not None and numbers.producer.type == "Activation":
        bound = node.scalar(limit, numbers)
        limited = node.eltwise("MIN", numbers, bound)
    else:
        attrs = {"activation": "RELUX", "activation_limit": limit}
        limited = node.make("Activation", [numbers], attrs)
    node.emit("Quantize", [limited, *quantize.inputs[1:]], dict(quantize.attrs))
    return True


def _bounds(node: Node) -> tuple[Value | float | None, Value | float | None]:
    if node.opset < 11:
        return (
            node.real("min", 0.0) if node.has("min") else None,
            node.real("max", 0.0) if node.has("max") else None,
        )
    bounds: list[Value | float | None] = []
    for index in (1, 2):
        value = node.optional(index)
        if value is not None and value.is_constant:
            number = value.numpy().reshape(-1)
            bounds.append(number[0].item() if number.size == 1 else value)
        else:
            bounds.append(value)
    return bounds[0], bounds[1]


def _clip_computed(
    node: Node, x: Value, low: Value | float | None, high: Value | float | None
) -> None:
    # The order matters if low is above high: then the result is high.
    steps = [
        (bound if isinstance(bound, Value) else node.scalar(bound, x), mode)
        for bound, mode in ((low, "MAX"), (high, "MIN"))
        if bound is not None
    ]
    if not steps:
        node.set_output(0, x)
        return
    for bound, mode in steps[:-1]:
        x = node.eltwise(mode, x, bound)
    bound, mode = steps[-1]
    node.emit("Eltwise", [x, bound], {"mode": mode})


# Bits --------------------------------------------------------------------------------

_BITWISE = {"BitwiseAnd": "AND", "BitwiseOr": "OR", "BitwiseXor": "XOR"}
_EIGHT_BITS = (DataType.INT8, DataType.UINT8)


@HANDLERS.register(*_BITWISE)
def _two_operands(node: Node) -> None:
    # The results have the range of the operands.
    _emit(node, _BITWISE[node.type], node.input(0).dtype)


@HANDLERS.register("BitwiseNot")
def _bitwise_not(node: Node) -> None:
    dtype = node.integer_type(0)
    if dtype in (DataType.UINT32, DataType.UINT64):
        raise UnsupportedNodeError(
            f"the results are {dtype.value} above those of int32, in which MACE "
            "computes"
        )
    _emit(node, "NOT", dtype)


@HANDLERS.register("BitShift")
def _shift(node: Node) -> None:
    mode = node.choice("direction", "", {"LEFT": "SHIFT_LEFT", "RIGHT": "SHIFT_RIGHT"})
    keeps_range = mode == "SHIFT_RIGHT"
    _emit(node, mode, node.input(0).dtype if keeps_range else node.integer_type(0))


@HANDLERS.register("BitCast")
def _bit_cast(node: Node) -> None:
    x, kind = node.input(0), node.integer("to", 0)
    to, dtype = ELEMENT_TYPES.get(kind), node.integer_type(0)
    if to is None or to.is_float or dtype.is_float:
        raise UnsupportedNodeError(
            f"from {dtype.value} to {element_type_name(kind)}; integers of the same "
            "size work"
        )
    sizes = [np.dtype(kind.numpy).itemsize for kind in (dtype, to)]
    if sizes[0] != sizes[1] or (sizes[0] > 2 and dtype is not to):
        raise UnsupportedNodeError(f"from {dtype.value} to {to.value}")
    if sizes[0] == 1:
        node.emit("Cast", [x], {"to": to.value.upper()})
    else:
        node.set_output(0, x if dtype is to else wrap(node, x, to))


def _emit(node: Node, mode: str, dtype: DataType) -> None:
    """Computes in int32 and returns to the range of the type.

    Args:
        node: whose inputs are the operands.
        mode: of Bitwise.
        dtype: of the results in ONNX, if they can leave its range.
    """
    values = [node.input(index) for index in range(len(node.inputs))]
    narrow = values[0].dtype in _EIGHT_BITS
    if narrow:
        values = [node.cast(value, DataType.INT32) for value in values]
    attrs = {"mode": mode}
    if not narrow and dtype not in (DataType.INT16, DataType.UINT16):
        node.emit("Bitwise", values, attrs)
        return
    result = node.make("Bitwise", values, attrs)
    if narrow:
        node.emit("Cast", [result], {"to": dtype.value.upper()})
    else:
        node.set_output(0, wrap(node, result, dtype))


def wrap(node: Node, value: Value, dtype: DataType) -> Value:
    """The lowest 16 bits of int32 as a number of int16 or uint16."""
    if dtype is DataType.UINT16:
        mask = node.scalar(0xFFFF, value)
        return node.make("Bitwise", [value, mask], {"mode": "AND"})
    bits = node.scalar(16, value)
    high = node.make("Bitwise", [value, bits], {"mode": "SHIFT_LEFT"})
    return node.make("Bitwise", [high, bits], {"mode": "SHIFT_RIGHT"})

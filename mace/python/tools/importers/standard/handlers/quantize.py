# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantized integers of 8 and 16 bits, and products and convolutions of them.

Integers of 16 bits are int16 where MACE computes: uint16 stands for the same numbers
with a zero point that differs by 32768. Whatever else reads them, or the application,
gets int32, as of all integers of the framework that MACE does not store.

ConvInteger is a product of matrices, of the elements under each window [N, Y, X,
taps * C] and the filter [taps * C, O], exact like the operator. Padding adds the zero
point of the input, which stands for 0. ONNX Runtime's dynamic quantization writes it,
with a zero point that each run computes.
"""

from __future__ import annotations

import numpy as np
import onnx

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.attributes import (
    ELEMENT_TYPES,
    element_type_name,
)
from mace.python.tools.importers.standard.handlers.conv import (
    by_matrices,
    check_channels,
)
from mace.python.tools.importers.standard.handlers.matmul import as_matrices
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.importers.standard.window import read_filter, read_window
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import state_quantization
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules.quantization import known_quantization

EIGHT_BITS = (DataType.UINT8, DataType.INT8)
# From a type of 16 bits to int16.
_OFFSETS = {DataType.INT16: 0, DataType.UINT16: np.iinfo(np.int16).min}
_LEVELS = 255.0


@HANDLERS.register("QuantizeLinear", "com.microsoft.QuantizeLinear")
def _quantize(node: Node) -> None:
    x = node.input(0)
    if x.dtype is not DataType.FLOAT32:
        raise UnsupportedNodeError(f"quantizes {x.dtype.value}", "quantize floats")
    scale, zero, axis = _quantization(node, x)
    if node.has_four_bits(2):
        raise UnsupportedNodeError("quantizes to 4 bits", "quantize to 8 or 16 bits")
    to = DataType.UINT8 if zero is None else _stored_type(zero)
    number = node.integer("output_dtype", 0)
    if zero is None and number:
        if number not in ELEMENT_TYPES:
            raise UnsupportedNodeError(f"quantizes to {element_type_name(number)}")
        to = ELEMENT_TYPES[number]
    if to in _OFFSETS:
        _emit_int16(node, x, scale, zero, to, axis)
    elif to in EIGHT_BITS:
        emit_quantize(node, x, scale, zero, to, axis)
    else:
        raise UnsupportedNodeError(
            "quantizes to other types than uint8, int8, uint16 and int16",
            "quantize to 8 or 16 bits",
        )


def emit_quantize(
    node: Node, x: Value, scale: Value, zero: Value | None, to: DataType, axis: int
) -> None:
    """Makes the quantized `x` the result."""
    if to not in EIGHT_BITS:
        raise UnsupportedNodeError(
            "quantizes to other types than uint8 and int8", "quantize to 8 bits"
        )
    node.emit("Quantize", [x, scale, zero], {"to": to.value.upper(), "axis": axis})


def _stored_type(zero: Value) -> DataType:
    """The type of a zero point in the model's file."""
    known = zero.constant.narrowed_from if zero.constant is not None else None
    return known or zero.dtype


def _emit_int16(
    node: Node, x: Value, scale: Value, zero: Value | None, to: DataType, axis: int
) -> None:
    """Makes `x` the result, as int16 that become int32 for other readers than
    DequantizeLinear.
    """
    offset = _OFFSETS[to]
    moved = _int16(node, _numbers(node, scale, zero) + offset)
    q = node.make("Quantize", [x, scale, moved], {"to": "INT16", "axis": axis})
    steps = node.make(
        "Dequantize", [q, node.literal(1.0), _int16(node, np.asarray(offset))]
    )
    node.emit("Cast", [steps], {"to": "INT32"})


def _numbers(node: Node, scale: Value, zero: Value | None) -> Array:
    """A zero point, which is a constant, or those that are left out."""
    if zero is not None:
        return np.asarray(zero.numpy(), np.int32)
    shape = node.known_dims(node.shape(scale), "the number of its scales is")
    return np.zeros(shape, np.int32)


def _int16(node: Node, numbers: Array) -> Value:
    return node.lazy(Constant.of(np.asarray(numbers, np.int16)), "zero_point")


def _made_by(value: Value, op_type: str) -> Op | None:
    op = value.producer
    return op if op is not None and op.type == op_type else None


def _integers_of_16_bits(
    node: Node, x: Value, zero: Value | None
) -> tuple[Value, Value] | None:
    """The int16 that `x` was made of by _emit_int16, and their zero point; None if it
    was not.
    """
    if zero is not None and not zero.is_constant:
        return None
    steps = _made_by(x, "Cast")
    back = None if steps is None else _made_by(steps.input(0), "Dequantize")
    if back is None or back.input(0).dtype is not DataType.INT16:
        return None
    offset, own = back.get_input(2), _made_by(back.input(0), "Quantize")
    if offset is None or offset.constant is None or own is None:
        return None
    numbers = _numbers(node, node.input(1), zero)
    moved = numbers + offset.numpy().astype(np.int32)
    bounds = np.iinfo(np.int16)
    if moved.size and (moved.min() < bounds.min or moved.max() > bounds.max):
        return None
    return back.input(0), _int16(node, moved)


@HANDLERS.register("DequantizeLinear", "com.microsoft.DequantizeLinear")
def _dequantize(node: Node) -> None:
    x = node.input(0)
    number = node.integer("output_dtype", 0)
    if number not in (0, onnx.TensorProto.FLOAT):
        raise UnsupportedNodeError(f"dequantizes to {element_type_name(number)}")
    scale, zero, axis = _quantization(node, x)
    found = _integers_of_16_bits(node, x, zero)
    if found is not None:
        x, zero = found
    else:
        state_dequantized(x, scale, zero, axis)
    node.emit("Dequantize", [x, scale, zero], {"axis": axis})


def state_dequantized(x: Value, scale: Value, zero: Value | None, axis: int) -> None:
    """Notes what the numbers of a constant stand for that is dequantized so.

    Raises:
        UnsupportedNodeError: numbers of this type are not dequantized.
    """
    if x.dtype not in (*EIGHT_BITS, DataType.INT32):
        raise UnsupportedNodeError(f"dequantizes {x.dtype.value}")
    # The float constant that follows does not say it, but another reader may need it.
    # If two nodes say different things, the first one counts.
    if x.is_constant and x.quantization is None:
        stated = known_quantization(x, scale, zero, axis)
        if stated is not None:
            state_quantization(x, stated)


def _quantization(node: Node, x: Value) -> tuple[Value, Value | None, int]:
    """Scale, zero point and the axis of the scales."""
    scale = node.input(1)
    zero = node.optional(2)
    if scale.dtype is not DataType.FLOAT32:
        raise UnsupportedNodeError(f"a scale of {scale.dtype.value}")
    dims = node.shape(scale)
    if len(dims) > 1 or node.integer("block_size", 0):
        raise UnsupportedNodeError(
            "a scale for each block", "use one for the tensor or for each channel"
        )
    rank = len(node.shape(x))
    if dims in ((), (1,)):
        return scale, zero, 0
    return scale, zero, node.axis(node.integer("axis", 1), rank)


@HANDLERS.register("DynamicQuantizeLinear")
def _dynamic_quantize(node: Node) -> None:
    x = node.input(0)
    nothing = node.literal(0.0)

    def extreme(mode: str) -> Value:
        folded = node.reduce(mode, x, [], keep_dims=False)
        return node.eltwise(mode, folded, nothing)

    def of(mode: str, *operands: Value) -> Value:
        return node.eltwise(mode, *operands)

    low = extreme("MIN")
    span = of("SUB", extreme("MAX"), low)
    step = of("DIV", span, node.literal(_LEVELS))
    # If all values are zero, any scale except 0 is right.
    scale = node.make("Where", [of("EQUAL", span, nothing), node.literal(1.0), step])
    steps = of("ROUND", of("DIV", of("SUB", nothing, low), scale))
    zero = node.cast(steps, DataType.UINT8)
    node.set_output(
        0, node.make("Quantize", [x, scale, zero], {"to": "UINT8", "axis": 0})
    )
    node.set_output(1, scale)
    node.set_output(2, zero)


@HANDLERS.register("MatMulInteger")
def _matmul_integer(node: Node) -> None:
    a, b, gone = as_matrices(node)
    zeros = [node.optional(i) for i in (2, 3)]
    for name, zero in zip(("a", "b"), zeros):
        if zero is not None and len(node.shape(zero)) > 1:
            raise UnsupportedNodeError(
                f"a zero point of {name} for each matrix",
                "use one number, or one for each row or column",
            )
    if not gone:
        node.emit("MatMulInteger", [a, b, *zeros])
        return
    product = node.make("MatMulInteger", [a, b, *zeros])
    node.emit("Squeeze", [product], {"axes": gone})


# Operators on quantized tensors ------------------------------------------------------

# Operators on quantized tensors are their operator in floats between Dequantize and
# Quantize, which is also what the other format of quantized models (QDQ) says.


def in_floats(node: Node, index: int, axis: int = 0) -> Value:
    """The numbers of inputs `index` to `index` + 2: tensor, scale, zero point.

    Args:
        axis: of the scales, if there are several.
    """
    zero = node.optional(index + 2)
    return dequantized(node, node.input(index), node.input(index + 1), zero, axis)


def dequantized(
    node: Node, x: Value, scale: Value, zero: Value | None, axis: int
) -> Value:
    """The numbers of a tensor with one scale, or one for each place along an axis."""
    one = node.shape(scale) in ((), (1,))
    axis = 0 if one else node.axis(axis, len(node.shape(x)))
    state_dequantized(x, scale, zero, axis)
    return node.make("Dequantize", [x, scale, zero], {"axis": axis})


def as_signed(numbers: Array) -> Array:
    """The int8 that are less by 128 than these uint8."""
    return np.asarray((numbers ^ np.uint8(0x80)).view(np.int8))


def quantize_result(node: Node, x: Value, index: int) -> None:
    """Makes `x` the result, quantized by inputs `index` and `index` + 1."""
    scale = node.input(index)
    zero = node.optional(index + 1)
    if node.shape(scale) not in ((), (1,)):
        raise UnsupportedNodeError("a scale of the result for each channel")
    to = DataType.UINT8 if zero is None else zero.dtype
    emit_quantize(node, x, scale, zero, to, 0)


def bias_in_floats(node: Node, bias: Value, a_scale: Value, b_scale: Value) -> Value:
    """A bias of int32, whose scale is the product of those of both operands."""
    scale = node.eltwise("MUL", a_scale, b_scale)
    if len(node.shape(scale)) == 0:
        scale = node.reshape(scale, [1])
    return dequantized(node, bias, scale, None, 0)


@HANDLERS.register("QLinearConv")
def _qlinear_conv(node: Node) -> None:
    quantize_result(node, conv_in_floats(node, in_floats(node, 0)), 6)


def conv_in_floats(node: Node, x: Value) -> Value:
    """The convolution of a QLinearConv whose input is `x`."""
    operands: list[Value | None] = [x, in_floats(node, 3)]
    if node.has_input(8):
        scales = node.input(1), node.input(4)
        operands.append(bias_in_floats(node, node.input(8), *scales))
    return node.apply("Conv", operands)


@HANDLERS.register("QLinearMatMul")
def _qlinear_matmul(node: Node) -> None:
    # One scale for each row of a, and for each column of b.
    operands = [in_floats(node, 0, -2), in_floats(node, 3, -1)]
    quantize_result(node, node.apply("MatMul", operands), 6)


@HANDLERS.register("ConvInteger")
def _conv_integer(node: Node) -> None:
    x, filters = node.input(0), read_filter(node)
    if x.dtype not in EIGHT_BITS or filters.dtype not in EIGHT_BITS:
        raise UnsupportedNodeError(
            f"multiplies {x.dtype.value} and {filters.dtype.value}"
        )
    window = read_window(node, len(filters.shape), filters.shape[2:])
    groups = node.integer("group", 1)
    out, depth = filters.shape[:2]
    check_channels(node, filters.shape, groups)
    taps = window.kernel[0] * window.kernel[1]
    part = out // groups
    shape = (depth * taps, out) if groups == 1 else (groups, 1, depth * taps, part)
    # Taps before channels, as the elements under a window are.
    matrix = filters.moved(
        lambda a: (
            a.reshape(groups, part, depth, taps).transpose(0, 3, 2, 1).reshape(shape)
        ),
        shape,
    )
    x_zero = node.optional(2)
    w_zero = _filter_zero(node, groups)
    weights = node.lazy(matrix, "matrices")
    result = by_matrices(
        node,
        window,
        groups,
        x_zero,
        lambda rows: node.make("MatMulInteger", [rows, weights, x_zero, w_zero]),
    )
    node.set_output(0, result)


def _filter_zero(node: Node, groups: int) -> Value | None:
    """The zero point of the filter: one number, or one for each output."""
    if not node.has_input(3):
        return None
    zero = node.input(3)
    numbers = node.constant(3, "the zero point of the filter").reshape(-1)
    if len(set(numbers.tolist())) == 1:
        return node.literal(numbers[0], zero.dtype)
    if groups > 1:
        raise UnsupportedNodeError(
            "several zero points of the filter, and groups", "use one zero point"
        )
    return zero

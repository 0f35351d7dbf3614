# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators on quantized tensors: of ONNX, and those that ONNX Runtime's quantizer
writes (domain com.microsoft).

Each is its operator in floats between Dequantize and Quantize, which is also what the
other format of quantized models (QDQ) says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.onnx.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.infer import state_quantization
from mace.python.tools.ir.op_rules.quantization import known_quantization

_EIGHT_BITS = (DataType.UINT8, DataType.INT8)


def _value(node: Node, index: int) -> Value | None:
    return node.input(index) if node.has_input(index) else None


def _floats(node: Node, index: int, axis: int = 0) -> Value:
    """The numbers of inputs `index` to `index` + 2: tensor, scale, zero point.

    Args:
        axis: of the scales, if there are several.
    """
    return _dequantized(
        node, node.input(index), node.input(index + 1), _value(node, index + 2), axis
    )


def _dequantized(
    node: Node, x: Value, scale: Value, zero: Value | None, axis: int
) -> Value:
    if x.dtype not in (*_EIGHT_BITS, DataType.INT32):
        raise UnsupportedNodeError(f"{x.name} has elements of type {x.dtype.value}")
    one = node.shape(scale) in ((), (1,))
    axis = 0 if one else node.axis(axis, len(node.shape(x)))
    if x.is_constant and x.quantization is None:
        stated = known_quantization(x, scale, zero, axis)
        if stated is not None:
            state_quantization(x, stated)
    return node.make("Dequantize", [x, scale, zero], {"axis": axis})


def _quantize(node: Node, x: Value, index: int) -> None:
    """Makes `x` the result, quantized by inputs `index` and `index` + 1."""
    scale, zero = node.input(index), _value(node, index + 1)
    if node.shape(scale) not in ((), (1,)):
        raise UnsupportedNodeError("a scale of the result for each channel")
    to = DataType.UINT8 if zero is None else zero.dtype
    if to not in _EIGHT_BITS:
        raise UnsupportedNodeError(
            "quantizes to other types than uint8 and int8", "quantize to 8 bits"
        )
    node.emit("Quantize", [x, scale, zero], {"to": to.value.upper(), "axis": 0})


def _bias(node: Node, bias: Value, a_scale: Value, b_scale: Value) -> Value:
    """A bias of int32, whose scale is the product of those of both operands."""
    scale = node.make("Eltwise", [a_scale, b_scale], {"mode": "MUL"})
    if len(node.shape(scale)) == 0:
        scale = node.make("Reshape", [scale], {"shape": [1]})
    return _dequantized(node, bias, scale, None, 0)


@HANDLERS.register("QLinearConv")
def _conv(node: Node) -> None:
    operands: list[Value | None] = [_floats(node, 0), _floats(node, 3)]
    if node.has_input(8):
        operands.append(_bias(node, node.input(8), node.input(1), node.input(4)))
    _quantize(node, node.apply("Conv", operands), 6)


@HANDLERS.register("QLinearMatMul")
def _matmul(node: Node) -> None:
    # One scale for each row of a, and for each column of b.
    _quantize(
        node, node.apply("MatMul", [_floats(node, 0, -2), _floats(node, 3, -1)]), 6
    )


@HANDLERS.register("com.microsoft.QGemm")
def _gemm(node: Node) -> None:
    columns = 0 if node.flag("transB", False) else 1
    operands: list[Value | None] = [_floats(node, 0), _floats(node, 3, columns)]
    if node.has_input(6):
        # Without alpha, as ONNX Runtime adds it to the sums.
        scale = node.input(1)
        alpha = node.real("alpha", 1.0)
        if alpha != 1.0:
            number = node.scalar(alpha, scale)
            scale = node.make("Eltwise", [scale, number], {"mode": "MUL"})
        operands.append(_bias(node, node.input(6), scale, node.input(4)))
    product = node.apply("Gemm", operands)
    if node.has_input(7):
        _quantize(node, product, 7)
    else:
        node.set_output(0, product)


def _register_binary(name: str, op_type: str) -> None:
    @HANDLERS.register(f"com.microsoft.{name}")
    def _binary(node: Node) -> None:
        operands = [_floats(node, 0), _floats(node, 3)]
        _quantize(node, node.apply(op_type, operands), 6)


_register_binary("QLinearAdd", "Add")
_register_binary("QLinearMul", "Mul")


def _register_unary(name: str, op_type: str) -> None:
    @HANDLERS.register(f"com.microsoft.{name}")
    def _unary(node: Node) -> None:
        _quantize(node, node.apply(op_type, [_floats(node, 0)]), 3)


_register_unary("QLinearLeakyRelu", "LeakyRelu")
_register_unary("QLinearSigmoid", "Sigmoid")


def _pool(node: Node, op_type: str) -> None:
    x = _floats(node, 0)
    rank = len(node.shape(x))
    if not node.flag("channels_last", False):
        _quantize(node, node.apply(op_type, [x]), 3)
        return
    last = rank - 1
    x = node.make("Transpose", [x], {"perm": [0, last, *range(1, last)]})
    pooled = node.apply(op_type, [x])
    back = node.make("Transpose", [pooled], {"perm": [0, *range(2, rank), 1]})
    _quantize(node, back, 3)


@HANDLERS.register("com.microsoft.QLinearAveragePool")
def _average_pool(node: Node) -> None:
    _pool(node, "AveragePool")


@HANDLERS.register("com.microsoft.QLinearGlobalAveragePool")
def _global_average_pool(node: Node) -> None:
    _pool(node, "GlobalAveragePool")


@HANDLERS.register("com.microsoft.QLinearConcat")
def _concat(node: Node) -> None:
    if len(node.inputs) < 5 or len(node.inputs) % 3 != 2:
        raise UnsupportedNodeError(
            f"{len(node.inputs)} inputs: after scale and zero point of the result come "
            "three for each tensor"
        )
    parts = [_floats(node, index) for index in range(2, len(node.inputs), 3)]
    _quantize(node, node.apply("Concat", parts), 0)


@HANDLERS.register("com.microsoft.QLinearSoftmax")
def _softmax(node: Node) -> None:
    x = _floats(node, 0)
    rank = len(node.shape(x))
    axis = node.axis(node.integer("axis", -1), rank)
    if node.integer("opset", 13) < 13 and axis != rank - 1:
        raise UnsupportedNodeError(
            "a softmax over several axes (opset below 13)", "quantize with opset 13"
        )
    _quantize(node, node.make("Softmax", [x], {"axis": axis}), 3)


@HANDLERS.register("com.microsoft.QLinearWhere")
def _where(node: Node) -> None:
    operands = [node.input(0), _floats(node, 1), _floats(node, 4)]
    _quantize(node, node.apply("Where", operands), 7)


@HANDLERS.register("com.microsoft.MatMulIntegerToFloat")
def _matmul_integer_to_float(node: Node) -> None:
    a = _dequantized(node, node.input(0), node.input(2), _value(node, 4), -2)
    b = _dequantized(node, node.input(1), node.input(3), _value(node, 5), -1)
    _add_bias(node, node.apply("MatMul", [a, b]), 6)


@HANDLERS.register("com.microsoft.DynamicQuantizeMatMul")
def _dynamic_quantize_matmul(node: Node) -> None:
    x, scale, zero = node.apply_all("DynamicQuantizeLinear", [node.input(0)], 3)
    a = _dequantized(node, x, scale, zero, -2)
    b = _dequantized(node, node.input(1), node.input(2), _value(node, 3), -1)
    _add_bias(node, node.apply("MatMul", [a, b]), 4)


def _add_bias(node: Node, product: Value, index: int) -> None:
    bias = _value(node, index)
    if bias is None:
        node.set_output(0, product)
    else:
        node.emit("Eltwise", [product, bias], {"mode": "ADD"})


# The same as the operators of ONNX.
def _register_same(names: Sequence[str], emit: Callable[[Node, str], None]) -> None:
    for name in names:

        @HANDLERS.register(f"com.microsoft.{name}")
        def _same(node: Node, op_type: str = name) -> None:
            emit(node, op_type)


_register_same(
    ("QuantizeLinear", "DequantizeLinear"),
    lambda node, op_type: node.set_output(0, node.apply(op_type, node.inputs)),
)

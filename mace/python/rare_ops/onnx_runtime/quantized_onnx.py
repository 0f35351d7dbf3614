# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators on quantized tensors that ONNX Runtime's quantizer writes in its format
QOperator (domain com.microsoft): their operators in floats, as those of ONNX.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.handlers.attention import (
    Attended,
    attend,
)
from mace.python.tools.importers.standard.handlers.quantize import (
    bias_in_floats,
    conv_in_floats,
    dequantized,
    in_floats,
    quantize_result,
)
from mace.python.tools.importers.standard.handlers.runtime_fusions import embed
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value

_PREFIX = "QLinear"


@HANDLERS.register("com.microsoft.QLinearConv")
def _conv(node: Node) -> None:
    result = conv_in_floats(node, _images(node, in_floats(node, 0)))
    quantize_result(node, _as_given(node, result), 6)


def _images(node: Node, x: Value) -> Value:
    """Images in ONNX's order, from those of operators that have channels last."""
    if not node.flag("channels_last", False):
        return x
    last = len(node.shape(x)) - 1
    return node.transpose(x, [0, last, *range(1, last)])


def _as_given(node: Node, result: Value) -> Value:
    """A result in the order of the node."""
    if not node.flag("channels_last", False):
        return result
    perm = [0, *range(2, len(node.shape(result))), 1]
    return node.transpose(result, perm)


@HANDLERS.register("com.microsoft.QGemm")
def _gemm(node: Node) -> None:
    columns = 0 if node.flag("transB", False) else 1
    operands: list[Value | None] = [in_floats(node, 0), in_floats(node, 3, columns)]
    if node.has_input(6):
        # It is added to the sums before they are multiplied by alpha.
        scale = node.input(1)
        alpha = node.real("alpha", 1.0)
        if alpha != 1.0:
            number = node.scalar(alpha, scale)
            scale = node.eltwise("MUL", scale, number)
        operands.append(bias_in_floats(node, node.input(6), scale, node.input(4)))
    product = node.apply("Gemm", operands)
    if node.has_input(7):
        quantize_result(node, product, 7)
    else:
        node.set_output(0, product)


def _operator(node: Node) -> str:
    """The operator of ONNX in the name of this one."""
    return node.type[len(_PREFIX) :]


@HANDLERS.register("com.microsoft.QLinearAdd", "com.microsoft.QLinearMul")
def _binary(node: Node) -> None:
    operands = [in_floats(node, 0), in_floats(node, 3)]
    quantize_result(node, node.apply(_operator(node), operands), 6)


@HANDLERS.register("com.microsoft.QLinearLeakyRelu", "com.microsoft.QLinearSigmoid")
def _unary(node: Node) -> None:
    quantize_result(node, node.apply(_operator(node), [in_floats(node, 0)]), 3)


@HANDLERS.register(
    "com.microsoft.QLinearAveragePool", "com.microsoft.QLinearGlobalAveragePool"
)
def _pool(node: Node) -> None:
    x = _images(node, in_floats(node, 0))
    quantize_result(node, _as_given(node, node.apply(_operator(node), [x])), 3)


@HANDLERS.register("com.microsoft.NhwcMaxPool")
def _max_pool(node: Node) -> None:
    x = node.input(0)
    last = len(node.shape(x)) - 1
    x = node.transpose(x, [0, last, *range(1, last)])
    pooled = node.apply("MaxPool", [x])
    node.emit("Transpose", [pooled], {"perm": [0, *range(2, last + 1), 1]})


@HANDLERS.register("com.microsoft.QLinearConcat")
def _concat(node: Node) -> None:
    if len(node.inputs) < 5 or len(node.inputs) % 3 != 2:
        raise UnsupportedNodeError(
            f"{len(node.inputs)} inputs: after scale and zero point of the result come "
            "three for each tensor"
        )
    parts = [in_floats(node, index) for index in range(2, len(node.inputs), 3)]
    quantize_result(node, node.apply("Concat", parts), 0)


@HANDLERS.register("com.microsoft.QLinearSoftmax")
def _softmax(node: Node) -> None:
    x = in_floats(node, 0)
    rank = len(node.shape(x))
    axis = node.axis(node.integer("axis", -1), rank)
    if node.integer("opset", 13) < 13 and axis != rank - 1:
        raise UnsupportedNodeError(
            "a softmax over several axes (opset below 13)", "quantize with opset 13"
        )
    quantize_result(node, node.make("Softmax", [x], {"axis": axis}), 3)


@HANDLERS.register("com.microsoft.QLinearWhere")
def _where(node: Node) -> None:
    operands = [node.input(0), in_floats(node, 1), in_floats(node, 4)]
    quantize_result(node, node.apply("Where", operands), 7)


@HANDLERS.register("com.microsoft.MatMulIntegerToFloat")
def _matmul_integer_to_float(node: Node) -> None:
    a = dequantized(node, node.input(0), node.input(2), node.optional(4), -2)
    b = dequantized(node, node.input(1), node.input(3), node.optional(5), -1)
    _add_bias(node, node.apply("MatMul", [a, b]), 6)


@HANDLERS.register("com.microsoft.DynamicQuantizeMatMul")
def _dynamic_quantize_matmul(node: Node) -> None:
    x, scale, zero = node.apply_all("DynamicQuantizeLinear", [node.input(0)], 3)
    a = dequantized(node, x, scale, zero, -2)
    b = dequantized(node, node.input(1), node.input(2), node.optional(3), -1)
    _add_bias(node, node.apply("MatMul", [a, b]), 4)


@HANDLERS.register("com.microsoft.QAttention")
def _attention(node: Node) -> None:
    """Attention whose product for queries, keys and values is quantized."""
    x = dequantized(node, node.input(0), node.input(3), node.optional(6), 0)
    weights = dequantized(node, node.input(1), node.input(4), node.optional(7), -1)
    attend(node, node.make("MatMul", [x, weights]), Attended(2, 5, 8))


@HANDLERS.register("com.microsoft.QEmbedLayerNormalization")
def _embed(node: Node) -> None:
    tables = {}
    for place in range(2, 7):
        if node.has_input(place):
            scale, zero = node.input(place + 6), node.optional(place + 11)
            tables[place] = dequantized(node, node.input(place), scale, zero, 0)
    embed(node, tables)


@HANDLERS.register("com.microsoft.DynamicQuantizeLSTM")
def _lstm(node: Node) -> None:
    """The weights are transposed. Inputs and states are not rounded here."""
    operands = [node.optional(index) for index in range(8)]
    for index, scale in ((1, 8), (2, 10)):
        x, zero = node.input(index), node.optional(scale + 1)
        factor = node.constant(scale, "the scale")
        numbers = np.asarray(node.constant(index, "the weights"), np.float32)
        if zero is not None:
            offset = np.asarray(node.constant(scale + 1, "the zero point"), np.float32)
            numbers = numbers - _of_columns(offset)
        numbers = numbers * _of_columns(np.asarray(factor, np.float32))
        if numbers.ndim != 3:
            raise UnsupportedNodeError(f"{x.name} has {numbers.ndim} dimensions")
        operands[index] = node.literal(numbers.transpose(0, 2, 1))
    for index, value in enumerate(node.apply_all("LSTM", operands, 3)):
        node.set_output(index, value)


def _of_columns(numbers: Array) -> Array:
    """One number, or one for each direction, or for each of its columns."""
    shape = {0: (1, 1, 1), 1: (-1, 1, 1)}.get(numbers.ndim)
    return numbers[:, None, :] if shape is None else numbers.reshape(shape)


def _add_bias(node: Node, product: Value, index: int) -> None:
    bias = node.optional(index)
    if bias is None:
        node.set_output(0, product)
    else:
        node.emit("Eltwise", [product, bias], {"mode": "ADD"})

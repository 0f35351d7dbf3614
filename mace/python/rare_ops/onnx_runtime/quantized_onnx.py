# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators on quantized tensors that ONNX Runtime's quantizers write (domain
com.microsoft): in the format QOperator, their operators in floats, as those of ONNX; of
dynamic quantization, products of integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.handlers.attention import (
    Attended,
    attend,
)
from mace.python.tools.importers.standard.handlers.quantize import (
    EIGHT_BITS,
    as_signed,
    bias_in_floats,
    conv_in_floats,
    dequantized,
    in_floats,
    quantize_result,
)
from mace.python.tools.importers.standard.handlers.recurrent import (
    IntegerWeights,
    recurrent_of_integers,
)
from mace.python.tools.importers.standard.handlers.runtime_fusions import embed
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import format_shape

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


@dataclass(frozen=True)
class _Integers:
    """A matrix of 8-bit integers.

    Attributes:
        zero: their zero point; None: 0.
    """

    values: Value
    scale: Value
    zero: Value | None


def _product(node: Node, a: _Integers, b: _Integers) -> Value:
    """By MatMulInteger, as the format without these operators says it."""
    product = node.apply("MatMulInteger", [a.values, b.values, a.zero, b.zero])
    factor = node.eltwise("MUL", a.scale, b.scale)
    return node.eltwise("MUL", node.cast(product, DataType.FLOAT32), factor)


@HANDLERS.register("com.microsoft.MatMulIntegerToFloat")
def _matmul_integer_to_float(node: Node) -> None:
    a = _Integers(node.input(0), node.input(2), node.optional(4))
    b = _Integers(node.input(1), node.input(3), node.optional(5))
    _add_bias(node, _product(node, a, b), 6)


@HANDLERS.register("com.microsoft.DynamicQuantizeMatMul")
def _dynamic_quantize_matmul(node: Node) -> None:
    a = _Integers(*node.apply_all("DynamicQuantizeLinear", [node.input(0)], 3))
    b = _Integers(node.input(1), node.input(2), node.optional(3))
    _add_bias(node, _product(node, a, b), 4)


@HANDLERS.register("com.microsoft.QAttention")
def _attention(node: Node) -> None:
    """Attention whose product for queries, keys and values is quantized."""
    x = _Integers(node.input(0), node.input(3), node.optional(6))
    weights = _Integers(node.input(1), node.input(4), node.optional(7))
    attend(node, _product(node, x, weights), Attended(2, 5, 8))


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
    weights, states = _integer_weights(node, 1, 8), _integer_weights(node, 2, 10)
    recurrent_of_integers(node, "LSTM", weights, states)


def _integer_weights(node: Node, index: int, scale: int) -> IntegerWeights:
    """Input `index`, [D, K, N], with the scales of input `scale` and the zero points of
    the next one: one number, or one for each direction, or for each of its columns.
    """
    x = node.input(index)
    numbers = node.constant(index, "the weights")
    if x.dtype not in EIGHT_BITS or numbers.ndim != 3:
        raise UnsupportedNodeError(
            f"{x.name} is {x.dtype.value} with {numbers.ndim} dimensions, not integers "
            "of 8 bits with 3"
        )
    scales = _of_columns(node.constant(scale, "the scale"), numbers.shape)
    zeros = None
    if node.has_input(scale + 1):
        zero = node.constant(scale + 1, "the zero point")
        zeros = _of_columns(zero.astype(numbers.dtype), numbers.shape)
    if x.dtype is DataType.UINT8:
        if zeros is None:
            zeros = np.zeros((numbers.shape[0], numbers.shape[2]), np.uint8)
        numbers, zeros = (as_signed(array) for array in (numbers, zeros))
    return IntegerWeights(numbers, scales.astype(np.float32), zeros)


def _of_columns(numbers: Array, weights: tuple[int, ...]) -> Array:
    """[D, N], for weights [D, K, N]."""
    wanted = weights[0], weights[2]
    if numbers.size in (1, weights[0]):
        numbers = numbers.reshape(-1, 1)
    elif numbers.shape != wanted:
        raise UnsupportedNodeError(
            f"scales or zero points {format_shape(numbers.shape)} for "
            f"{weights[0]} directions of {weights[2]} columns"
        )
    return np.broadcast_to(numbers, wanted)


def _add_bias(node: Node, product: Value, index: int) -> None:
    bias = node.optional(index)
    if bias is None:
        node.set_output(0, product)
    else:
        node.emit("Eltwise", [product, bias], {"mode": "ADD"})

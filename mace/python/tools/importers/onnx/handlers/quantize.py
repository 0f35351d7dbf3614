# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""8-bit quantized integers, and products of them."""

from __future__ import annotations

import onnx

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.onnx.handlers.matmul import as_matrices
from mace.python.tools.importers.onnx.node import HANDLERS, Node
from mace.python.tools.importers.onnx.tensors import ELEMENT_TYPES, element_type_name
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.infer import state_quantization
from mace.python.tools.ir.op_rules.quantization import known_quantization

EIGHT_BITS = (DataType.UINT8, DataType.INT8)
_LEVELS = 255.0


@HANDLERS.register("QuantizeLinear", "com.microsoft.QuantizeLinear")
def _quantize(node: Node) -> None:
    x = node.input(0)
    if x.dtype is not DataType.FLOAT32:
        raise UnsupportedNodeError(f"quantizes {x.dtype.value}", "quantize floats")
    scale, zero, axis = _quantization(node, x)
    to = DataType.UINT8 if zero is None else zero.dtype
    number = node.integer("output_dtype", 0)
    if zero is None and number:
        if number not in ELEMENT_TYPES:
            raise UnsupportedNodeError(f"quantizes to {element_type_name(number)}")
        to = ELEMENT_TYPES[number]
    emit_quantize(node, x, scale, zero, to, axis)


def emit_quantize(
    node: Node, x: Value, scale: Value, zero: Value | None, to: DataType, axis: int
) -> None:
    """Makes the quantized `x` the result."""
    if to not in EIGHT_BITS:
        raise UnsupportedNodeError(
            "quantizes to other types than uint8 and int8", "quantize to 8 bits"
        )
    node.emit("Quantize", [x, scale, zero], {"to": to.value.upper(), "axis": axis})


@HANDLERS.register("DequantizeLinear", "com.microsoft.DequantizeLinear")
def _dequantize(node: Node) -> None:
    x = node.input(0)
    number = node.integer("output_dtype", 0)
    if number not in (0, onnx.TensorProto.FLOAT):
        raise UnsupportedNodeError(f"dequantizes to {element_type_name(number)}")
    scale, zero, axis = _quantization(node, x)
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
    zero = node.input(2) if node.has_input(2) else None
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
        folded = node.make(
            "Reduce", [x], {"mode": mode, "axes": [], "keep_dims": False}
        )
        return node.make("Eltwise", [folded, nothing], {"mode": mode})

    def of(mode: str, *operands: Value) -> Value:
        return node.make("Eltwise", list(operands), {"mode": mode})

    low = extreme("MIN")
    span = of("SUB", extreme("MAX"), low)
    step = of("DIV", span, node.literal(_LEVELS))
    # If all values are zero, any scale except 0 is right.
    scale = node.make("Where", [of("EQUAL", span, nothing), node.literal(1.0), step])
    steps = of("ROUND", of("DIV", of("SUB", nothing, low), scale))
    zero = node.make("Cast", [steps], {"to": "UINT8"})
    node.set_output(
        0, node.make("Quantize", [x, scale, zero], {"to": "UINT8", "axis": 0})
    )
    node.set_output(1, scale)
    node.set_output(2, zero)


@HANDLERS.register("MatMulInteger")
def _matmul_integer(node: Node) -> None:
    a, b, gone = as_matrices(node)
    zeros = [node.input(i) if node.has_input(i) else None for i in (2, 3)]
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

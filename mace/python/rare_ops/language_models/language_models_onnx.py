# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What tools for language models write (domain com.microsoft): weights of few bits and
mixtures of experts.

Weights of few bits, for activations in floats, become floats. All experts compute all
tokens; a token adds up the results of the experts that its router chose. The operators
of a graph do not depend on the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.handlers.activation import activate, swish
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

_BITS = (2, 4, 8)
# What the 16 codes of bitsandbytes stand for, in units of the largest of a block.
_FP4 = (0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4)
_NF4 = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
    *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
    *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634),
    *(0.33791524171829224, 0.44070982933044434, 0.5626170039176941),
    *(0.7229568362236023, 1.0),
)
_CODES = ((*_FP4, *(-number for number in _FP4)), _NF4)


@HANDLERS.register("com.microsoft.MatMulNBits")
def _matmul_of_few_bits(node: Node) -> None:
    """A scale for each block of a row."""
    bits, block = node.integer("bits", 4), node.integer("block_size", 0)
    rows, depth = node.integer("N", 0), node.integer("K", 0)
    if node.has_input(4):
        raise UnsupportedNodeError("the columns are in another order (g_idx)")
    if bits not in _BITS or block < 1 or rows < 1 or depth < 1:
        raise UnsupportedNodeError(f"{bits} bits in blocks of {block}")
    blocks = -(-depth // block)
    packed = np.asarray(node.constant(1, "the weights"), np.uint8)
    numbers = _unpacked(packed.reshape(rows, -1), bits, blocks * block)
    scales = np.asarray(node.constant(2, "the scales"), np.float32)
    zeros: Array = np.full((rows, blocks), 1 << (bits - 1), np.float32)
    if node.has_input(3):
        given = np.asarray(node.constant(3, "the zero points"))
        if given.dtype == np.uint8:
            zeros = _unpacked(given.reshape(rows, -1), bits, blocks)
        else:
            zeros = given.astype(np.float32).reshape(rows, blocks)
    weights = numbers.reshape(rows, blocks, block) - zeros[:, :, None]
    weights = weights * scales.reshape(rows, blocks, 1)
    product = _multiply(node, weights.reshape(rows, -1)[:, :depth])
    if node.has_input(5):
        product = node.eltwise("ADD", product, node.input(5))
    node.set_output(0, product)


def _multiply(node: Node, matrix: Array) -> Value:
    """The product of the input and the transposed matrix."""
    weights = node.literal(matrix.astype(np.float32))
    return node.make("MatMul", [node.input(0), weights], {"transpose_b": True})


def _unpacked(packed: Array, bits: int, count: int) -> Array:
    """The numbers of each row, the first one in the lowest bits of a byte."""
    places = np.arange(0, 8, bits, dtype=np.uint8)
    parts = (packed[..., None] >> places) & ((1 << bits) - 1)
    numbers = parts.reshape(*packed.shape[:-1], -1)
    if numbers.shape[-1] < count:
        raise UnsupportedNodeError(f"{numbers.shape[-1]} numbers for {count}")
    return np.asarray(numbers[..., :count], np.float32)


@HANDLERS.register("com.microsoft.MatMulBnb4")
def _matmul_of_bitsandbytes(node: Node) -> None:
    """4 bits by a table, with a scale for each block of all rows together."""
    rows, depth = node.integer("N", 0), node.integer("K", 0)
    block, kind = node.integer("block_size", 0), node.integer("quant_type", 0)
    if kind not in range(len(_CODES)) or min(block, rows, depth) < 1:
        raise UnsupportedNodeError(f"quant_type {kind} in blocks of {block}")
    if not node.flag("transB", True):
        raise UnsupportedNodeError("transB is 0", "export the model for inference")
    packed = np.asarray(node.constant(1, "the weights"), np.uint8).reshape(-1)
    # The first of two codes is in the upper bits.
    codes = np.stack([packed >> 4, packed & 15], 1).reshape(-1)[: rows * depth]
    scales = np.asarray(node.constant(2, "absmax"), np.float32).reshape(-1)
    numbers = np.asarray(_CODES[kind], np.float32)[codes]
    numbers *= np.repeat(scales, block)[: rows * depth]
    node.set_output(0, _multiply(node, numbers.reshape(rows, depth)))


@HANDLERS.register("com.microsoft.GatherBlockQuantized")
def _gather_of_few_bits(node: Node) -> None:
    """Rows of a table, with a scale for each block of elements along an axis."""
    numbers = node.constant(0, "the data")
    zeros: Array = np.zeros(())
    if node.has_input(3):
        zeros = node.constant(3, "the zero points")
    scales = np.asarray(node.constant(2, "the scales"), np.float32)
    if numbers.dtype == np.uint8:
        bits = node.integer("bits", 4)
        if bits not in _BITS:
            raise UnsupportedNodeError(f"bits is {bits}")
        numbers = _unpacked(numbers, bits, numbers.shape[-1] * 8 // bits)
        zeros = (
            _unpacked(zeros, bits, scales.shape[-1])
            if node.has_input(3)
            else np.asarray(1 << (bits - 1))
        )
    elif numbers.dtype.kind not in "iu":
        raise UnsupportedNodeError(f"data of type {numbers.dtype}")
    axis = node.axis(node.integer("quantize_axis", 1), numbers.ndim)
    gathered = node.axis(node.integer("gather_axis", 0), numbers.ndim)
    block, length = node.integer("block_size", 128), numbers.shape[axis]
    places = np.arange(length) // max(block, 1)

    def spread(array: Array) -> Array:
        own = np.asarray(array, np.float32)
        return np.take(own, places, axis) if own.ndim else own

    table = (np.asarray(numbers, np.float32) - spread(zeros)) * spread(scales)
    node.emit("Gather", [node.literal(table), node.input(1)], {"axis": gathered})


_PLAIN = {"relu": "RELU", "gelu": "GELU_TANH"}


@dataclass(frozen=True)
class _Layer:
    """A layer of all experts.

    Attributes:
        weights: [experts, outputs, inputs].
        bias: [experts, outputs].
    """

    weights: Value
    bias: Value | None

    def of(self, node: Node, x: Value) -> Value:
        """[experts, tokens, outputs]."""
        result = node.make("MatMul", [x, self.weights], {"transpose_b": True})
        if self.bias is None:
            return result
        bias = node.expand_dims(self.bias, [1])
        return node.eltwise("ADD", result, bias)


@HANDLERS.register("com.microsoft.MoE")
def _experts(node: Node) -> None:
    def layer(index: int) -> _Layer | None:
        if not node.has_input(index):
            return None
        bias = node.optional(index + 1)
        return _Layer(node.input(index), bias)

    _mix(node, [layer(index) for index in (2, 4, 6)])


@HANDLERS.register("com.microsoft.QMoE")
def _experts_of_few_bits(node: Node) -> None:
    if node.text("quant_type", "int") != "int":
        raise UnsupportedNodeError(f"quant_type is {node.text('quant_type', '')!r}")
    for index in range(14, len(node.inputs)):
        if node.has_input(index):
            raise UnsupportedNodeError(f"it has input {index}")
    _mix(node, [_of_few_bits(node, place) for place in range(3)])


def _of_few_bits(node: Node, place: int) -> _Layer | None:
    index = 2 + 3 * place
    if not node.has_input(index):
        return None
    common = node.integer("expert_weight_bits", 4)
    bits = node.integer(f"fc{place + 1}_expert_weight_bits", common)
    if bits not in _BITS:
        raise UnsupportedNodeError(f"{bits} bits")
    packed = np.asarray(node.constant(index, "the weights"), np.uint8)
    numbers = _unpacked(packed, bits, packed.shape[-1] * 8 // bits)
    scales = np.asarray(node.constant(index + 1, "the scales"), np.float32)
    scales = scales.reshape(*numbers.shape[:2], -1)
    zeros: Array = np.asarray(float(1 << (bits - 1)))
    if node.has_input(11 + place):
        given = np.asarray(node.constant(11 + place, "the zero points"), np.uint8)
        if node.integer("block_size", 0) > 0:
            zeros = _unpacked(given, bits, scales.shape[-1])
        else:
            zeros = _unpacked(given, bits, scales.shape[1])[..., None]
    length = numbers.shape[-1]
    block = node.integer("block_size", 0) or length

    def spread(array: Array) -> Array:
        return np.take(array, np.arange(length) // block, 2) if array.ndim else array

    weights = (numbers - spread(zeros)) * spread(scales)
    bias = node.optional(index + 2)
    return _Layer(node.literal(weights), bias)


def _mix(node: Node, layers: list[_Layer | None]) -> None:
    first, second, third = layers
    if first is None or second is None:
        raise UnsupportedNodeError("the weights of a layer are missing")
    x = node.input(0)
    width = node.shape(x)[-1]
    if not isinstance(width, int):
        raise UnsupportedNodeError(f"the width of {x.name} is not known")
    rows = node.reshape(x, [1, -1, width])
    inner = _activated(node, first.of(node, rows), rows, third)
    results = second.of(node, inner)
    shares = node.transpose(_shares(node), [1, 0])
    shares = node.expand_dims(shares, [2])
    parts = node.eltwise("MUL", results, shares)
    total = node.reduce("SUM", parts, [0], keep_dims=False)
    node.set_output(0, node.make("Reshape", [total, node.make("Shape", [x])]))


def _shares(node: Node) -> Value:
    """[tokens, experts]: what each expert's result counts, 0 for one not chosen."""
    if node.flag("use_sparse_mixer", False):
        raise UnsupportedNodeError("use_sparse_mixer is 1")
    scores = node.input(1)
    experts = node.shape(scores)[-1]
    count = node.integer("k", 1)
    if not isinstance(experts, int) or not 1 <= count <= experts:
        raise UnsupportedNodeError(f"{count} of {experts} experts")
    shares = node.make("Softmax", [scores], {"axis": 1})
    chosen = node.make_all("TopK", [shares], {"axis": 1, "k": count}, 2)
    numbers = node.literal(np.arange(experts), DataType.INT32)
    places = node.expand_dims(chosen[1], [2])
    is_chosen = node.eltwise("EQUAL", places, numbers)
    kept = node.expand_dims(chosen[0], [2])
    kept = node.make("Where", [is_chosen, kept, node.literal(0.0)])
    kept = node.reduce("SUM", kept, [1], keep_dims=False)
    # ONNX Runtime's QMoE takes the softmax of the chosen scores alone.
    if node.type == "MoE" and not node.flag("normalize_routing_weights", False):
        return kept
    return node.eltwise("DIV", kept, node.reduce("SUM", kept, [1]))


def _activated(node: Node, inner: Value, rows: Value, third: _Layer | None) -> Value:
    name = node.text("activation_type", "relu")
    if name == "swiglu":
        return _swiglu(node, inner, rows, third)
    if name in _PLAIN:
        inner = activate(node, inner, _PLAIN[name])
    elif name == "silu":
        inner = swish(node, inner)
    elif name != "identity":
        raise UnsupportedNodeError(f"activation_type is {name!r}")
    return inner if third is None else node.eltwise("MUL", inner, third.of(node, rows))


def _swiglu(node: Node, inner: Value, rows: Value, third: _Layer | None) -> Value:
    if node.flag("swiglu_limit_after_activation", False):
        raise UnsupportedNodeError("swiglu_limit_after_activation is 1")
    fusion = node.integer("swiglu_fusion", 0)
    width = node.shape(inner)[-1]
    if fusion == 0 and third is not None:
        gate, other = inner, third.of(node, rows)
    elif fusion == 1 and isinstance(width, int):
        gate, other = (
            node.make(
                "StridedSlice",
                [inner],
                {"axes": [2], "begins": [begin], "ends": [width], "strides": [2]},
            )
            for begin in range(2)
        )
    elif fusion == 2:
        gate, other = node.make_all("Split", [inner], {"axis": 2}, 2)
    else:
        raise UnsupportedNodeError(f"swiglu_fusion is {fusion}")
    if node.has("swiglu_limit"):
        limit = node.scalar(node.real("swiglu_limit", 0.0), inner)
        least = node.scalar(-node.real("swiglu_limit", 0.0), inner)
        gate, other = (node.eltwise("MIN", x, limit) for x in (gate, other))
        other = node.eltwise("MAX", other, least)
    gate = swish(node, gate, node.real("activation_alpha", 1.0))
    beta = node.scalar(node.real("activation_beta", 0.0), inner)
    return node.eltwise("MUL", gate, node.eltwise("ADD", other, beta))

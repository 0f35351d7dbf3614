# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Weights of few bits for activations in floats, as tools for language models write
them (domain com.microsoft). They become floats.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value

BITS = (2, 4, 8)
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
    if bits not in BITS or block < 1 or rows < 1 or depth < 1:
        raise UnsupportedNodeError(f"{bits} bits in blocks of {block}")
    blocks = -(-depth // block)
    packed = np.asarray(node.constant(1, "the weights"), np.uint8)
    numbers = unpacked(packed.reshape(rows, -1), bits, blocks * block)
    scales = np.asarray(node.constant(2, "the scales"), np.float32)
    zeros: Array = np.full((rows, blocks), 1 << (bits - 1), np.float32)
    if node.has_input(3):
        given = np.asarray(node.constant(3, "the zero points"))
        if given.dtype == np.uint8:
            zeros = unpacked(given.reshape(rows, -1), bits, blocks)
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


def unpacked(packed: Array, bits: int, count: int) -> Array:
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
        if bits not in BITS:
            raise UnsupportedNodeError(f"bits is {bits}")
        numbers = unpacked(numbers, bits, numbers.shape[-1] * 8 // bits)
        zeros = (
            unpacked(zeros, bits, scales.shape[-1])
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

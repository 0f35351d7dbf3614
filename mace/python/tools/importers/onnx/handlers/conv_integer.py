# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution of 8-bit integers, whose sums are int32: ConvInteger.

It is a product of matrices, of the filter [groups, O / groups, C / groups * taps] and
the elements under each tap [N, groups, C / groups * taps, Y * X], exact like the
operator. ONNX Runtime's dynamic quantization writes it, with a zero point that each run
computes.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.onnx.handlers.quantize import EIGHT_BITS
from mace.python.tools.importers.onnx.handlers.taps import (
    extent,
    in_pairs,
    pads,
    stride,
    under_taps,
)
from mace.python.tools.importers.onnx.node import HANDLERS, STATIC_HINT, Node
from mace.python.tools.importers.onnx.window import Window, read_filter, read_window
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value


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
    batch, channels, *sides = node.static_shape(x)
    if groups < 1 or out % groups or channels != depth * groups:
        raise UnsupportedNodeError(
            f"{channels} input channels, a filter of {list(filters.shape)} and "
            f"{groups} groups"
        )
    if window.is_line:
        x, sides = node.make("ExpandDims", [x], {"axes": [2]}), [1, *sides]
    befores, afters = pads(window, sides)
    x_zero = node.input(2) if node.has_input(2) else None
    if any((*befores, *afters)):
        x = _padded(node, x, x_zero, befores, afters)
    counts = [
        (side + before + after - extent(window, i)) // stride(window, i) + 1
        for i, (side, before, after) in enumerate(zip(sides, befores, afters))
    ]
    if min(counts) < 1:
        raise UnsupportedNodeError(f"a window larger than the input {sides}")
    taps = window.kernel[0] * window.kernel[1]
    rows = under_taps(node, x, window, (batch, groups, depth), counts)
    matrix = filters.moved(
        lambda a: a.reshape(groups, out // groups, depth * taps),
        (groups, out // groups, depth * taps),
    )
    w_zero = _filter_zero(node, groups)
    operands = [node.lazy(matrix, "matrices"), rows, w_zero, x_zero]
    sums = node.make("MatMulInteger", operands)
    if any((*befores, *afters)) and x_zero is not None and not x_zero.is_constant:
        outside = _outside(node, filters, window, sides, befores, counts)
        known = node.literal(outside.reshape(groups, out // groups, -1), DataType.INT32)
        zero = node.make("Cast", [x_zero], {"to": "INT32"})
        more = node.make("Eltwise", [known, zero], {"mode": "MUL"})
        sums = node.make("Eltwise", [sums, more], {"mode": "ADD"})
    shape = [batch, out, *(counts[1:] if window.is_line else counts)]
    node.emit("Reshape", [sums], {"shape": shape})


def _padded(
    node: Node, x: Value, zero: Value | None, befores: list[int], afters: list[int]
) -> Value:
    """With zero points around it; with 0 if these are not known (`_outside`)."""
    value = 0.0
    if zero is not None and zero.is_constant:
        value = float(zero.numpy().reshape(-1)[0])
    around = [0, 0, *befores, 0, 0, *afters]
    return node.make("Pad", [x], {"pads": in_pairs(around), "value": value})


def _filter_zero(node: Node, groups: int) -> Value | None:
    """The zero point of the filter: one number, or one for each output."""
    if not node.has_input(3):
        return None
    zero = node.input(3)
    if not zero.is_constant:
        raise UnsupportedNodeError(
            f"the zero point of the filter ({zero.name}) is computed at run time",
            STATIC_HINT,
        )
    numbers = zero.numpy().reshape(-1)
    if len(set(numbers.tolist())) == 1:
        return node.literal(numbers[0], zero.dtype)
    if groups > 1:
        raise UnsupportedNodeError(
            "several zero points of the filter, and groups", "use one zero point"
        )
    return zero


def _outside(
    node: Node,
    filters: Constant,
    window: Window,
    sides: list[int],
    befores: list[int],
    counts: list[int],
) -> Array:
    """[O, Y, X]: the sum of the weights whose tap is outside of the image."""
    weights = filters.numpy().astype(np.int64).sum(axis=1)
    out = len(weights)
    weights = weights.reshape(out, *window.kernel)
    depth = filters.shape[1]
    if node.has_input(3):
        zeros = node.input(3).numpy().astype(np.int64).reshape(-1, 1, 1)
        weights = weights - depth * zeros
    inside = []
    for axis, side in enumerate(sides):
        first = np.arange(counts[axis]) * stride(window, axis) - befores[axis]
        tap = np.arange(window.kernel[axis]) * window.attrs["dilations"][axis]
        place = first[:, None] + tap
        inside.append((place >= 0) & (place < side))
    there = np.einsum("okl,yk,xl->oyx", weights, *(i.astype(np.int64) for i in inside))
    return np.asarray(weights.sum(axis=(1, 2))[:, None, None] - there, np.int32)

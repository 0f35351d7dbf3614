# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of StableHLO, which converters of JAX and PyTorch leave in a file, and
REDUCE_WINDOW, which comes from there, as those of ONNX.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import DataType

# What means the same as an operator of ONNX.
_ELEMENTWISE = {
    "STABLEHLO_ADD": "Add",
    "STABLEHLO_MAXIMUM": "Max",
    "STABLEHLO_MINIMUM": "Min",
    "STABLEHLO_MULTIPLY": "Mul",
}
# The functions of REDUCE_WINDOW by number.
_REDUCTIONS = {1: "Add", 2: "Mul", 3: "Min", 4: "Max", 5: "And", 6: "Or"}


# Elements of a window, each of which is an operator.
_MOST_TAPS = 1024
_MOST_PLACES = 1 << 22


@HANDLERS.register(*_ELEMENTWISE)
def elementwise(context: Context) -> None:
    """Of two tensors of the same shape."""
    op_type = _ELEMENTWISE[context.operator.type]
    a, b = context.input(0), context.input(1)
    context.pass_on(context.standard.op(op_type, a, b))


@HANDLERS.register("STABLEHLO_PAD")
def pad(context: Context) -> None:
    """Elements around a tensor and between its own; numbers below 0 take some away."""
    x, number = context.input(0), context.input(1)
    ops = context.standard
    low, high, inner = (
        list(context.node.ints(name))
        for name in ("edge_padding_low", "edge_padding_high", "interior_padding")
    )
    shape = list(context.static_shape(x))
    if not len(low) == len(high) == len(inner) == len(shape) or min(inner) < 0:
        raise UnsupportedNodeError(f"{low}, {high} and {inner} for {shape}")
    for axis, between in enumerate(inner):
        if not between or shape[axis] < 2:
            continue
        wide = ops.unsqueeze(x, axis + 1)
        pads = np.zeros(2 * ops.rank(wide), np.int64)
        pads[ops.rank(wide) + axis + 1] = between
        wide = ops.op("Pad", wide, pads, number)
        whole = shape[axis] * (between + 1)
        wide = ops.reshape(wide, [*shape[:axis], whole, *shape[axis + 1 :]])
        shape[axis] = whole - between
        x = ops.slice(wide, axis, 0, shape[axis])
    context.pass_on(ops.op("Pad", x, np.array([*low, *high]), number))


@HANDLERS.register("STABLEHLO_GATHER")
def gather(context: Context) -> None:
    """Blocks of a tensor, whose places are the rows of another one.

    The places of all elements of all blocks in the flat tensor are computed first.
    """
    x, starts = context.input(0), context.input(1)
    ops = context.standard
    shape, sizes = context.static_shape(x), context.node.ints("slice_sizes")
    dropped = context.node.ints("collapsed_slice_dims")
    axes, offsets = (
        context.node.ints("start_index_map"),
        context.node.ints("offset_dims"),
    )
    vector = context.node.integer("index_vector_dim")
    if len(sizes) != len(shape) or any(b > w for b, w in zip(sizes, shape)):
        raise UnsupportedNodeError(f"blocks of {list(sizes)} in {list(shape)}")
    if vector == ops.rank(starts):
        starts = ops.unsqueeze(starts, vector)
    rank = ops.rank(starts)
    rows = [axis for axis in range(rank) if axis != vector]
    starts = ops.cast(ops.transpose(starts, [*rows, vector]), DataType.INT32)
    # Blocks stay inside.
    most = np.array([shape[axis] - sizes[axis] for axis in axes], np.int32)
    starts = ops.op("Max", starts, ops.constant(np.zeros_like(most)))
    starts = ops.op("Min", starts, ops.constant(most))
    steps = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    factors = np.array([steps[axis] for axis in axes], np.int32)
    first = ops.op("Mul", starts, ops.constant(factors))
    first = ops.op("ReduceSum", first, [rank - 1], keepdims=0)
    kept = [axis for axis in range(len(shape)) if axis not in dropped]
    of_block = math.prod(sizes[axis] for axis in kept)
    count = math.prod(context.static_shape(first)) * of_block
    if count > _MOST_PLACES:
        raise UnsupportedNodeError(f"blocks of {count} elements")
    block = np.zeros([sizes[axis] for axis in kept], np.int32)
    for place, axis in enumerate(kept):
        lengths = [1] * len(kept)
        lengths[place] = -1
        block += (
            (np.arange(sizes[axis]) * steps[axis]).reshape(lengths).astype(np.int32)
        )
    batch = rank - 1
    places = ops.unsqueeze(first, *range(batch, batch + len(kept))) if kept else first
    places = ops.op("Add", places, ops.constant(block))
    result = ops.op("Gather", ops.reshape(x, [-1]), places, axis=0)
    order, outer, inside = [], iter(range(batch)), iter(range(batch, batch + len(kept)))
    for axis in range(batch + len(kept)):
        order.append(next(inside) if axis in offsets else next(outer))
    context.pass_on(ops.transpose(result, order))


@HANDLERS.register("REDUCE_WINDOW")
def reduce_window(context: Context) -> None:
    """A sum, product or other reduction of the elements under a window."""
    x, start = context.input(0), context.input(1)
    ops = context.standard
    window = context.ints(2, "the window")
    strides = context.ints(3, "the strides")
    dilations = context.ints(4, "the dilations")
    op_type = _REDUCTIONS.get(context.node.integer("reduce_function"))
    if op_type is None:
        raise UnsupportedNodeError("its function is not known")
    shape = context.static_shape(x)
    if math.prod(window) > _MOST_TAPS:
        raise UnsupportedNodeError(f"a window of {list(window)}")
    ranks = {len(shape), len(window), len(strides), len(dilations)}
    if len(ranks) > 1 or not shape:
        raise UnsupportedNodeError(f"a window of {list(window)} on {list(shape)}")
    counts = [
        (length - (size - 1) * dilation - 1) // stride + 1
        for length, size, stride, dilation in zip(shape, window, strides, dilations)
    ]
    if min(counts) < 1:
        raise UnsupportedNodeError(f"a window of {list(window)} on {list(shape)}")
    result = start
    for taps in itertools.product(*(range(size) for size in window)):
        begins = [tap * dilation for tap, dilation in zip(taps, dilations)]
        ends = [
            begin + (count - 1) * stride + 1
            for begin, count, stride in zip(begins, counts, strides)
        ]
        part = ops.op("Slice", x, begins, ends, list(range(len(shape))), list(strides))
        result = ops.op(op_type, result, part)
    context.pass_on(result)

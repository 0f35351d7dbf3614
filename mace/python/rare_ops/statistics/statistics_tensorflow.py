# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements of one number or range: segments, counts, places; and products so far."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import (
    HANDLERS,
    Context,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import END

# How elements of one number are combined.
_MODES = {"Sum": "ADD", "Prod": "MUL", "Max": "MAX", "Min": "MIN", "Mean": "ADD"}
_NUMBERS = (DataType.FLOAT32, DataType.INT32)
_MOST = 1 << 24


@HANDLERS.register("Cumprod")
def cum_prod(context: Context) -> None:
    """After step k, each element is the product of the last 2^k elements."""
    x, axis = context.input(0), context.integer(1, "axis")
    axis += context.rank(0) if axis < 0 else 0
    length = context.length(x, axis)
    if context.node.flag("exclusive"):
        x = _shifted(context, x, axis, min(1, length))
    step = 1
    while step < length:
        x = context.eltwise("MUL", x, _shifted(context, x, axis, step))
        step *= 2
    context.pass_on(x)


def _shifted(context: Context, x: Value, axis: int, step: int) -> Value:
    """Moves elements `step` places on; ones come in."""
    pads = [0] * (2 * context.rank(0))
    reverse = context.node.flag("reverse")
    pads[2 * axis + (1 if reverse else 0)] = step
    ends = (step, END) if reverse else (0, -step)
    rest = context.cut(x, axis, *ends)
    return context.step("Pad", [rest], "shifted", pads=pads, value=1.0)


def _start(mode: str, dtype: DataType) -> float:
    """What is there before the first element."""
    if mode in ("ADD", "MUL"):
        return 0 if mode == "ADD" else 1
    info = np.iinfo(np.int32) if dtype is DataType.INT32 else np.finfo(np.float32)
    return float(info.min if mode == "MAX" else info.max)


def _combined(context: Context, count: int, ids: Value, mode: str) -> Value:
    x = context.input(0)
    if x.dtype not in _NUMBERS:
        raise UnsupportedNodeError(f"elements of type {x.dtype.value}")
    rank = context.rank(1)
    inner = [dim for dim in (x.shape or ())[rank:] if isinstance(dim, int)]
    if (
        len(inner) != context.rank(0) - rank
        or not 0 <= count * int(np.prod(inner)) < _MOST
    ):
        raise UnsupportedNodeError(
            f"the shape of {x.name} is not known before the run, or {count} segments "
            "are too many",
            context.static_hint,
        )
    start = np.full([count, *inner], _start(mode, x.dtype)).astype(x.dtype.numpy)
    places = context.step("ExpandDims", [ids], "places", axes=[rank])
    data = context.constant(start, "start")
    return context.step("Scatter", [data, places, x], "combined", mode=mode)


@HANDLERS.register(
    *("UnsortedSegmentSum", "UnsortedSegmentProd"),
    *("UnsortedSegmentMax", "UnsortedSegmentMin"),
)
def unsorted_segment(context: Context) -> None:
    """Segments in any order; their number must be known."""
    count = context.integer(2, "num_segments")
    mode = _MODES[context.node.op.removeprefix("UnsortedSegment")]
    ids = context.input(1)
    if ids.is_constant and (np.asarray(ids.numpy()) < 0).any():
        raise UnsupportedNodeError("a segment has a number below 0")
    context.pass_on(_combined(context, count, ids, mode))


@HANDLERS.register(
    "SegmentSum", "SegmentProd", "SegmentMax", "SegmentMin", "SegmentMean"
)
def segment(context: Context) -> None:
    """Segments in order, whose numbers must be known."""
    ids = np.asarray(context.values(1, "segment_ids"))
    if ids.ndim != 1 or not ids.size or ids.min() < 0:
        raise UnsupportedNodeError("segment_ids is no vector of numbers from 0 on")
    kind = context.node.op.removeprefix("Segment")
    count = int(ids[-1]) + 1
    y = _combined(context, count, context.input(1), _MODES[kind])
    sizes = np.bincount(ids, minlength=count)
    shape = [count] + [1] * (context.rank(0) - 1)
    if kind == "Mean":
        shares = (1 / np.maximum(sizes, 1)).astype(np.float32).reshape(shape)
        y = context.eltwise("MUL", y, context.constant(shares, "shares"))
    elif kind in ("Max", "Min") and not sizes.all():
        there = context.constant((sizes > 0).reshape(shape), "there")
        y = context.step("Where", [there, y, context.number(0, y)], "filled")
    context.pass_on(y)


@HANDLERS.register("Bincount", "DenseBincount")
def bincount(context: Context) -> None:
    """How often each number occurs, or the sums of its weights."""
    x, size, weights = context.input(0), context.integer(1, "size"), context.input(2)
    rank = context.rank(0)
    is_dense = context.node.op == "DenseBincount"
    if not 0 < size < _MOST or (is_dense and rank > 2):
        raise UnsupportedNodeError(f"{size} numbers of {rank} dimensions")
    if context.node.flag("binary_output"):
        raise UnsupportedNodeError("binary_output is set")
    if not is_dense and rank != 1:
        x = context.step("Reshape", [x], "flat", shape=[-1])
        rank = 1
    # Numbers outside are not counted, and have no place here either.
    values = context.constant(np.array([0, 1], np.float32), "values")
    rows = context.step("OneHot", [x, values], "rows", depth=size, axis=-1)
    is_weighted = weights.shape is None or 0 not in weights.shape
    if is_weighted:
        factor = weights
        if not is_dense and context.rank(2) != 1:
            factor = context.step("Reshape", [weights], "flat_weights", shape=[-1])
        factor = context.cast(factor, DataType.FLOAT32)
        factor = context.step("ExpandDims", [factor], "factor", axes=[rank])
        rows = context.eltwise("MUL", rows, factor)
    total = _sum(context, rows, rank - 1)
    is_whole = weights.dtype is DataType.INT32
    context.pass_on(context.cast(total, DataType.INT32) if is_whole else total)


def _sum(context: Context, x: Value, axis: int) -> Value:
    attrs = {"mode": "SUM", "axes": [axis], "keep_dims": False}
    return context.step("Reduce", [x], "total", **attrs)


def _below(context: Context, values: Value, borders: Value, mode: str) -> None:
    """Of each value, how many borders of its row are below."""
    last = values.rank or 0
    own = context.step("ExpandDims", [values], "own", axes=[last])
    is_below = context.eltwise(mode, borders, own)
    total = _sum(context, context.cast(is_below, DataType.FLOAT32), last)
    context.emit("Cast", [total], to="INT32")


@HANDLERS.register("LowerBound", "UpperBound")
def bound(context: Context) -> None:
    """The place of values in rows of sorted numbers."""
    borders, values = context.input(0), context.input(1)
    borders = context.step("ExpandDims", [borders], "borders", axes=[1])
    mode = "LESS" if context.node.op == "LowerBound" else "LESS_EQUAL"
    _below(context, values, borders, mode)


@HANDLERS.register("Bucketize")
def bucketize(context: Context) -> None:
    """How many boundaries are not above a number."""
    boundaries = np.array(context.node.numbers("boundaries"), np.float32)
    x = context.cast(context.input(0), DataType.FLOAT32)
    _below(context, x, context.constant(boundaries, "borders"), "LESS_EQUAL")

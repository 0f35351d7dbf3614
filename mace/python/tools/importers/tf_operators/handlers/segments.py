# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sums and counts of elements with the same number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

# How elements are combined, and what is there before the first one.
_MODES = {"Sum": "ADD", "Prod": "MUL", "Max": "MAX", "Min": "MIN", "Mean": "ADD"}
_NUMBERS = (DataType.FLOAT32, DataType.INT32)
_MOST = 1 << 24


def _start(mode: str, dtype: DataType) -> float:
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
            "give fixed input_shapes",
        )
    start = np.full([count, *inner], _start(mode, x.dtype)).astype(x.dtype.numpy)
    places = context.step("ExpandDims", [ids], "places", axes=[rank])
    data = context.constant(start, "start")
    return context.step("Scatter", [data, places, x], "combined", mode=mode)


@HANDLERS.register(
    *(f"UnsortedSegment{kind}" for kind in ("Sum", "Prod", "Max", "Min"))
)
def unsorted_segment(context: Context) -> None:
    """Segments in any order; their number must be known."""
    (count,) = context.ints(2, "num_segments")
    mode = _MODES[context.node.op.removeprefix("UnsortedSegment")]
    ids = context.input(1)
    if ids.is_constant and (np.asarray(ids.numpy()) < 0).any():
        raise UnsupportedNodeError("a segment has a number below 0")
    y = _combined(context, count, ids, mode)
    context.results[0] = context.builder.alias(y, context.output_name())


@HANDLERS.register(*(f"Segment{kind}" for kind in _MODES))
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
        factor = context.constant(shares, "shares")
        y = context.step("Eltwise", [y, factor], "means", mode="MUL")
    elif kind in ("Max", "Min") and not sizes.all():
        there = context.constant((sizes > 0).reshape(shape), "there")
        zero = context.constant(np.zeros((), y.dtype.numpy), "zero")
        y = context.step("Where", [there, y, zero], "filled")
    context.results[0] = context.builder.alias(y, context.output_name())


@HANDLERS.register("Bincount", "DenseBincount")
def bincount(context: Context) -> None:
    """How often each number occurs, or the sums of its weights."""
    x, (size,) = context.input(0), context.ints(1, "size")
    weights = context.input(2)
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
        if factor.dtype is not DataType.FLOAT32:
            factor = context.step("Cast", [factor], "floats", to="FLOAT32")
        factor = context.step("ExpandDims", [factor], "factor", axes=[rank])
        rows = context.step("Eltwise", [rows, factor], "weighted", mode="MUL")
    total = context.step(
        "Reduce", [rows], "total", mode="SUM", axes=[rank - 1], keep_dims=False
    )
    if weights.dtype is DataType.INT32:
        total = context.step("Cast", [total], "whole", to="INT32")
    context.results[0] = context.builder.alias(total, context.output_name())


def _below(context: Context, values: Value, borders: Value, mode: str) -> None:
    """Of each value, how many borders of its row are below."""
    last = values.rank or 0
    own = context.step("ExpandDims", [values], "own", axes=[last])
    is_below = context.step("Eltwise", [borders, own], "below", mode=mode)
    numbers = context.step("Cast", [is_below], "numbers", to="FLOAT32")
    total = context.step(
        "Reduce", [numbers], "total", mode="SUM", axes=[last], keep_dims=False
    )
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
    bucketized(context, context.node.numbers("boundaries"))


def bucketized(context: Context, boundaries: Sequence[float]) -> None:
    """The same with the boundaries of any operator."""
    x = context.input(0)
    if x.dtype is not DataType.FLOAT32:
        x = context.step("Cast", [x], "floats", to="FLOAT32")
    borders = context.constant(np.array(boundaries, np.float32), "borders")
    _below(context, x, borders, "LESS_EQUAL")


@HANDLERS.register("InvertPermutation")
def invert(context: Context) -> None:
    """Where each number is."""
    x = context.input(0)
    size = (x.shape or (None,))[0]
    if not isinstance(size, int):
        raise UnsupportedNodeError(
            f"the length of {x.name} is not known", "give fixed input_shapes"
        )
    zeros = context.constant(np.zeros(size, np.int32), "zeros")
    numbers = context.constant(np.arange(size, dtype=np.int32), "numbers")
    places = context.step("ExpandDims", [x], "places", axes=[1])
    context.emit("Scatter", [zeros, places, numbers], mode="SET")

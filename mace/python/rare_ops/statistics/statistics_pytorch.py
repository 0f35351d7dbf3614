# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements by their order, and counts."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.importers.pytorch.handlers.elementwise import (
    positions,
)
from mace.python.tools.importers.pytorch.handlers.reduce import ordered
from mace.python.tools.importers.standard.operators import Size
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32
# Between which elements a quantile lies.
_ROUNDED = {
    "higher": ("Ceil", "Ceil"),
    "linear": ("Floor", "Ceil"),
    "lower": ("Floor", "Floor"),
    "midpoint": ("Floor", "Ceil"),
    "nearest": ("Round", "Round"),
}
# Numbers with which each element is compared.
_MOST_COMPARED = 4096


def _line(c: Context, x: Value) -> tuple[Value, int]:
    """The value and the axis that the node names, or all elements as one line."""
    if c.has("dim"):
        return x, c.axis(c.integer("dim"), c.rank(x))
    return c.reshape(x, [-1]), 0


def _ordered(c: Context, x: Value, axis: int) -> list[Value]:
    return ordered(c, x, axis, False, c.size(x, axis))


def _count(c: Context, hits: Value, axis: int) -> Value:
    """The number of those that are true, in floats."""
    return c.op("ReduceSum", c.cast(hits, _FLOAT), [axis], keepdims=0)


@HANDLERS.register("aten.median", "aten.kthvalue")
def _kth(c: Context) -> None:
    x = c.value("self")
    keep = c.flag("keepdim")
    if not c.rank(x):
        c.give(x, c.constant(0))
        return
    line, axis = _line(c, x)
    if c.operator == "kthvalue":
        line, axis = x, c.axis(c.integer("dim", -1), c.rank(x))
        place: Size = c.integer("k") - 1
    else:
        place = c.compute("FLOOR_DIV", c.compute("SUB", c.size(line, axis), 1), 2)
    end = c.compute("ADD", place, 1)
    found = [c.slice(v, axis, place, end) for v in _ordered(c, line, axis)]
    if not keep:
        found = [c.squeeze(value, axis) for value in found]
    c.give(*found[: c.outputs])


@HANDLERS.register("aten.quantile")
def _quantile(c: Context) -> None:
    x = c.value("self")
    q = np.asarray(c.known("q") if c.is_tensor("q") else c.number("q"), np.float64)
    keep = c.flag("keepdim")
    rank = c.rank(x)
    line, axis = _line(c, x)
    values, _ = _ordered(c, line, axis)
    last = c.lengths.scalar(c.compute("SUB", c.size(line, axis), 1))
    # In floats, as PyTorch does it.
    places = c.op("Mul", c.constant(q.reshape(-1), _FLOAT), c.cast(last, _FLOAT))
    mode = c.text("interpolation", "linear")
    if mode not in _ROUNDED:
        raise UnsupportedNodeError(f"interpolation is {mode!r}")
    below, above = (c.op(rounding, places) for rounding in _ROUNDED[mode])
    a, b = (
        c.op("Gather", values, c.cast(index, DataType.INT32), axis=axis)
        for index in (below, above)
    )
    share = c.op("Sub", places if mode == "linear" else above, below)
    if mode == "midpoint":
        share = c.op("Mul", share, 0.5)
    own = [1] * c.rank(a)
    own[axis] = q.size
    found = c.op("Mul", c.op("Sub", b, a), c.reshape(share, own))
    found = c.op("Add", a, found)
    # The quantiles are the first axis.
    order = [axis, *(i for i in range(c.rank(found)) if i != axis)]
    found = c.transpose(found, order)
    if keep and c.has("dim"):
        found = c.unsqueeze(found, axis + 1)
    elif keep:
        found = c.reshape(found, [q.size, *[1] * rank])
    c.give(found if q.ndim else c.squeeze(found, 0))


@HANDLERS.register("aten.nansum", "aten.nanmean", "aten.count_nonzero")
def _counted_sum(c: Context) -> None:
    x = c.value("self")
    axes, keep = c.axes("dim", c.rank(x)), int(c.flag("keepdim"))
    c.dtype()
    if c.operator == "count_nonzero":
        other = x
        if x.dtype is not DataType.BOOL:
            other = c.op("Not", c.op("Equal", x, c.constant(0, x.dtype)))
        total = c.op("ReduceSum", c.cast(other, _FLOAT), axes, keepdims=0)
        c.give(c.cast(total, DataType.INT32))
        return
    numbers = c.op("Equal", x, x)
    total = c.op("ReduceSum", c.op("Where", numbers, x, 0.0), axes, keepdims=keep)
    if c.operator == "nanmean":
        count = c.op("ReduceSum", c.cast(numbers, _FLOAT), axes, keepdims=keep)
        total = c.op("Div", total, count)
    c.give(total)


@HANDLERS.register("aten.aminmax", "aten._aminmax")
def _both_ends(c: Context) -> None:
    x = c.value("self")
    rank = c.rank(x)
    axes = [c.axis(c.integer("dim"), rank)] if c.has("dim") else list(range(rank))
    keep = int(c.flag("keepdim"))
    c.give(
        *(
            c.op(kind, x, axes, keepdims=keep) if rank else x
            for kind in ("ReduceMin", "ReduceMax")
        )
    )


# Counts ----------------------------------------------------------------------------


@HANDLERS.register("aten.histc")
def _histc(c: Context) -> None:
    x = c.reshape(c.floats(), [-1, 1])
    bins = c.integer("bins", 100)
    low, high = c.number("min", 0), c.number("max", 0)
    if bins > _MOST_COMPARED:
        raise UnsupportedNodeError(f"{bins} bins")
    if low >= high:
        raise UnsupportedNodeError(
            "the bounds depend on the data", "give min and max of histc"
        )
    place = c.op("Floor", c.op("Mul", c.op("Sub", x, low), bins / (high - low)))
    place = c.op("Where", c.op("Equal", x, high), float(bins - 1), place)
    hits = c.op("Equal", place, c.constant(np.arange(bins), _FLOAT))
    c.give(_count(c, hits, 0))


@HANDLERS.register("aten.searchsorted")
def _searchsorted(c: Context) -> None:
    line, x = c.value("sorted_sequence"), c.value("self")
    if c.has("sorter"):
        raise UnsupportedNodeError("a sorter", "sort the sequence itself")
    right = c.flag("right") or c.text("side", "left") == "right"
    length = c.length(line, -1)
    if length > _MOST_COMPARED:
        raise UnsupportedNodeError(f"a sequence of {length}")
    if c.rank(line) > 1:
        line = c.unsqueeze(line, c.rank(line) - 1)
    c.give(_passed(c, x, line, right))


def _passed(c: Context, x: Value, bounds: Value, right: bool) -> Value:
    """How many of the bounds each element is above, or is equal to."""
    wide = c.unsqueeze(c.cast(x, _FLOAT), c.rank(x))
    passed = c.op(
        "GreaterOrEqual" if right else "Greater", wide, c.cast(bounds, _FLOAT)
    )
    return c.cast(_count(c, passed, c.rank(x)), DataType.INT32)


@HANDLERS.register("aten.isin")
def _isin(c: Context) -> None:
    x, wanted = c.value("elements"), c.value("test_elements")
    count = math.prod(c.static_shape(wanted))
    if count > _MOST_COMPARED:
        raise UnsupportedNodeError(f"{count} test_elements")
    rank = c.rank(x)
    hits = c.op("Equal", c.unsqueeze(x, rank), c.reshape(wanted, [-1]))
    found = c.op("ReduceMax", c.cast(hits, _FLOAT), [rank], keepdims=0)
    found = c.cast(found, DataType.BOOL)
    c.give(c.op("Not", found) if c.flag("invert") else found)


@HANDLERS.register("aten._unique2", "aten.unique_dim")
def _unique(c: Context) -> None:
    """Values, where each element's value is, and how often each value comes up."""
    x = c.value("self")
    for name in ("return_inverse", "return_counts"):
        c.flag(name)
    # Slices are sorted in any case.
    in_order = int(c.flag("sorted", True) or c.operator == "unique_dim")
    axis = c.axis(c.integer("dim"), c.rank(x)) if c.operator == "unique_dim" else None
    values, _, inverse, counts = c.op_all("Unique", [x], 4, axis=axis, sorted=in_order)
    if axis is None:
        inverse = c.reshape(inverse, c.sizes_of(x))
    c.give(values, inverse, counts)


@HANDLERS.register("aten.unique_consecutive")
def _unique_consecutive(c: Context) -> None:
    """The first element of each run of equal ones, and the number of its run."""
    x = c.value("self")
    if c.flag("return_counts"):
        raise UnsupportedNodeError("return_counts is True")
    if c.has("dim") and c.rank(x) != 1:
        raise UnsupportedNodeError(f"dim of {c.rank(x)} dimensions")
    c.raw("dim")
    line = c.reshape(x, [-1])
    same = c.op("Equal", c.slice(line, 0, 1), c.slice(line, 0, 0, -1))
    starts = c.op("Concat", c.constant(np.ones(1, bool)), c.op("Not", same), axis=0)
    values = c.op("GatherND", line, c.transpose(positions(c, starts), [1, 0]))
    if not c.flag("return_inverse"):
        c.give(values, None, None)
        return
    runs = c.op("CumSum", c.cast(starts, DataType.INT32), c.constant(0))
    runs = c.reshape(c.op("Sub", runs, c.constant(1)), c.sizes_of(x))
    c.give(values, runs, None)


@HANDLERS.register("aten.nonzero_static")
def _nonzero_static(c: Context) -> None:
    x = c.value("self")
    size, filler = c.integer("size"), c.integer("fill_value", -1)
    found = c.transpose(positions(c, x), [1, 0])
    counted = c.builder.counted.get(found)
    if counted is None:
        known = found.numpy()[:size]
        rest = np.full((size - len(known), known.shape[1]), filler)
        c.give(c.constant(np.concatenate([known, rest])))
        return
    with c.builder.counted.suspended():
        most = c.shape(found)[0]
        if not isinstance(most, int):
            raise UnsupportedNodeError("the shape of its input is open")
        rows = c.slice(found, 0, 0, min(size, most))
        numbers = c.constant(np.arange(min(size, most)))
        inside = c.unsqueeze(c.op("Less", numbers, counted.count), 1)
        rows = c.op("Where", inside, rows, c.constant(filler))
        if most < size:
            pads = np.array([0, 0, size - most, 0])
            rows = c.op("Pad", rows, pads, c.constant(filler))
    c.give(rows)


@HANDLERS.register("aten.bucketize")
def _bucketize(c: Context) -> None:
    bounds = c.known("boundaries")
    if bounds.size > _MOST_COMPARED:
        raise UnsupportedNodeError(f"{bounds.size} boundaries")
    floats = c.constant(bounds.astype(np.float32))
    c.give(_passed(c, c.value("self"), floats, c.flag("right")))


# What comes before each element ------------------------------------------------------


def _cumulated(c: Context, x: Value, axis: int, mode: str) -> Value:
    name = c.builder.graph.unique_name(f"{c.label}/cumulated")
    attributes = {"axis": axis, "mode": mode}
    return c.builder.one("Cumulate", [x], name, attributes, name)


@HANDLERS.register("aten.cummax", "aten.cummin")
def _cummax(c: Context) -> None:
    x = c.value("self")
    rank = c.rank(x)
    if not rank:
        c.give(x, c.constant(0))
        return
    axis = c.axis(c.integer("dim"), rank)
    wide = c.cast(x, DataType.INT32) if x.dtype is DataType.BOOL else x
    found = _cumulated(c, wide, axis, "MAX" if c.operator == "cummax" else "MIN")
    own = [1] * rank
    own[axis] = -1
    numbers = c.reshape(c.positions(c.size(x, axis)), own)
    # Of equal elements, the last one.
    at = c.op("Where", c.op("Equal", wide, found), numbers, c.constant(-1))
    c.give(c.cast(found, x.dtype), _cumulated(c, at, axis, "MAX"))


@HANDLERS.register("aten.logcumsumexp", "aten._logcumsumexp")
def _logcumsumexp(c: Context) -> None:
    x = c.floats()
    axis = c.axis(c.integer("dim"), c.rank(x))
    c.give(_cumulated(c, x, axis, "LOG_SUM_EXP") if c.rank(x) else x)

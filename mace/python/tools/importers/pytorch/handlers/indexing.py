# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements at places that tensors name, read and written, and where elements are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.importers.pytorch.handlers.elementwise import (
    places_by_axis,
    positions,
)
from mace.python.tools.importers.standard.counts import never_negative
from mace.python.tools.importers.standard.operators import Size
from mace.python.tools.ir.dims import Dim
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import END, static

_T = TypeVar("_T")


@HANDLERS.register("aten.embedding")
def _embedding(c: Context) -> None:
    c.give(c.op("Gather", c.value("weight"), c.value("indices"), axis=0))


@HANDLERS.register("aten.index_select")
def _index_select(c: Context) -> None:
    x, axis = c.along()
    c.give(c.op("Gather", x, c.value("index"), axis=axis))


@HANDLERS.register("aten.gather")
def _gather(c: Context) -> None:
    x, axis = c.along()
    c.give(c.op("GatherElements", x, c.value("index"), axis=axis))


@HANDLERS.register("aten.take_along_dim")
def _take_along_dim(c: Context) -> None:
    x, index = c.value("self"), c.value("indices")
    if not c.has("dim"):
        flat = (c.reshape(value, [-1]) for value in (x, index))
        c.give(c.op("GatherElements", *flat, axis=0))
        return
    axis = c.axis(c.integer("dim"), c.rank(x))
    if c.rank(index) != c.rank(x):
        raise UnsupportedNodeError(f"indices of rank {c.rank(index)}")

    def expanded(value: Value, other: Value) -> Value:
        """Both have the same lengths except along the axis."""
        lengths = c.sizes_of(other)
        lengths[axis] = 1
        shapes = [list(c.shape(item)) for item in (value, other)]
        own, wanted = ([*shape[:axis], *shape[axis + 1 :]] for shape in shapes)
        return value if own == wanted else c.expanded(value, lengths)

    c.give(c.op("GatherElements", expanded(x, index), expanded(index, x), axis=axis))


def _indices(c: Context) -> dict[int, Value]:
    """The tensors of indices, by axis."""
    given = c.raw("indices", [])
    if not isinstance(given, list) or not given:
        raise UnsupportedNodeError("there are no indices")
    found: dict[int, Value] = {}
    axis = 0
    for entry in given:
        rows = [entry]
        if isinstance(entry, Value) and entry.dtype in (DataType.BOOL, DataType.UINT8):
            # As many rows as the mask has dimensions.
            rows = places_by_axis(c, entry)
        elif entry is not None and not isinstance(entry, Value):
            raise UnsupportedNodeError("an index is no tensor")
        found.update((axis + i, row) for i, row in enumerate(rows) if row is not None)
        axis += len(rows)
    return found


def _located(c: Context, x: Value, found: dict[int, Value]) -> tuple[list[int], int]:
    """The axes of x with those of indices in front, and how many of the others are in
    front of the dimensions of the indices: these remain where they were if they lie
    side by side.
    """
    axes = sorted(found)
    rest = [axis for axis in range(c.rank(x)) if axis not in found]
    return [*axes, *rest], axes[0] if axes[-1] - axes[0] == len(axes) - 1 else 0


def _together(c: Context, x: Value, found: dict[int, Value]) -> Value:
    """Indices of axes as one tensor, whose last dimension are the axes."""
    values = [from_front(c, x, axis, found[axis]) for axis in sorted(found)]
    shapes = [c.shape(value) for value in values]
    known = [shape for shape in map(static, shapes) if shape is not None]
    if len(set(shapes)) == 1 and None not in shapes[0]:
        common: list[Size] | None = None
    elif len(known) == len(shapes):
        common = list(np.broadcast_shapes(*known))
    else:
        common = c.broadcast(values)
    parts = []
    rank = max(map(len, shapes))
    for value, shape in zip(values, shapes):
        if common is not None and list(shape) != common:
            value = c.expanded(value, common)
        parts.append(c.unsqueeze(value, rank))
    return c.concat(parts, rank)


@HANDLERS.register("aten.index", "aten._unsafe_index")
def _index(c: Context) -> None:
    x = c.value("self")
    found = _indices(c)
    if len(found) == 1:
        ((axis, index),) = found.items()
        c.give(c.op("Gather", x, index, axis=axis))
        return
    order, first = _located(c, x, found)
    moved, indices = c.transpose(x, order), _together(c, x, found)
    picked = c.op("GatherND", moved, indices)
    rank, count = c.rank(picked), c.rank(indices) - 1
    before, own = range(count, count + first), range(count)
    c.give(c.transpose(picked, [*before, *own, *range(count + first, rank)]))


def from_front(c: Context, x: Value, axis: int, index: Value) -> Value:
    """Indices that may be negative, counted from the front."""
    if never_negative(index) or (index.is_constant and (index.numpy() >= 0).all()):
        return index
    size = c.size(x, axis)
    length = size if isinstance(size, Value) else c.constant(size, index.dtype)
    length = c.cast(length, index.dtype)
    below = c.op("Less", index, c.constant(0, index.dtype))
    return c.op("Where", below, c.op("Add", index, length), index)


@HANDLERS.register("aten.index_put")
def _index_put(c: Context) -> None:
    x, values = c.value("self"), c.value("values")
    given = c.raw("indices", [])
    masks = [v for v in given if isinstance(v, Value) and v.dtype is DataType.BOOL]
    add = c.flag("accumulate")
    if len(given) == 1 and masks and c.shape(values) in ((), (1,)) and not add:
        mask = masks[0]
        if c.rank(mask) < c.rank(x):
            mask = c.unsqueeze(mask, *range(c.rank(mask), c.rank(x)))
        c.give(c.op("Where", mask, c.cast(values, x.dtype), x))
        return
    found = _indices(c)
    order, first = _located(c, x, found)
    indices = _together(c, x, found)
    count = c.rank(indices) - 1

    def target(of_x: Sequence[_T], picked: Sequence[_T]) -> list[_T]:
        others = [of_x[axis] for axis in order[len(found) :]]
        return [*others[:first], *picked[:count], *others[first:]]

    wanted = target(c.shape(x), c.shape(indices))
    if None in wanted or list(c.shape(values)) != wanted:
        values = c.expanded(values, target(c.sizes_of(x), c.largest_sizes(indices)))
    own, after = range(first, first + count), range(first + count, len(wanted))
    values = c.cast(c.transpose(values, [*own, *range(first), *after]), x.dtype)
    kind = "add" if add else "none"
    written = c.op("ScatterND", c.transpose(x, order), indices, values, reduction=kind)
    c.give(c.untransposed(written, order))


# For each way to reduce, ONNX's name of it, and the number that changes nothing.
_SCATTERED = {
    "": ("none", 0.0),
    "add": ("add", 0.0),
    "sum": ("add", 0.0),
    "mean": ("add", 0.0),
    "multiply": ("mul", 1.0),
    "prod": ("mul", 1.0),
    "amax": ("max", -math.inf),
    "amin": ("min", math.inf),
}
_LARGEST = float(np.iinfo(np.int32).max)


@HANDLERS.register("aten.scatter", "aten.scatter_add", "aten.scatter_reduce")
def _scatter(c: Context) -> None:
    x, index = c.value("self"), c.value("index")
    axis = c.axis(c.integer("dim"), c.rank(x))

    def filled(number: float, dtype: DataType, like: Value = index) -> Value:
        known = static(c.shape(like))
        if known is not None:
            check_made(*known)
            return c.constant(np.full(known, number), dtype)
        return c.op("Expand", c.constant(number, dtype), c.op("Shape", like))

    if c.has("value"):
        source = filled(c.number("value"), x.dtype)
    else:
        source = c.cast(c.value("src"), x.dtype)
        if c.shape(source) != c.shape(index):
            axes = list(range(c.rank(index)))
            ends = c.lengths.listed(c.sizes_of(index))
            source = c.op("Slice", source, [0] * len(axes), ends, axes)
    kind = "add" if c.operator == "scatter_add" else c.text("reduce", "")
    if kind not in _SCATTERED:
        raise UnsupportedNodeError(f"reduce is {kind!r}")

    def put(base: Value, values: Value, reduction: str) -> Value:
        return c.op(
            "ScatterElements", base, index, values, axis=axis, reduction=reduction
        )

    own = c.flag("include_self", True)
    reduction, neutral = _SCATTERED[kind]
    if not own and kind:
        # What others take the place of does not count.
        if not x.dtype.is_float:
            neutral = max(min(neutral, _LARGEST), -_LARGEST)
        x = put(x, filled(neutral, x.dtype), "none")
    result = put(x, source, reduction)
    if kind == "mean":
        if not x.dtype.is_float:
            raise UnsupportedNodeError("the mean of integers")
        ones = filled(1, x.dtype, x)
        counts = put(ones, filled(0, x.dtype), "none") if not own else ones
        counts = put(counts, filled(1, x.dtype), "add")
        result = c.op("Div", result, counts)
    c.give(result)


@HANDLERS.register("aten.select_scatter")
def _select_scatter(c: Context) -> None:
    x, axis = c.along()
    index = c.integer("index")
    source = c.unsqueeze(c.cast(c.value("src"), x.dtype), axis)
    c.give(_replaced(c, x, axis, index, None if index == -1 else index + 1, source))


@HANDLERS.register("aten.slice_scatter")
def _slice_scatter(c: Context) -> None:
    x, axis = c.along("dim", 0)
    (step,) = c.integers("step", [1])
    source = c.cast(c.value("src"), x.dtype)
    if step == 1:
        (first,), (last,) = c.sizes("start", [0]), c.sizes("end", [END])
        bounds = _bounds(c.dim(x, axis), first, last)
        c.give(_replaced(c, x, axis, *bounds, source))
        return
    length = c.length(x, axis)
    (begin,) = c.integers("start", [0])
    (end,) = c.integers("end", [length])
    begin, end, step = slice(begin, end, step).indices(length)
    # Each element of x remains, or is one of the source.
    places = np.arange(begin, end, step)
    picks = np.arange(length)
    picks[places] = length + np.arange(len(places))
    both = c.op("Concat", x, source, axis=axis)
    c.give(c.op("Gather", both, c.constant(picks), axis=axis))


def _bounds(length: Dim, begin: Size, end: Size) -> tuple[Size, Size | None]:
    """The bounds of a slice of an axis of this length; no end if it is the axis's."""
    if isinstance(length, int) and isinstance(begin, int) and isinstance(end, int):
        begin, end, _ = slice(begin, end).indices(length)
        return begin, None if end == length else end
    dims = end.dims if isinstance(end, Value) else None
    if dims is not None and dims.reshape(-1)[0] == length:
        return begin, None
    return begin, None if isinstance(end, int) and end >= END else end


def _replaced(
    c: Context, x: Value, axis: int, begin: Size, end: Size | None, source: Value
) -> Value:
    """A value with a part from another one, from a place on, to the end or before
    another place; numbers below 0 count from the end.
    """
    part = c.slice(x, axis, begin, end)
    if None in c.shape(part) or c.shape(source) != c.shape(part):
        source = c.expanded(source, c.sizes_of(part))
    parts = [source]
    if begin != 0:
        parts.insert(0, c.slice(x, axis, 0, begin))
    if end is not None:
        parts.append(c.slice(x, axis, end))
    return c.concat(parts, axis)


@HANDLERS.register("aten.one_hot")
def _one_hot(c: Context) -> None:
    depth = c.integer("num_classes", -1)
    if depth < 0:
        raise UnsupportedNodeError("num_classes depends on the data")
    pair = c.constant(np.array([0, 1]))
    c.give(c.op("OneHot", c.value("self"), c.constant(depth), pair, axis=-1))


@HANDLERS.register("aten.index_add", "aten.index_copy")
def _index_add(c: Context) -> None:
    """Slices that are added to those of some places of an axis, or replace them."""
    x, index = c.value("self"), c.value("index")
    source = c.cast(c.value("source"), x.dtype)
    rank = c.rank(x)
    axis = c.axis(c.integer("dim"), rank)
    adds = c.operator == "index_add"
    alpha = c.number("alpha", 1) if adds else 1
    if alpha != 1:
        source = c.op("Mul", source, c.constant(alpha, x.dtype))
    order = [axis, *(i for i in range(rank) if i != axis)]
    target, source = (c.transpose(value, order) for value in (x, source))
    rows, kind = c.reshape(index, [-1, 1]), "add" if adds else "none"
    found = c.op("ScatterND", target, rows, source, reduction=kind)
    c.give(c.untransposed(found, order))


@HANDLERS.register(
    "aten.embedding_bag",
    "aten._embedding_bag",
    "aten._embedding_bag_forward_only",
)
def _embedding_bag(c: Context) -> None:
    """Sums, means or maxima of rows of a table."""
    table, indices = c.value("weight"), c.value("indices")
    offsets = c.value("offsets")
    mode = c.integer("mode", 0)
    padding = c.raw("padding_idx", -1)
    if padding != -1:
        raise UnsupportedNodeError(f"padding_idx is {padding}")
    rows = c.op("Gather", table, indices, axis=0)
    if c.has("per_sample_weights"):
        factors = c.value("per_sample_weights")
        rows = c.op("Mul", rows, c.unsqueeze(factors, 1))
    last = c.flag("include_last_offset")
    if offsets.is_constant and isinstance(c.dim(rows, 0), int):
        found = _of_bags(c, rows, offsets.numpy().tolist(), mode, last)
    elif mode == 2:
        raise UnsupportedNodeError("maxima of bags whose offsets are computed")
    else:
        found = _of_computed_bags(c, rows, offsets, mode, last)
    c.give(found, *[None] * (c.outputs - 1))


def _of_bags(
    c: Context, rows: Value, begins: list[int], mode: int, last: bool
) -> Value:
    kind = ("ReduceSum", "ReduceMean", "ReduceMax")[mode]
    count, depth = c.static_shape(rows)
    bounds = begins if last else [*begins, count]
    sizes = {end - begin for begin, end in zip(bounds, bounds[1:])}
    if len(sizes) == 1 and bounds[0] == 0 and min(sizes) > 0:
        (size,) = sizes
        bags = c.reshape(rows, [len(bounds) - 1, size, depth])
        return c.op(kind, bags, [1], keepdims=0)
    parts = []
    for begin, end in zip(bounds, bounds[1:]):
        if begin == end:
            parts.append(c.constant(np.zeros((1, depth), np.float32)))
        else:
            part = c.slice(rows, 0, begin, end)
            parts.append(c.op(kind, part, [0], keepdims=1))
    return c.concat(parts, 0)


def _of_computed_bags(
    c: Context, rows: Value, offsets: Value, mode: int, last: bool
) -> Value:
    """As a product with a matrix that says which bag has which row."""
    numbers = c.positions(c.size(rows, 0))
    begins = c.unsqueeze(offsets, 1)
    behind = c.cast(c.op("LessOrEqual", begins, numbers), DataType.FLOAT32)
    after = c.slice(behind, 0, 1)
    if last:
        behind = c.slice(behind, 0, 0, -1)
    else:
        after = c.op("Pad", after, np.array([0, 0, 1, 0]))
    inside = c.op("Sub", behind, after)
    total = c.op("MatMul", inside, rows)
    if mode == 0:
        return total
    sizes = c.op("ReduceSum", inside, [1], keepdims=1)
    return c.op("Div", total, c.op("Max", sizes, 1.0))


@HANDLERS.register("aten.nonzero", "aten.argwhere", "aten.nonzero_numpy")
def _nonzero(c: Context) -> None:
    x = c.value("self")
    if c.operator == "nonzero_numpy":
        c.give(*places_by_axis(c, x))
    else:
        c.give(c.transpose(positions(c, x), [1, 0]))


@HANDLERS.register("aten.masked_select")
def _masked_select(c: Context) -> None:
    x, mask = c.value("self"), c.value("mask")
    sizes = c.broadcast([x, mask])
    x, mask = (
        value if list(c.shape(value)) == sizes else c.expanded(value, sizes)
        for value in (x, mask)
    )
    c.give(c.op("GatherND", x, c.transpose(positions(c, mask), [1, 0])))


@HANDLERS.register("aten.masked_scatter")
def _masked_scatter(c: Context) -> None:
    """Each place of the mask takes as many elements of the source on as before it."""
    x, mask, source = c.value("self"), c.value("mask"), c.value("source")
    sizes = c.sizes_of(x)
    if list(c.shape(mask)) != sizes:
        mask = c.expanded(mask, sizes)
    line = c.reshape(c.cast(mask, DataType.INT32), [-1])
    before = c.op("Sub", c.op("CumSum", line, c.constant(0)), c.constant(1))
    line = c.reshape(source, [-1])
    last = c.compute("MAX", c.compute("SUB", c.size(line, 0), 1), 0)
    place = c.op("Min", c.op("Max", before, c.constant(0)), c.lengths.scalar(last))
    taken = c.op("Gather", line, place, axis=0)
    c.give(c.op("Where", mask, c.cast(c.reshape(taken, sizes), x.dtype), x))

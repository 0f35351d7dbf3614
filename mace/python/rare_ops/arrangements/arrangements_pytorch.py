# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Diagonals, elements by their numbers, and other arrangements of elements."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.importers.pytorch.handlers.arrange import (
    flipped,
    swapped_axes,
)
from mace.python.tools.importers.pytorch.handlers.indexing import from_front
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32
# Elements that as_strided picks.
_MOST_PICKED = 1 << 22


@HANDLERS.register("aten.diagonal")
def _diagonal(c: Context) -> None:
    (x, first), (_, second) = c.along("dim1", 0), c.along("dim2", 1)
    c.give(_on_diagonal(c, x, [first, second], c.integer("offset", 0)))


def _on_diagonal(c: Context, x: Value, axes: Sequence[int], offset: int) -> Value:
    """The elements on a diagonal along two axes, as the last dimension."""
    first, second = axes
    rank = c.rank(x)
    rows, columns = c.size(x, first), c.size(x, second)
    begin = (max(-offset, 0), max(offset, 0))
    counts = (c.compute("SUB", n, b) for n, b in zip((rows, columns), begin))
    count = functools.reduce(lambda a, b: c.compute("MIN", a, b), counts)
    steps = c.positions(c.compute("MAX", count, 0))
    ahead = c.compute("ADD", c.compute("MUL", columns, begin[0]), begin[1])
    apart = c.compute("ADD", columns, 1)
    flat = c.op("Mul", steps, c.lengths.scalar(apart))
    flat = c.op("Add", flat, c.lengths.scalar(ahead))
    order = [a for a in range(rank) if a not in (first, second)] + [first, second]
    moved = c.transpose(x, order)
    lengths = c.sizes_of(moved)[:-2]
    joined = c.reshape(moved, [*lengths, c.compute("MUL", rows, columns)])
    return c.op("Gather", joined, flat, axis=rank - 2)


@HANDLERS.register("aten.diag_embed")
def _diag_embed(c: Context) -> None:
    x = c.value("self")
    rank = c.rank(x) + 1
    rows, columns = (
        c.axis(c.integer(name, default), rank)
        for name, default in (("dim1", -2), ("dim2", -1))
    )
    offset = c.integer("offset", 0)
    if offset:
        raise UnsupportedNodeError(f"offset is {offset}")
    size = c.length(x, -1)
    check_made(size, size)
    # The elements lie along the last axis, and those of the matrices are the last two.
    wide = c.unsqueeze(x, rank - 1)
    found = c.op("Where", np.eye(size, dtype=bool), wide, c.constant(0, x.dtype))
    rest = [axis for axis in range(rank) if axis not in (rows, columns)]
    c.give(c.untransposed(found, [*rest, rows, columns]))


@HANDLERS.register("aten.atleast_1d", "aten.atleast_2d", "aten.atleast_3d")
def _atleast(c: Context) -> None:
    if not c.has("self"):
        raise UnsupportedNodeError("a list of tensors")
    x = c.value("self")
    rank, least = c.rank(x), int(c.operator[-2])
    if rank == 2 and least == 3:
        c.give(c.unsqueeze(x, 2))
    elif rank >= least:
        c.give(x)
    else:
        # A line is a row, of images of one channel.
        axes = [0, 2] if (rank, least) == (1, 3) else range(least - rank)
        c.give(c.unsqueeze(x, *axes))


@HANDLERS.register("aten.column_stack")
def _column_stack(c: Context) -> None:
    values = [
        c.reshape(v, [-1, 1]) if c.rank(v) < 2 else v for v in c.values("tensors")
    ]
    c.give(c.concat(values, 1))


@HANDLERS.register("aten.rot90")
def _rot90(c: Context) -> None:
    x, times = c.value("self"), c.integer("k", 1) % 4
    a, b = (c.axis(axis, c.rank(x)) for axis in c.integers("dims", [0, 1]))
    if times == 2:
        x = flipped(c, flipped(c, x, a), b)
    elif times == 1:
        x = swapped_axes(c, flipped(c, x, b), a, b)
    elif times == 3:
        x = flipped(c, swapped_axes(c, x, a, b), b)
    c.give(x)


@HANDLERS.register("aten.diag", "aten.linalg_diagonal")
def _diag(c: Context) -> None:
    lines = c.operator == "diag"
    x = c.value("self" if lines else "A")
    offset = c.integer("diagonal" if lines else "offset", 0)
    rank = c.rank(x)
    if lines and rank == 1:
        count = c.length(x, 0)
        size = count + abs(offset)
        check_made(size, size)
        grid, places = _numbered(size, size, offset)
        taken = c.op("Gather", x, c.constant(places), axis=0)
        c.give(c.op("Where", grid, taken, c.constant(0, x.dtype)))
        return
    axes = [0, 1] if lines else [c.integer("dim1", -2), c.integer("dim2", -1)]
    c.give(_on_diagonal(c, x, [c.axis(axis, rank) for axis in axes], offset))


def _numbered(rows: int, columns: int, offset: int) -> tuple[Array, Array]:
    """Which elements of a matrix are on a diagonal, and which number each has there."""
    on = np.eye(rows, columns, offset, dtype=bool)
    return on, np.maximum(np.cumsum(on).reshape(rows, columns) - 1, 0)


@HANDLERS.register("aten.diagonal_scatter")
def _diagonal_scatter(c: Context) -> None:
    (x, a), (_, b), source = c.along("dim1", 0), c.along("dim2", 1), c.value("src")
    rank, offset = c.rank(x), c.integer("offset", 0)
    order = [axis for axis in range(rank) if axis not in (a, b)] + [a, b]
    rows, columns = c.length(x, a), c.length(x, b)
    check_made(rows, columns)
    on, places = _numbered(rows, columns, offset)
    spread = c.op("Gather", source, c.constant(places), axis=rank - 2)
    found = c.op("Where", on, c.cast(spread, x.dtype), c.transpose(x, order))
    c.give(c.untransposed(found, order))


@HANDLERS.register("aten.trace")
def _trace(c: Context) -> None:
    x = c.value("self")
    rows, columns = c.static_shape(x)
    on = c.constant(np.eye(rows, columns, dtype=bool))
    kept = c.op("Where", on, x, c.constant(0, x.dtype))
    c.give(c.cast(c.op("ReduceSum", kept, [0, 1], keepdims=0), c.type_of_result()))


@HANDLERS.register("aten.take", "aten.put")
def _take(c: Context) -> None:
    """Elements by their number among all."""
    x, index = c.value("self"), c.value("index")
    line = c.reshape(x, [-1])
    index = from_front(c, line, 0, index)
    if c.operator == "take":
        c.give(c.op("Gather", line, index, axis=0))
        return
    source = c.reshape(c.cast(c.value("source"), x.dtype), [-1])
    kind, rows = "add" if c.flag("accumulate") else "none", c.reshape(index, [-1, 1])
    written = c.op("ScatterND", line, rows, source, reduction=kind)
    c.give(c.reshape(written, c.sizes_of(x)))


@HANDLERS.register("aten.index_fill")
def _index_fill(c: Context) -> None:
    x, index = c.value("self"), c.value("index")
    rank = c.rank(x)
    axis = c.axis(c.integer("dim"), rank)
    # Where one of the indices is the position along the axis.
    index = c.reshape(from_front(c, x, axis, index), [-1, 1])
    places = c.positions(c.size(x, axis))
    hits = c.cast(c.op("Equal", index, places), DataType.FLOAT32)
    found = c.cast(c.op("ReduceMax", hits, [0], keepdims=0), DataType.BOOL)
    own = [1] * rank
    own[axis] = -1
    filler = c.cast(c.value("value"), x.dtype)
    c.give(c.op("Where", c.reshape(found, own), filler, x))


@HANDLERS.register("aten.as_strided")
def _as_strided(c: Context) -> None:
    x = c.value("self")
    sizes, strides = c.integers("size"), c.integers("stride")
    offset = c.integer("storage_offset", 0)
    count = math.prod(c.static_shape(x))
    if "self" not in c.contiguous:
        raise UnsupportedNodeError(
            "its input lies in memory in another way than its shape says",
            "make the tensor contiguous before as_strided",
        )
    if math.prod(sizes) > _MOST_PICKED:
        raise UnsupportedNodeError(f"{math.prod(sizes)} elements")
    places = np.full(sizes, offset, np.int64)
    for axis, (length, stride) in enumerate(zip(sizes, strides)):
        line = [1] * len(sizes)
        line[axis] = length
        places += (np.arange(length) * stride).reshape(line)
    if places.size and not 0 <= places.min() <= places.max() < count:
        raise UnsupportedNodeError("it reads beyond its input")
    c.give(c.op("Gather", c.reshape(x, [-1]), c.constant(places), axis=0))


@HANDLERS.register("aten.tril_indices", "aten.triu_indices")
def _triangle_indices(c: Context) -> None:
    rows, columns = c.integer("row"), c.integer("col")
    check_made(rows, columns)
    make = np.tril_indices if c.operator == "tril_indices" else np.triu_indices
    pair = make(rows, c.integer("offset", 0), columns)
    c.give(c.constant(np.stack(pair), c.type_of_result()))

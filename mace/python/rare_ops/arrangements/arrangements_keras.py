# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions between layers that move and copy elements, and sort them."""

from __future__ import annotations

from functools import partial

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context
from mace.python.tools.importers.keras.handlers.operations import (
    Call,
    Function,
    give_results,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import END


def _triangle(upper: int, c: Call) -> Value:
    return c.op("Trilu", c.tensor(0), c.constant(int(c.get(1, "k", 0))), upper=upper)


def _sorted(index: int, c: Call) -> Value:
    x, at = c.along(c.floats(), default=-1)
    count = c.lengths.listed([c.size(x, at)])
    return c.op_all("TopK", [x, count], 2, axis=at, largest=0)[index]


def _stacked(axis: int, c: Call) -> Value:
    parts = c.tensors()
    if any(c.rank(part) < 2 for part in parts):
        raise UnsupportedNodeError("operands with fewer than 2 dimensions")
    return c.op("Concat", *parts, axis=axis)


def _moved(c: Call) -> Value:
    x = c.tensor(0)
    rank = c.rank(x)
    source, target = (
        [c.axis(a, rank) for a in c.integers(i, name)]
        for i, name in ((1, "source"), (2, "destination"))
    )
    order = [axis for axis in range(rank) if axis not in source]
    for place, axis in sorted(zip(target, source)):
        order.insert(place, axis)
    return c.transpose(x, order)


def _swapped(c: Call) -> Value:
    x = c.tensor(0)
    order = list(range(c.rank(x)))
    names = ((1, "axis1"), (2, "axis2"))
    a, b = (c.axis(c.integers(i, name)[0], len(order)) for i, name in names)
    order[a], order[b] = order[b], order[a]
    return c.transpose(x, order)


def _flipped(c: Call) -> Value:
    x = c.tensor(0)
    axes = c.places(1, "axis", c.rank(x))
    steps = [-1] * len(axes)
    return c.op("Slice", x, steps, [-END - 1] * len(axes), axes, steps)


def _rolled(c: Call) -> Value:
    x, (shift,) = c.tensor(0), c.integers(1, "shift")
    flat, at = c.along(x, 2)
    cut = -shift % c.length(flat, at)
    rolled = c.concat([c.slice(flat, at, cut), c.slice(flat, at, 0, cut)], at)
    return rolled if flat is x else c.reshape(rolled, c.sizes_of(x))


def _repeated(c: Call) -> Value:
    times = c.integers(1, "repeats")
    if len(times) != 1:
        raise UnsupportedNodeError(f"repeats is {times}")
    x, at = c.along(c.tensor(0), 2)
    sizes = c.sizes_of(x)
    copies = [1] * (len(sizes) + 1)
    copies[at + 1] = times[0]
    sizes[at] = c.compute("MUL", sizes[at], times[0])
    return c.reshape(c.op("Tile", c.unsqueeze(x, at + 1), copies), sizes)


def _taken_along(c: Call) -> Value:
    x, places = c.tensor(0), c.cast(c.tensor(1, "indices"), DataType.INT32)
    axis = c.get(2, "axis")
    if axis is None:
        raise UnsupportedNodeError("axis is None")
    return c.op("GatherElements", x, places, axis=axis)


def _unstacked(c: Call) -> list[Value]:
    x, axis = c.along(c.tensor(0), 2, 0)
    count = c.length(x, axis)
    return [c.squeeze(c.slice(x, axis, i, i + 1), axis) for i in range(count)]


_FUNCTIONS: dict[str, Function] = {
    "ops.Sort": partial(_sorted, 0),
    "ops.Argsort": partial(_sorted, 1),
    "ops.Moveaxis": _moved,
    "ops.Swapaxes": _swapped,
    "ops.Flip": _flipped,
    "ops.Roll": _rolled,
    "ops.Repeat": _repeated,
    "ops.TakeAlongAxis": _taken_along,
    "ops.Tril": partial(_triangle, 0),
    "ops.Triu": partial(_triangle, 1),
    "ops.Ravel": lambda c: c.reshape(c.tensor(0), [-1]),
    "ops.Unstack": _unstacked,
    "ops.Hstack": partial(_stacked, 1),
    "ops.Vstack": partial(_stacked, 0),
    "ops.BroadcastTo": lambda c: c.op("Expand", c.tensor(0), c.integers(1, "shape")),
}


@HANDLERS.register(*_FUNCTIONS)
def convert(context: Context) -> None:
    """A function of the table."""
    give_results(Call(context), _FUNCTIONS[context.layer.kind])

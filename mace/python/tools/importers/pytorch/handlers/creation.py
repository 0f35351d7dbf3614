# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors that are made of numbers, and the numbers of shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.importers.standard.operators import Size
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

# Larger tensors of one number are made at run time.
_LARGEST = 1 << 20
_NUMBERS = {"ones": 1, "zeros": 0}


def _filled(c: Context, sizes: Sequence[Size], number: Any, dtype: DataType) -> Value:
    filler = number
    if not isinstance(number, Value):
        filler = c.constant(number, dtype)
    filler = c.cast(filler, dtype)
    known = [size for size in sizes if isinstance(size, int)]
    if not sizes:
        return filler
    if len(known) == len(sizes) and math.prod(known) <= _LARGEST and filler.is_constant:
        return c.constant(np.full(known, filler.numpy(), dtype.numpy), dtype)
    return c.expanded(filler, sizes)


@HANDLERS.register(
    "aten.full", "aten.zeros", "aten.ones", "aten.empty", "aten.empty_permuted"
)
def _full(c: Context) -> None:
    number = _NUMBERS.get(c.operator, 0)
    number = c.raw("fill_value") if c.operator == "full" else number
    c.give(_filled(c, c.sizes("size"), number, c.type_of_result()))


@HANDLERS.register("aten.new_full", "aten.new_zeros", "aten.new_ones", "aten.new_empty")
def _new(c: Context) -> None:
    c.value("self")
    number = _NUMBERS.get(c.operator.removeprefix("new_"), 0)
    number = c.raw("fill_value") if c.operator == "new_full" else number
    c.give(_filled(c, c.sizes("size"), number, c.type_of_result()))


@HANDLERS.register(
    "aten.full_like", "aten.zeros_like", "aten.ones_like", "aten.empty_like"
)
def _full_like(c: Context) -> None:
    number = _NUMBERS.get(c.operator.removesuffix("_like"), 0)
    number = c.raw("fill_value") if c.operator == "full_like" else number
    c.give(_filled(c, c.sizes_of(c.value("self")), number, c.type_of_result()))


@HANDLERS.register("aten.fill", "aten.zero")
def _fill(c: Context) -> None:
    x = c.value("self")
    number = c.raw("value") if c.operator == "fill" else 0
    c.give(_filled(c, c.sizes_of(x), number, x.dtype))


@HANDLERS.register("aten.scalar_tensor")
def _scalar_tensor(c: Context) -> None:
    c.give(c.cast(c.value("s"), c.type_of_result()))


@HANDLERS.register("aten.arange")
def _arange(c: Context) -> None:
    bounds = [c.raw("start", 0), c.raw("end"), c.raw("step", 1)]
    dtype = c.type_of_result()
    if any(isinstance(bound, Value) for bound in bounds):
        values = [
            c.cast(b, dtype) if isinstance(b, Value) else c.constant(b, dtype)
            for b in bounds
        ]
        c.give(c.op("Range", *values))
        return
    start, end, step = bounds
    if not step:
        raise UnsupportedNodeError(f"from {start} to {end} in steps of {step}")
    check_made((end - start) / step)
    count = max(math.ceil((end - start) / step), 0)
    c.give(c.constant(start + np.arange(count) * step, dtype))


@HANDLERS.register("aten.linspace")
def _linspace(c: Context) -> None:
    bounds, steps = (c.raw("start"), c.raw("end")), c.integer("steps")
    check_made(steps)
    if any(isinstance(bound, Value) for bound in bounds):
        c.give(c.cast(_spaced(c, *bounds, steps), c.type_of_result()))
        return
    numbers = np.linspace(c.number("start"), c.number("end"), steps)
    c.give(c.constant(numbers, c.type_of_result()))


def _spaced(c: Context, start: Any, end: Any, steps: int) -> Value:
    """As PyTorch has them in floats: from both ends to the middle."""
    kind = DataType.FLOAT32
    first, last = (
        c.cast(bound, kind) if isinstance(bound, Value) else c.constant(bound, kind)
        for bound in (start, end)
    )
    rest = max(steps - 1, 1)
    step = c.op("Div", c.op("Sub", last, first), c.constant(rest, kind))
    after = np.arange(steps)
    return c.op(
        "Where",
        c.constant(after < max(steps // 2, 1)),
        c.op("Add", first, c.op("Mul", step, c.constant(after, kind))),
        c.op("Sub", last, c.op("Mul", step, c.constant(rest - after, kind))),
    )


@HANDLERS.register("aten.eye")
def _eye(c: Context) -> None:
    (rows,) = c.sizes("n")
    columns = c.sizes("m")[0] if c.has("m") else rows
    if isinstance(rows, int) and isinstance(columns, int):
        check_made(rows, columns)
        c.give(c.constant(np.eye(rows, columns), c.type_of_result()))
        return
    own = c.unsqueeze(c.positions(rows), 1)
    on = c.op("Equal", own, c.positions(columns))
    c.give(c.cast(on, c.type_of_result()))


@HANDLERS.register("aten.tril", "aten.triu")
def _triangle(c: Context) -> None:
    x = c.value("self")
    k = c.constant(c.integer("diagonal", 0))
    c.give(c.op("Trilu", x, k, upper=int(c.operator == "triu")))


@HANDLERS.register("aten.item", "aten._local_scalar_dense")
def _item(c: Context) -> None:
    x = c.value("self")
    count = math.prod(c.static_shape(x))
    if count != 1:
        raise UnsupportedNodeError(f"a number of a tensor of {count}")
    if x.is_constant:
        c.give(x.numpy().reshape(()).item())
    else:
        c.give(c.reshape(x, []))


@HANDLERS.register("aten.tril_indices", "aten.triu_indices")
def _triangle_indices(c: Context) -> None:
    rows, columns = c.integer("row"), c.integer("col")
    check_made(rows, columns)
    make = np.tril_indices if c.operator == "tril_indices" else np.triu_indices
    pair = make(rows, c.integer("offset", 0), columns)
    c.give(c.constant(np.stack(pair), c.type_of_result()))


# Numbers ------------------------------------------------------------------------


@HANDLERS.register("aten.sym_size")
def _sym_size(c: Context) -> None:
    x, axis = c.along()
    c.give(c.sizes_of(x)[axis])


@HANDLERS.register("aten.sym_numel")
def _sym_numel(c: Context) -> None:
    count: Size = 1
    for size in c.sizes_of(c.value("self")):
        count = c.compute("MUL", count, size)
    c.give(count)

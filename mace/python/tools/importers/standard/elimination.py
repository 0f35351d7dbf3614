# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Equations and inverses of matrices.

They are solved by Gauss-Jordan elimination with partial pivoting, unrolled: one step of
about 16 operators for each row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.operators import Operators
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32
# Rows of a matrix: about 1000 operators.
_MOST_ROWS = 64


def order_of(c: Operators, x: Value) -> int:
    """The number of rows and columns of square matrices."""
    rows, columns = c.length(x, -2), c.length(x, -1)
    if rows != columns:
        raise UnsupportedNodeError(f"matrices of {rows} x {columns}")
    if rows > _MOST_ROWS:
        raise UnsupportedNodeError(
            f"matrices of {rows} x {rows}, of which each row is a step; "
            f"{_MOST_ROWS} are possible",
            "compute it in the application",
        )
    return rows


def swapped(c: Operators, x: Value) -> Value:
    """Transposed matrices."""
    order = list(range(c.rank(x)))
    order[-2:] = order[:-3:-1]
    return c.transpose(x, order)


@dataclass(frozen=True)
class Eliminated:
    """What is left of equations A x = b.

    Attributes:
        rows: [..., 1, n], a 1 at the row of A that each step took.
        pivots: [..., 1, 1], by which each step divided.
        rest: the x, in the order of the rows of A; None if there is no b.
    """

    rows: tuple[Value, ...]
    pivots: tuple[Value, ...]
    rest: Value | None


def eliminate(c: Operators, a: Value, b: Value | None) -> Eliminated:
    count = order_of(c, a)
    axis = c.rank(a) - 1
    matrix = a if b is None else c.op("Concat", a, b, axis=axis)
    numbers = c.constant(np.arange(count)[:, None])
    unused: Value = c.constant(np.ones((count, 1), bool))
    rows, pivots = [], []
    width = count + (0 if b is None else c.length(b, -1))
    for _ in range(count):
        column = c.slice(matrix, axis, 0, 1)
        size = c.op("Where", unused, c.op("Abs", column), c.constant(-1.0))
        place = c.op("ArgMax", size, axis=axis - 1, keepdims=1)
        chosen = c.op("Equal", numbers, place)
        row = swapped(c, c.cast(chosen, _FLOAT))
        pivot = c.op("MatMul", row, column)
        rows.append(row)
        pivots.append(pivot)
        width -= 1
        if width == 0:
            return Eliminated(tuple(rows), tuple(pivots), None)
        rest = c.slice(matrix, axis, 1, width + 1)
        taken = c.op("Div", c.op("MatMul", row, rest), pivot)
        others = c.op("Sub", rest, c.op("Mul", column, taken))
        matrix = c.op("Where", chosen, taken, others)
        unused = c.op("And", unused, c.op("Not", chosen))
    return Eliminated(tuple(rows), tuple(pivots), matrix)


def solve(c: Operators, a: Value, b: Value) -> Value:
    """The x of a x = b, for matrices b."""
    lead = max(c.rank(a), c.rank(b)) - 2
    batch = np.broadcast_shapes(c.static_shape(a)[:-2], c.static_shape(b)[:-2])
    a, b = (
        x
        if c.static_shape(x)[:-2] == batch
        else c.op("Expand", x, [*batch, *c.static_shape(x)[-2:]])
        for x in (a, b)
    )
    found = eliminate(c, a, b)
    assert found.rest is not None
    return c.op("MatMul", c.concat(found.rows, lead), found.rest)


def inverse(c: Operators, x: Value) -> Value:
    """The inverses of matrices."""
    shape = c.static_shape(x)
    unit = np.broadcast_to(np.eye(shape[-1], dtype=np.float32), shape)
    return solve(c, x, c.constant(unit))

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Diagonals and bands of matrices, whose sizes are known."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value


def _last(context: Context, value: Value, count: int) -> list[int]:
    """The last dimensions of a value."""
    dims = (value.shape or ())[-count:]
    known = [dim for dim in dims if isinstance(dim, int)]
    if len(known) != count:
        raise UnsupportedNodeError(
            f"the size of the matrices of {value.name} is not known before the run",
            "give fixed input_shapes",
        )
    return known


def _zero(context: Context, like: Value) -> Value:
    return context.constant(np.zeros((), like.dtype.numpy), "zero")


def _scalar(context: Context, index: int, what: str, default: int = 0) -> int:
    if index >= len(context.items):
        return default
    values = context.ints(index, what)
    if len(values) != 1:
        raise UnsupportedNodeError(f"{what} is {values}, not one number")
    return values[0]


@HANDLERS.register("MatrixBandPart")
def band(context: Context) -> None:
    """0 outside of a band around the diagonal."""
    x = context.input(0)
    rows, columns = _last(context, x, 2)
    lower, upper = (
        _scalar(context, i + 1, w) for i, w in enumerate(("lower", "upper"))
    )
    check_made(rows, columns)
    mask = np.tri(rows, columns, columns if upper < 0 else upper, bool)
    if lower >= 0:
        mask &= ~np.tri(rows, columns, -lower - 1, bool)
    inside = context.constant(mask, "band")
    context.emit("Where", [inside, x, _zero(context, x)])


def _is_plain(context: Context) -> None:
    """Refuses other diagonals than the main one."""
    for index, what in ((1, "k"), (2, "num_rows"), (3, "num_cols")):
        wanted = 0 if what == "k" else -1
        given = context.ints(index, what) if index < len(context.items) else [wanted]
        if any(value != wanted for value in given):
            raise UnsupportedNodeError(f"{what} is {given}")


@HANDLERS.register("MatrixDiag", "MatrixDiagV2", "MatrixDiagV3", "Diag")
def diagonal(context: Context) -> None:
    """Matrices with vectors as their diagonals."""
    x = context.input(0)
    if context.node.op == "Diag" and context.rank(0) != 1:
        raise UnsupportedNodeError(f"a tensor of {context.rank(0)} dimensions")
    if context.node.op.startswith("MatrixDiagV"):
        _is_plain(context)
        padding = np.asarray(context.values(4, "padding_value"))
        if padding.any():
            raise UnsupportedNodeError("padding_value is not 0")
    (size,) = _last(context, x, 1)
    check_made(size, size)
    on = context.constant(np.eye(size, dtype=bool), "diagonal")
    rows = context.step("ExpandDims", [x], "rows", axes=[context.rank(0)])
    context.emit("Where", [on, rows, _zero(context, x)])


@HANDLERS.register("MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3", "DiagPart")
def diagonal_part(context: Context) -> None:
    """The main diagonals of matrices."""
    x = context.input(0)
    if context.node.op == "DiagPart" and context.rank(0) != 2:
        raise UnsupportedNodeError(f"a tensor of {context.rank(0)} dimensions")
    if _scalar(context, 1, "k"):
        raise UnsupportedNodeError("k is not 0")
    rows, columns = _last(context, x, 2)
    outer = [dim if isinstance(dim, int) else -1 for dim in (x.shape or ())[:-2]]
    if outer.count(-1) > 1:
        raise UnsupportedNodeError("several dimensions are not known before the run")
    shape = [*outer, rows * columns]
    flat = context.step("Reshape", [x], "flat", shape=shape)
    check_made(min(rows, columns))
    places = np.arange(min(rows, columns), dtype=np.int32) * (columns + 1)
    where = context.constant(places, "places")
    context.emit("Gather", [flat, where], axis=len(outer))


@HANDLERS.register("MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3")
def set_diagonal(context: Context) -> None:
    """Matrices with other diagonals."""
    x, new = context.input(0), context.input(1)
    if _scalar(context, 2, "k"):
        raise UnsupportedNodeError("k is not 0")
    rows, columns = _last(context, x, 2)
    check_made(rows, columns)
    on: Array = np.eye(rows, columns, dtype=bool)
    # A row or a column of each matrix, which broadcasts along the longer axis.
    axis = context.rank(1) if rows <= columns else context.rank(1) - 1
    spread = context.step("ExpandDims", [new], "spread", axes=[axis])
    context.emit("Where", [context.constant(on, "diagonal"), spread, x])


@HANDLERS.register("Cross")
def cross(context: Context) -> None:
    """Cross products of vectors of three numbers."""
    a, b = context.input(0), context.input(1)
    last = context.rank(0) - 1

    def turned(x: Value, order: list[int], name: str) -> Value:
        places = context.constant(np.asarray(order, np.int32), "order")
        return context.step("Gather", [x, places], name, axis=last)

    parts = [
        context.step(
            "Eltwise",
            [turned(a, first, "a"), turned(b, second, "b")],
            "product",
            mode="MUL",
        )
        for first, second in (([1, 2, 0], [2, 0, 1]), ([2, 0, 1], [1, 2, 0]))
    ]
    context.emit("Eltwise", parts, mode="SUB")

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Diagonals and bands of matrices, determinants and cross products."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import (
    HANDLERS,
    Context,
)
from mace.python.tools.ir.graph import Value


@HANDLERS.register("MatrixDeterminant")
def determinant(context: Context) -> None:
    """tf.linalg.det."""
    context.emit("Determinant", [context.input(0)])


def _last(context: Context, value: Value, count: int) -> list[int]:
    """The last dimensions of a value."""
    dims = (value.shape or ())[-count:]
    known = [dim for dim in dims if isinstance(dim, int)]
    if len(known) != count:
        raise UnsupportedNodeError(
            f"the size of the matrices of {value.name} is not known before the run",
            context.static_hint,
        )
    return known


def _needs_main(context: Context, index: int) -> None:
    """Refuses other diagonals than the main one, which input `index` may name."""
    if index < len(context.items) and any(context.ints(index, "k")):
        raise UnsupportedNodeError("k is not 0")


@HANDLERS.register("MatrixBandPart")
def band(context: Context) -> None:
    """0 outside of a band around the diagonal."""
    x = context.input(0)
    rows, columns = _last(context, x, 2)
    lower, upper = context.integer(1, "lower"), context.integer(2, "upper")
    check_made(rows, columns)
    mask = np.tri(rows, columns, columns if upper < 0 else upper, bool)
    if lower >= 0:
        mask &= ~np.tri(rows, columns, -lower - 1, bool)
    inside = context.constant(mask, "band")
    context.emit("Where", [inside, x, context.number(0, x)])


@HANDLERS.register("MatrixDiag", "MatrixDiagV2", "MatrixDiagV3", "Diag")
def diagonal(context: Context) -> None:
    """Matrices with vectors as their diagonals."""
    x = context.input(0)
    if context.node.op == "Diag" and context.rank(0) != 1:
        raise UnsupportedNodeError(f"a tensor of {context.rank(0)} dimensions")
    if context.node.op.startswith("MatrixDiagV"):
        _needs_main(context, 1)
        for index, what in ((2, "num_rows"), (3, "num_cols")):
            if context.integer(index, what) != -1:
                raise UnsupportedNodeError(f"{what} is {context.ints(index, what)}")
        if np.any(context.values(4, "padding_value")):
            raise UnsupportedNodeError("padding_value is not 0")
    (size,) = _last(context, x, 1)
    check_made(size, size)
    on = context.constant(np.eye(size, dtype=bool), "diagonal")
    rows = context.step("ExpandDims", [x], "rows", axes=[context.rank(0)])
    context.emit("Where", [on, rows, context.number(0, x)])


@HANDLERS.register("MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3", "DiagPart")
def diagonal_part(context: Context) -> None:
    """The main diagonals of matrices."""
    x = context.input(0)
    if context.node.op == "DiagPart" and context.rank(0) != 2:
        raise UnsupportedNodeError(f"a tensor of {context.rank(0)} dimensions")
    _needs_main(context, 1)
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
    _needs_main(context, 2)
    rows, columns = _last(context, x, 2)
    check_made(rows, columns)
    on = context.constant(np.eye(rows, columns, dtype=bool), "diagonal")
    # A row or a column of each matrix, which broadcasts along the longer axis.
    axis = context.rank(1) if rows <= columns else context.rank(1) - 1
    spread = context.step("ExpandDims", [new], "spread", axes=[axis])
    context.emit("Where", [on, spread, x])


@HANDLERS.register("Cross")
def cross(context: Context) -> None:
    """Cross products of vectors of three numbers."""
    a, b = context.input(0), context.input(1)
    last = context.rank(0) - 1

    def turned(x: Value, *order: int) -> Value:
        places = context.constant(np.asarray(order, np.int32), "order")
        return context.step("Gather", [x, places], "turned", axis=last)

    first = context.eltwise("MUL", turned(a, 1, 2, 0), turned(b, 2, 0, 1))
    second = context.eltwise("MUL", turned(a, 2, 0, 1), turned(b, 1, 2, 0))
    context.emit_eltwise("SUB", first, second)

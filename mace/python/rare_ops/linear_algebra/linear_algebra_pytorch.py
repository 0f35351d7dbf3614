# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear algebra: inverses, equations and products of matrices."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.importers.pytorch.handlers.reduce import vector_norm
from mace.python.tools.importers.standard.operators import (
    eliminate,
    inverse,
    order_of,
    solve,
    swapped,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32


def _first_of(c: Context, value: Value, batch: Value) -> None:
    """Gives a result, a status of 0, and nothing for factors of matrices."""
    info = c.constant(np.zeros(c.static_shape(batch)[:-2], np.int32))
    rest: list[Value | None] = [None] * (c.outputs - 1)
    if c.outputs > 1 and ("_ex" in c.operator):
        rest[-1] = info
    c.give(value, *rest)


@HANDLERS.register("aten.linalg_inv", "aten.linalg_inv_ex", "aten.inverse")
def _inverse(c: Context) -> None:
    a = c.value("self" if c.operator == "inverse" else "A")
    _first_of(c, inverse(c, a), a)


@HANDLERS.register("aten.linalg_solve", "aten.linalg_solve_ex", "aten._linalg_solve_ex")
def _solve(c: Context) -> None:
    a, b = c.value("A"), c.value("B")
    left = c.flag("left", True)
    # PyTorch takes b for vectors if its shape is that of the vectors of a's batch.
    vectors = c.rank(b) == 1 or c.static_shape(b) == c.static_shape(a)[:-1]
    if vectors:
        b = c.unsqueeze(b, c.rank(b))
    elif not left:
        a, b = swapped(c, a), swapped(c, b)
    result = solve(c, a, b)
    if vectors:
        result = c.squeeze(result, c.rank(result) - 1)
    elif not left:
        result = swapped(c, result)
    _first_of(c, result, a)


@HANDLERS.register("aten.linalg_solve_triangular", "aten.triangular_solve")
def _solve_triangular(c: Context) -> None:
    newer = c.operator.startswith("linalg")
    a, b = (c.value("self"), c.value("B")) if newer else (c.value("A"), c.value("self"))
    upper, left = c.flag("upper", True), c.flag("left", True)
    one, turned = c.flag("unitriangular"), c.flag("transpose")
    count = order_of(c, a)
    a = c.op("Trilu", a, c.constant(0), upper=int(upper))
    if one:
        on = c.constant(np.eye(count, dtype=bool))
        a = c.op("Where", on, 1.0, a)
    a = swapped(c, a) if turned else a
    if not left:
        result = swapped(c, solve(c, swapped(c, a), swapped(c, b)))
    else:
        result = solve(c, a, b)
    c.give(result, *[None] * (c.outputs - 1))


@HANDLERS.register("aten.linalg_cholesky", "aten.linalg_cholesky_ex", "aten.cholesky")
def _cholesky(c: Context) -> None:
    x = c.value("self")
    lower = _cholesky_factor(c, x)
    _first_of(c, swapped(c, lower) if c.flag("upper") else lower, x)


def _cholesky_factor(c: Context, x: Value) -> Value:
    """Lower triangular matrices: the products with their transposes are x."""
    count, axis = order_of(c, x), c.rank(x) - 1
    # Of the part that is left, column by column; it gets smaller.
    columns = []
    for step in range(count):
        first = c.slice(x, axis, 0, 1)
        pivot = c.op("Sqrt", c.slice(first, axis - 1, 0, 1))
        column = c.op("Div", first, pivot)
        pads = np.zeros(2 * axis + 2, np.int64)
        pads[axis - 1] = step
        columns.append(c.op("Pad", column, pads) if step else column)
        left = count - step - 1
        if left:
            below = c.slice(column, axis - 1, 1, left + 1)
            square = c.slice(c.slice(x, axis, 1, left + 1), axis - 1, 1, left + 1)
            x = c.op("Sub", square, c.op("Mul", below, swapped(c, below)))
    return c.concat(columns, axis)


@HANDLERS.register("aten.cholesky_solve", "aten.cholesky_inverse")
def _cholesky_solve(c: Context) -> None:
    of_inverse = c.operator == "cholesky_inverse"
    factor = c.value("self" if of_inverse else "input2")
    if c.flag("upper"):
        factor = swapped(c, factor)
    count = order_of(c, factor)
    b = c.constant(np.eye(count, dtype=np.float32)) if of_inverse else c.value("self")
    c.give(solve(c, swapped(c, factor), solve(c, factor, b)))


@HANDLERS.register("aten.det", "aten.linalg_det", "aten._linalg_det")
def _det(c: Context) -> None:
    x = c.value("self" if c.operator == "det" else "A")
    c.give(c.op("Det", x), *[None] * (c.outputs - 1))


@HANDLERS.register(
    "aten.slogdet", "aten.linalg_slogdet", "aten._linalg_slogdet", "aten.logdet"
)
def _slogdet(c: Context) -> None:
    x = c.value("self" if "linalg" not in c.operator else "A")
    found = eliminate(c, x, None)
    axis = c.rank(x) - 1
    pivots = c.squeeze(c.concat(found.pivots, axis), axis - 1)
    logarithm = c.op("Log", c.op("Abs", pivots))
    logarithm = c.op("ReduceSum", logarithm, [axis - 1], keepdims=0)
    sign = c.op("ReduceProd", c.op("Sign", pivots), [axis - 1], keepdims=0)
    sign = c.op("Mul", sign, c.op("Det", c.concat(found.rows, axis - 1)))
    if c.operator == "logdet":
        below = c.op("Less", sign, 0.0)
        c.give(c.op("Where", below, c.constant(np.float32(np.nan)), logarithm))
    else:
        c.give(sign, logarithm, *[None] * (c.outputs - 2))


# Products --------------------------------------------------------------------------


@HANDLERS.register("aten.linalg_vecdot")
def _vecdot(c: Context) -> None:
    a, b = c.value("x"), c.value("y")
    product = c.op("Mul", a, b)
    axis = c.axis(c.integer("dim", -1), c.rank(product))
    c.give(c.op("ReduceSum", product, [axis], keepdims=0))


@HANDLERS.register("aten.linalg_multi_dot", "aten.chain_matmul")
def _multi_dot(c: Context) -> None:
    name = "tensors" if c.has("tensors") else "matrices"
    first, *others = c.values(name)
    for other in others:
        first = c.op("MatMul", first, other)
    c.give(first)


@HANDLERS.register("aten.linalg_matrix_power", "aten.matrix_power")
def _matrix_power(c: Context) -> None:
    x, times = c.value("self"), c.integer("n")
    count = c.length(x, -1)
    if abs(times) > 1024:
        raise UnsupportedNodeError(f"n is {times}")
    unit = np.broadcast_to(np.eye(count, dtype=np.float32), c.static_shape(x))
    if times < 0:
        x, times = solve(c, x, c.constant(unit)), -times
    result: Value | None = None
    while times:
        if times % 2:
            result = x if result is None else c.op("MatMul", result, x)
        times //= 2
        x = c.op("MatMul", x, x) if times else x
    c.give(c.constant(unit) if result is None else result)


@HANDLERS.register("aten.tensordot")
def _tensordot(c: Context) -> None:
    a, b = c.value("self"), c.value("other")
    mine = [c.axis(i, c.rank(a)) for i in c.integers("dims_self", [])]
    theirs = [c.axis(i, c.rank(b)) for i in c.integers("dims_other", [])]
    free_a = [i for i in range(c.rank(a)) if i not in mine]
    free_b = [i for i in range(c.rank(b)) if i not in theirs]
    shape_a, shape_b = c.static_shape(a), c.static_shape(b)
    inner = math.prod(shape_a[i] for i in mine)
    rows = c.reshape(
        c.transpose(a, [*free_a, *mine]), [math.prod(shape_a[i] for i in free_a), inner]
    )
    columns = c.reshape(
        c.transpose(b, [*theirs, *free_b]),
        [inner, math.prod(shape_b[i] for i in free_b)],
    )
    target = [*(shape_a[i] for i in free_a), *(shape_b[i] for i in free_b)]
    c.give(c.reshape(c.op("MatMul", rows, columns), target))


@HANDLERS.register("aten.inner")
def _inner(c: Context) -> None:
    a, b = c.value("self"), c.value("other")
    if not c.rank(a) or not c.rank(b):
        c.give(c.op("Mul", a, b))
        return
    size = c.length(a, -1)
    rows, columns = (c.reshape(x, [-1, size]) for x in (a, b))
    product = c.op("MatMul", rows, c.transpose(columns, [1, 0]))
    c.give(c.reshape(product, [*c.static_shape(a)[:-1], *c.static_shape(b)[:-1]]))


@HANDLERS.register("aten.kron")
def _kron(c: Context) -> None:
    a, b = c.promoted("self", "other")
    rank = max(c.rank(a), c.rank(b))
    shapes = [[1] * (rank - c.rank(x)) + list(c.static_shape(x)) for x in (a, b)]
    wide_a = c.reshape(a, [n for size in shapes[0] for n in (size, 1)])
    wide_b = c.reshape(b, [n for size in shapes[1] for n in (1, size)])
    product = c.op("Mul", wide_a, wide_b)
    c.give(c.reshape(product, [m * n for m, n in zip(*shapes)]))


@HANDLERS.register("aten.addbmm", "aten.addr")
def _add_products(c: Context) -> None:
    bias, alpha, beta = c.value("self"), c.number("alpha", 1), c.number("beta", 1)
    if c.operator == "addbmm":
        products = c.op("MatMul", c.value("batch1"), c.value("batch2"))
        total = c.op("ReduceSum", products, [0], keepdims=0)
    else:
        total = c.op(
            "Mul", c.unsqueeze(c.value("vec1"), 1), c.unsqueeze(c.value("vec2"), 0)
        )
    total = total if alpha == 1 else c.op("Mul", total, c.constant(alpha, _FLOAT))
    if beta == 0:
        c.give(total)
        return
    bias = bias if beta == 1 else c.op("Mul", bias, c.constant(beta, _FLOAT))
    c.give(c.op("Add", bias, total))


@HANDLERS.register("aten.bilinear")
def _bilinear(c: Context) -> None:
    a, b = c.value("input1"), c.value("input2")
    weight, bias = c.value("weight"), c.optional("bias")
    outputs, rows, columns = c.static_shape(weight)
    lead = list(c.static_shape(a)[:-1])
    # [rows, outputs * columns], and then a product with b for each output.
    left = c.reshape(c.transpose(weight, [1, 0, 2]), [rows, outputs * columns])
    first = c.op("MatMul", c.reshape(a, [-1, rows]), left)
    first = c.reshape(first, [-1, outputs, columns])
    second = c.reshape(b, [-1, columns, 1])
    result = c.reshape(c.op("MatMul", first, second), [*lead, outputs])
    c.give(result if bias is None else c.op("Add", result, bias))


@HANDLERS.register("aten._trilinear")
def _trilinear(c: Context) -> None:
    """The sum of products of three tensors, each with dimensions of length 1."""
    product: Value | None = None
    for name, axes in (("i1", "expand1"), ("i2", "expand2"), ("i3", "expand3")):
        given = c.integers(axes)
        x = c.value(name)
        wide = c.unsqueeze(x, *given) if given else x
        product = wide if product is None else c.op("Mul", product, wide)
    assert product is not None
    axes_of_sum = [c.axis(axis, c.rank(product)) for axis in c.integers("sumdim")]
    c.give(c.op("ReduceSum", product, axes_of_sum, keepdims=0))


@HANDLERS.register("aten.pdist", "aten._pdist_forward")
def _pdist(c: Context) -> None:
    x = c.value("self")
    rows, columns = np.triu_indices(c.length(x, 0), 1)
    a, b = (c.op("Gather", x, c.constant(i), axis=0) for i in (rows, columns))
    c.give(vector_norm(c, c.op("Sub", a, b), [1], c.number("p", 2), False))


@HANDLERS.register("aten.linalg_cross", "aten.cross")
def _cross(c: Context) -> None:
    a, b = c.promoted("self", "other")
    rank = c.rank(a)
    if c.has("dim"):
        axis = c.axis(c.integer("dim"), rank)
    elif c.operator == "linalg_cross":
        axis = rank - 1
    else:
        axis = c.static_shape(a).index(3)

    def turned(x: Value, order: list[int]) -> Value:
        return c.op("Gather", x, c.constant(np.array(order)), axis=axis)

    left = c.op("Mul", turned(a, [1, 2, 0]), turned(b, [2, 0, 1]))
    right = c.op("Mul", turned(a, [2, 0, 1]), turned(b, [1, 2, 0]))
    c.give(c.op("Sub", left, right))

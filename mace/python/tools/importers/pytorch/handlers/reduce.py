# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions, norms, sums and maxima along axes, and the largest elements."""

from __future__ import annotations

import math

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.importers.pytorch.handlers.elementwise import extreme
from mace.python.tools.importers.standard.operators import Size
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import END

_FLOAT = DataType.FLOAT32
_REDUCTIONS = {
    "aten.all": "ReduceMin",
    "aten.amax": "ReduceMax",
    "aten.amin": "ReduceMin",
    "aten.any": "ReduceMax",
    "aten.logsumexp": "ReduceLogSumExp",
    "aten.mean": "ReduceMean",
    "aten.prod": "ReduceProd",
    "aten.sum": "ReduceSum",
}


def _reduced(c: Context, op_type: str, x: Value, axes: list[int], keep: bool) -> Value:
    if c.rank(x) == 0:
        return x
    if x.dtype is DataType.INT32 and op_type in ("ReduceMax", "ReduceMin", "ReduceSum"):
        return _of_integers(c, op_type, x, axes, keep)
    return c.op(op_type, x, axes, keepdims=int(keep))


def _of_integers(
    c: Context, op_type: str, x: Value, axes: list[int], keep: bool
) -> Value:
    """A reduction that does not round integers to floats."""
    for axis in axes:
        if op_type == "ReduceSum":
            sums = c.op("CumSum", x, c.constant(axis))
            x = c.op("Slice", sums, [-1], [END], [axis], [1])
        else:
            x, _ = ordered(c, x, axis, op_type == "ReduceMax", 1)
    return x if keep else c.squeeze(x, *axes)


def ordered(
    c: Context, x: Value, axis: int, largest: bool, count: Size, in_order: bool = True
) -> list[Value]:
    """The first elements, from the largest or the least on, and where they are."""
    inputs = [x, c.lengths.listed([count])]
    order = {"largest": int(largest), "sorted": int(in_order)}
    return c.op_all("TopK", inputs, 2, axis=axis, **order)


@HANDLERS.register(*_REDUCTIONS)
def _reduce(c: Context) -> None:
    x, dtype = c.value("self"), c.type_of_result()
    axes, keep = c.axes("dim", c.rank(x)), c.flag("keepdim")
    if c.operator in ("all", "any"):
        x = c.cast(x, DataType.BOOL)
    # Floats count booleans up to 2**24 exactly.
    x = c.cast(x, _FLOAT if x.dtype is DataType.BOOL else dtype)
    c.give(c.cast(_reduced(c, _REDUCTIONS[f"aten.{c.operator}"], x, axes, keep), dtype))


@HANDLERS.register("aten.var", "aten.std", "aten.var_mean", "aten.std_mean")
def _var(c: Context) -> None:
    x = c.value("self")
    axes = c.axes("dim", c.rank(x))
    keep = int(c.flag("keepdim"))
    correction = c.number("correction", 1)
    if c.has("unbiased") or "unbiased" in c.node.arguments:
        correction = float(c.flag("unbiased", True))
    count: Size = 1
    for axis in axes:
        count = c.compute("MUL", count, c.size(x, axis))
    mean = c.op("ReduceMean", x, axes, keepdims=1)
    centred = c.op("Sub", x, mean)
    total = c.op("ReduceSumSquare", centred, axes, keepdims=keep)
    if isinstance(count, int):
        divisor = c.constant(max(count - correction, 0), _FLOAT)
    else:
        rest = c.op("Sub", c.cast(count, _FLOAT), correction)
        divisor = c.op("Max", rest, 0.0)
    result = c.op("Div", total, divisor)
    if c.operator.startswith("std"):
        result = c.op("Sqrt", result)
    if not c.operator.endswith("_mean"):
        c.give(result)
        return
    c.give(result, mean if keep else c.squeeze(mean, *axes))


@HANDLERS.register("aten.max", "aten.min")
def _max(c: Context) -> None:
    large = c.operator == "max"
    if c.has("other"):
        a, b = c.promoted("self", "other")
        c.give(extreme(c, "Max" if large else "Min", a, b))
        return
    x = c.value("self")
    reduce = "ReduceMax" if large else "ReduceMin"
    if not c.has("dim"):
        c.give(_reduced(c, reduce, x, list(range(c.rank(x))), False))
        return
    axis, keep = c.axis(c.integer("dim"), c.rank(x)), c.flag("keepdim")
    c.give(_reduced(c, reduce, x, [axis], keep), _place(c, x, axis, large, keep))


def _place(c: Context, x: Value, axis: int, large: bool, keep: bool) -> Value:
    """Where the largest or smallest element is."""
    if x.dtype is DataType.INT32:
        _, found = ordered(c, x, axis, large, 1)
        return found if keep else c.squeeze(found, axis)
    op_type = "ArgMax" if large else "ArgMin"
    return c.op(op_type, x, axis=axis, keepdims=int(keep))


@HANDLERS.register("aten.argmax", "aten.argmin")
def _argmax(c: Context) -> None:
    x, keep, large = c.value("self"), c.flag("keepdim"), c.operator == "argmax"
    if c.has("dim"):
        c.give(_place(c, x, c.axis(c.integer("dim"), c.rank(x)), large, keep))
        return
    if keep:
        raise UnsupportedNodeError("keeps all dimensions")
    c.give(_place(c, c.reshape(x, [-1]), 0, large, False))


@HANDLERS.register("aten.cumsum", "aten.cumprod")
def _cumsum(c: Context) -> None:
    x = c.value("self")
    x = c.cast(x, c.type_of_result())
    axis = c.axis(c.integer("dim"), c.rank(x))
    op_type = "CumSum" if c.operator == "cumsum" else "CumProd"
    c.give(c.op(op_type, x, c.constant(axis)))


@HANDLERS.register("aten.diff")
def _diff(c: Context) -> None:
    x, axis = c.along("dim", -1)
    ends = (c.optional("prepend"), x, c.optional("append"))
    x = c.concat([part for part in ends if part is not None], axis)
    for _ in range(c.integer("n", 1)):
        parts = c.slice(x, axis, 1), c.slice(x, axis, 0, -1)
        x = c.op("Xor" if x.dtype is DataType.BOOL else "Sub", *parts)
    c.give(x)


@HANDLERS.register("aten.topk")
def _topk(c: Context) -> None:
    x, axis = c.along("dim", -1)
    in_order, largest = c.flag("sorted", True), c.flag("largest", True)
    (count,) = c.sizes("k")
    c.give(*ordered(c, x, axis, largest, count, in_order))


@HANDLERS.register("aten.sort", "aten.argsort")
def _sort(c: Context) -> None:
    x = c.value("self")
    axis = c.axis(c.integer("dim", -1), c.rank(x))
    found = ordered(c, x, axis, c.flag("descending"), c.size(x, axis))
    c.give(*(found[1:] if c.operator == "argsort" else found))


# Norms ------------------------------------------------------------


@HANDLERS.register("aten.linalg_norm", "aten.linalg_matrix_norm")
def _norm(c: Context) -> None:
    x = c.value("self")
    order, keep = c.raw("ord"), c.flag("keepdim")
    c.dtype()
    given = [-2, -1] if c.operator == "linalg_matrix_norm" else []
    given = c.integers("dim") if c.has("dim") else given
    axes = [c.axis(axis, c.rank(x)) for axis in given] or list(range(c.rank(x)))
    if order is None or order == "fro":
        c.give(c.op("ReduceL2", x, axes, keepdims=int(keep)))
        return
    if len(axes) == 1:
        c.give(vector_norm(c, x, axes, float(order), keep))
        return
    if len(axes) != 2 or order not in (1, -1, math.inf, -math.inf):
        raise UnsupportedNodeError(
            f"ord is {order!r}, which needs singular values",
            "'fro', 1, -1, inf and -inf are possible",
        )
    # The largest or smallest sum of columns (1) or rows (inf).
    if abs(order) != 1:
        axes.reverse()
    sums = c.op("ReduceL1", x, [axes[0]], keepdims=1)
    reduce = "ReduceMax" if order > 0 else "ReduceMin"
    found = c.op(reduce, sums, [axes[1]], keepdims=1)
    c.give(found if keep else c.squeeze(found, *sorted(axes)))


def vector_norm(
    c: Context, x: Value, axes: list[int], order: float, keep: bool
) -> Value:
    """The norm of the elements along axes."""
    kept = int(keep)
    if order in (1, 2):
        return c.op(f"ReduceL{order:.0f}", x, axes, keepdims=kept)
    if math.isinf(order):
        reduce = "ReduceMax" if order > 0 else "ReduceMin"
        return c.op(reduce, c.op("Abs", x), axes, keepdims=kept)
    if order == 0:
        other = c.op("Not", c.op("Equal", x, 0.0))
        return c.op("ReduceSum", c.cast(other, _FLOAT), axes, keepdims=kept)
    powers = c.op("Pow", c.op("Abs", x), order)
    total = c.op("ReduceSum", powers, axes, keepdims=kept)
    return c.op("Pow", total, 1 / order)


@HANDLERS.register("aten.linalg_vector_norm", "aten.norm")
def _vector_norm(c: Context) -> None:
    x = c.value("self")
    order = c.number("ord" if "linalg" in c.operator else "p", 2)
    c.dtype()
    axes = c.axes("dim", c.rank(x))
    c.give(vector_norm(c, x, axes, order, c.flag("keepdim")))


@HANDLERS.register("aten.cdist", "aten._cdist_forward", "aten.pairwise_distance")
def _distance(c: Context) -> None:
    a, b = c.value("x1"), c.value("x2")
    order = c.number("p", 2)
    keep = c.flag("keepdim")
    if c.operator == "pairwise_distance":
        gap = c.op("Add", c.op("Sub", a, b), c.number("eps", 1e-6))
    else:
        gap = c.op("Sub", c.unsqueeze(a, c.rank(a) - 1), c.unsqueeze(b, c.rank(b) - 2))
    c.give(vector_norm(c, gap, [c.rank(gap) - 1], order, keep))

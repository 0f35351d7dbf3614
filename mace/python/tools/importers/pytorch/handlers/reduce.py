# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions, sums along axes, and the largest elements."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.importers.pytorch.handlers.elementwise import extreme
from mace.python.tools.importers.standard.operators import Size
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import END

_FLOAT = DataType.FLOAT32
_REDUCTIONS = {
    "amax": "ReduceMax",
    "amin": "ReduceMin",
    "logsumexp": "ReduceLogSumExp",
    "mean": "ReduceMean",
    "prod": "ReduceProd",
    "sum": "ReduceSum",
    "nansum": "",
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
            largest = int(op_type == "ReduceMax")
            x, _ = c.op_all(
                "TopK", [x, np.array([1])], 2, axis=axis, largest=largest, sorted=1
            )
    return x if keep else c.squeeze(x, *axes)


def _of_booleans(
    c: Context, op_type: str, x: Value, axes: list[int], keep: bool
) -> Value:
    """A reduction in floats, which count up to 2**24 exactly."""
    return _reduced(c, op_type, c.cast(x, _FLOAT), axes, keep)


@HANDLERS.register(*(f"aten.{name}" for name, op in _REDUCTIONS.items() if op))
def _reduce(c: Context) -> None:
    x = c.value("self")
    c.dtype()
    op_type = _REDUCTIONS[c.operator]
    if x.dtype is DataType.BOOL:
        axes = c.axes("dim", c.rank(x))
        result = _of_booleans(c, op_type, x, axes, c.flag("keepdim"))
        c.give(c.cast(result, c.type_of_result()))
        return
    x = c.cast(x, c.type_of_result())
    if c.rank(x) == 0 and c.operator == "logsumexp":
        c.give(x)
        return
    axes = c.axes("dim", c.rank(x))
    c.give(_reduced(c, op_type, x, axes, c.flag("keepdim")))


@HANDLERS.register("aten.var", "aten.std", "aten.var_mean", "aten.std_mean")
def _var(c: Context) -> None:
    x = c.value("self")
    axes = c.axes("dim", c.rank(x))
    keep = int(c.flag("keepdim"))
    correction = c.number("correction", 1) if c.has("correction") else 1.0
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
        rest = c.op("Sub", c.cast(count, _FLOAT), c.constant(correction, _FLOAT))
        divisor = c.op("Max", rest, c.constant(0, _FLOAT))
    result = c.op("Div", total, divisor)
    if c.operator.startswith("std"):
        result = c.op("Sqrt", result)
    if not c.operator.endswith("_mean"):
        c.give(result)
        return
    c.give(result, mean if keep else c.squeeze(mean, *axes))


@HANDLERS.register("aten.all", "aten.any")
def _all(c: Context) -> None:
    x = c.cast(c.value("self"), DataType.BOOL)
    axes = c.axes("dim", c.rank(x))
    op_type = "ReduceMin" if c.operator == "all" else "ReduceMax"
    result = _of_booleans(c, op_type, x, axes, c.flag("keepdim"))
    c.give(c.cast(result, DataType.BOOL))


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
        _, found = c.op_all(
            "TopK", [x, np.array([1])], 2, axis=axis, largest=int(large), sorted=1
        )
        return found if keep else c.squeeze(found, axis)
    op_type = "ArgMax" if large else "ArgMin"
    return c.op(op_type, x, axis=axis, keepdims=int(keep))


@HANDLERS.register("aten.argmax", "aten.argmin")
def _argmax(c: Context) -> None:
    x = c.value("self")
    large = c.operator == "argmax"
    keep = c.flag("keepdim")
    if c.has("dim"):
        axis = c.axis(c.integer("dim"), c.rank(x))
        c.give(_place(c, x, axis, large, keep))
        return
    if keep:
        raise UnsupportedNodeError("keeps all dimensions")
    c.give(_place(c, c.reshape(x, [-1]), 0, large, False))


@HANDLERS.register("aten.cumsum", "aten.cumprod")
def _cumsum(c: Context) -> None:
    x = c.value("self")
    c.dtype()
    x = c.cast(x, c.type_of_result())
    axis = c.axis(c.integer("dim"), c.rank(x))
    op_type = "CumSum" if c.operator == "cumsum" else "CumProd"
    c.give(c.op(op_type, x, c.constant(axis)))


@HANDLERS.register("aten.diff")
def _diff(c: Context) -> None:
    x = c.value("self")
    axis = c.axis(c.integer("dim", -1), c.rank(x))
    before = [c.value(name) for name in ("prepend",) if c.has(name)]
    after = [c.value(name) for name in ("append",) if c.has(name)]
    if before or after:
        x = c.op("Concat", *before, x, *after, axis=axis)
    for _ in range(c.integer("n", 1)):
        parts = c.slice(x, axis, 1), c.slice(x, axis, 0, -1)
        x = c.op("Xor" if x.dtype is DataType.BOOL else "Sub", *parts)
    c.give(x)


@HANDLERS.register("aten.topk")
def _topk(c: Context) -> None:
    x = c.value("self")
    axis = c.axis(c.integer("dim", -1), c.rank(x))
    ordered, largest = c.flag("sorted", True), c.flag("largest", True)
    (count,) = c.sizes("k")
    c.give(
        *c.op_all(
            "TopK",
            [x, c.lengths.listed([count])],
            2,
            axis=axis,
            largest=int(largest),
            sorted=int(ordered),
        )
    )


@HANDLERS.register("aten.sort", "aten.argsort")
def _sort(c: Context) -> None:
    x = c.value("self")
    c.raw("stable")
    axis = c.axis(c.integer("dim", -1), c.rank(x))
    largest = int(c.flag("descending"))
    count = c.lengths.listed([c.size(x, axis)])
    values, indices = c.op_all(
        "TopK", [x, count], 2, axis=axis, largest=largest, sorted=1
    )
    c.give(*((indices,) if c.operator == "argsort" else (values, indices)))

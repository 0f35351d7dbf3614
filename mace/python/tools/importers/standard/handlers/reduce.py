# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions, and sums and products of all elements before each."""

from __future__ import annotations

from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.counts import Counts, unreshaped
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules import NARROW_TYPES
from mace.python.tools.ir.shapes import END

_PLAIN = {
    "ReduceL2": "L2",
    "ReduceMax": "MAX",
    "ReduceMean": "MEAN",
    "ReduceMin": "MIN",
    "ReduceProd": "PROD",
    "ReduceSum": "SUM",
    "ReduceSumSquare": "SUM_SQUARE",
}

# The operator set in which the attribute axes became an input.
_AXES_INPUT_SINCE = 18
_AXES_INPUT_SINCE_SUM = 13

# Of no elements. The least and the largest of integers are those of their type.
_OF_NOTHING = {
    "ReduceL1": 0.0,
    "ReduceL2": 0.0,
    "ReduceLogSum": -np.inf,
    "ReduceLogSumExp": -np.inf,
    "ReduceMax": -np.inf,
    "ReduceMean": np.nan,
    "ReduceMin": np.inf,
    "ReduceProd": 1.0,
    "ReduceSum": 0.0,
    "ReduceSumSquare": 0.0,
}


# What takes no part in the result.
_NEUTRAL = {
    **_OF_NOTHING,
    "ReduceLogSum": 0.0,
    "ReduceMean": 0.0,
    "ArgMax": -np.inf,
    "ArgMin": np.inf,
}


def _input(node: Node, axes: list[int] | None) -> Value:
    """The input, in which only what counts takes part."""
    x = node.input(0)
    if axes is None or (node.type == "ReduceMean" and not x.dtype.is_float):
        return x
    return Counts(node).masked(x, _NEUTRAL[node.type], axes)


def _axes(node: Node) -> list[int] | None:
    """Axes, counted from the front; None: nothing is reduced."""
    since = _AXES_INPUT_SINCE_SUM if node.type == "ReduceSum" else _AXES_INPUT_SINCE
    rank = len(node.shape(node.input(0)))
    axes = node.integers_of("axes", 1, since, default=[]) or []
    if not axes and node.flag("noop_with_empty_axes", False):
        return None
    return sorted({node.axis(axis, rank) for axis in axes}) or list(range(rank))


def _of_nothing(node: Node, axes: list[int] | None) -> bool:
    """Sets the result if there is no element to reduce, and says whether it did."""
    x = node.input(0)
    dims = node.shape(x)
    if not axes or all(dims[axis] != 0 for axis in axes):
        return False
    if node.type not in _OF_NOTHING:
        raise UnsupportedNodeError(f"reduces a dimension of length 0 ({list(dims)})")
    number: Any = _OF_NOTHING[node.type]
    if x.dtype is DataType.BOOL:
        number = node.type == "ReduceMin"
    elif not x.dtype.is_float and np.isinf(number):
        bounds = np.iinfo(x.dtype.numpy)
        number = bounds.max if number > 0 else bounds.min
    keep = node.flag("keepdims", True)
    shape = [
        1 if axis in axes else dim
        for axis, dim in enumerate(node.static_shape(x))
        if keep or axis not in axes
    ]
    node.set_output(0, node.literal(np.full(shape, number), x.dtype))
    return True


def _attrs(node: Node, mode: str, axes: list[int]) -> dict[str, Any]:
    return {"mode": mode, "axes": axes, "keep_dims": node.flag("keepdims", True)}


@HANDLERS.register(*_PLAIN)
def _plain(node: Node) -> None:
    axes, mode = _axes(node), _PLAIN[node.type]
    if _of_nothing(node, axes):
        return
    x = _input(node, axes)
    if axes and mode == "MEAN" and x is not node.input(0):
        node.set_output(0, _mean_of_counted(node, x, axes))
    elif axes and x.dtype in NARROW_TYPES and mode in ("MAX", "MIN"):
        node.set_output(0, _of_narrow(node, x, mode, axes))
    elif axes:
        node.emit("Reduce", [x], _attrs(node, mode, axes))
        mask = _mask_of(x) if len(axes) == x.rank and mode == "SUM" else None
        if mask is not None:
            node.builder.counted.masks[node.results[node.name_of(0)]] = mask
    elif mode == "SUM_SQUARE":
        node.emit("Eltwise", [x], {"mode": "SQUARE"})
    elif mode == "L2":
        node.emit("Eltwise", [x], {"mode": "ABS"})
    else:
        node.set_output(0, x)


def _mean_of_counted(node: Node, masked: Value, axes: list[int]) -> Value:
    lengths = Counts(node)
    total = node.make("Reduce", [masked], _attrs(node, "SUM", axes))
    parts = [lengths.of_axis(node.input(0), axis) for axis in axes]
    count = lengths.product(parts)
    number = lengths.value(count) if total.shape else lengths.scalar(count)
    return node.eltwise("DIV", total, node.cast(number, DataType.FLOAT32))


@HANDLERS.register("ReduceL1")
def _l1(node: Node) -> None:
    axes = _axes(node)
    if _of_nothing(node, axes):
        return
    x = _input(node, axes)
    if not axes:
        node.emit("Eltwise", [x], {"mode": "ABS"})
        return
    inner = node.eltwise("ABS", x)
    node.emit("Reduce", [inner], _attrs(node, "SUM", axes))


def _of_narrow(node: Node, x: Value, mode: str, axes: list[int]) -> Value:
    """The greatest or the least of narrow integers, in floats: the infinities, of no
    elements, become the limits of the type.
    """
    numbers = node.cast(x, DataType.FLOAT32)
    found = node.make("Reduce", [numbers], _attrs(node, mode, axes))
    if x.dtype is DataType.BOOL and mode == "MAX":
        none = node.literal(0.0)  # -inf is not False
        found = node.eltwise("MAX", found, none)
    return node.cast(found, x.dtype)


def _mask_of(x: Value) -> Value | None:
    """The mask that became these integers."""
    while x.producer is not None and x.producer.type in ("Cast", "Identity", "Reshape"):
        x = x.producer.input(0)
        if x.dtype is DataType.BOOL:
            return unreshaped(x)
    return None


@HANDLERS.register("ReduceLogSum")
def _log_sum(node: Node) -> None:
    axes = _axes(node)
    if _of_nothing(node, axes):
        return
    x = _input(node, axes)
    if axes:
        x = node.make("Reduce", [x], _attrs(node, "SUM", axes))
    node.emit("Eltwise", [x], {"mode": "LOG"})


@HANDLERS.register("ReduceLogSumExp")
def _log_sum_exp(node: Node) -> None:
    axes = _axes(node)
    if _of_nothing(node, axes):
        return
    x = _input(node, axes)
    if not axes:
        node.set_output(0, x)
        return
    # Without subtracting the largest value, exp overflows at 88.
    top = _finite(node, node.reduce("MAX", x, axes))
    shifted = node.eltwise("SUB", x, top)
    powers = node.eltwise("EXP", shifted)
    total = node.make("Reduce", [powers], _attrs(node, "SUM", axes))
    logarithm = node.eltwise("LOG", total)
    if not node.flag("keepdims", True):
        top = node.squeeze(top, axes)
    node.emit("Eltwise", [logarithm, top], {"mode": "ADD"})


def _finite(node: Node, x: Value) -> Value:
    """Zeros in the place of infinities, from which nothing can be subtracted."""
    zeros = node.eltwise("SUB", x, x)  # or NaN
    zero = node.literal(0.0)
    is_finite = node.eltwise("EQUAL", zeros, zero)
    return node.make("Where", [is_finite, x, zero])


@HANDLERS.register("ArgMax", "ArgMin")
def _arg(node: Node) -> None:
    axis = node.axis(node.integer("axis", 0), len(node.shape(node.input(0))))
    x = _input(node, [axis])
    attrs = {
        "mode": "MAX" if node.type == "ArgMax" else "MIN",
        "axis": axis,
        "last": node.flag("select_last_index", False),
    }
    if x.dtype is DataType.INT32:
        result = _arg_of_integers(node, x, axis)
    else:
        if x.dtype is not DataType.FLOAT32:
            x = node.cast(x, DataType.FLOAT32)
        if node.flag("keepdims", True):
            node.emit("ArgMax", [x], attrs)
            return
        result = node.make("ArgMax", [x], attrs)
    if not node.flag("keepdims", True):
        result = node.squeeze(result, [axis])
    node.set_output(0, result)


def _arg_of_integers(node: Node, x: Value, axis: int) -> Value:
    """By TopK, since floats cannot tell all integers apart; it returns the first of
    equal ones.
    """
    last = node.flag("select_last_index", False)
    if last:
        x = node.slice(x, axis, -1, -END, -1)
    attrs = {"k": 1, "axis": axis, "largest": node.type == "ArgMax"}
    _, place = node.make_all("TopK", [x], attrs, 2)
    if not last:
        return place
    behind = node.literal(node.static_shape(x)[axis] - 1, DataType.INT32)
    return node.eltwise("SUB", behind, place)


# Of all elements before each ---------------------------------------------------------


@HANDLERS.register("CumSum")
def _cum_sum(node: Node) -> None:
    node.emit("CumSum", [node.input(0)], _way(node))


@HANDLERS.register("CumProd")
def _cum_prod(node: Node) -> None:
    node.emit("Cumulate", [node.input(0)], {"mode": "PROD", **_way(node)})


def _way(node: Node) -> dict[str, Any]:
    return {
        "axis": int(node.constant_number(1, "axis")),
        "exclusive": node.flag("exclusive", False),
        "reverse": node.flag("reverse", False),
    }

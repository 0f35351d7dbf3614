# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions."""

from __future__ import annotations

from typing import Any

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.onnx.node import HANDLERS, Node

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


def _axes(node: Node) -> list[int] | None:
    """Axes, counted from the front; None: nothing is reduced."""
    since = _AXES_INPUT_SINCE_SUM if node.type == "ReduceSum" else _AXES_INPUT_SINCE
    rank = len(node.shape(node.input(0)))
    axes = node.integers_of("axes", 1, since, default=[]) or []
    if not axes and node.flag("noop_with_empty_axes", False):
        return None
    axes = sorted({node.axis(axis, rank) for axis in axes}) or list(range(rank))
    dims = node.shape(node.input(0))
    if any(dims[axis] == 0 for axis in axes):
        raise UnsupportedNodeError(f"reduces a dimension of length 0 ({list(dims)})")
    return axes


def _attrs(node: Node, mode: str, axes: list[int]) -> dict[str, Any]:
    return {"mode": mode, "axes": axes, "keep_dims": node.flag("keepdims", True)}


@HANDLERS.register(*_PLAIN)
def _plain(node: Node) -> None:
    x, axes, mode = node.input(0), _axes(node), _PLAIN[node.type]
    if axes:
        node.emit("Reduce", [x], _attrs(node, mode, axes))
    elif mode == "SUM_SQUARE":
        node.emit("Eltwise", [x], {"mode": "SQUARE"})
    elif mode == "L2":
        node.emit("Eltwise", [x], {"mode": "ABS"})
    else:
        node.set_output(0, x)


@HANDLERS.register("ReduceL1")
def _l1(node: Node) -> None:
    x, axes = node.input(0), _axes(node)
    if not axes:
        node.emit("Eltwise", [x], {"mode": "ABS"})
        return
    inner = node.make("Eltwise", [x], {"mode": "ABS"})
    node.emit("Reduce", [inner], _attrs(node, "SUM", axes))


@HANDLERS.register("ReduceLogSum")
def _log_sum(node: Node) -> None:
    x, axes = node.input(0), _axes(node)
    if axes:
        x = node.make("Reduce", [x], _attrs(node, "SUM", axes))
    node.emit("Eltwise", [x], {"mode": "LOG"})


@HANDLERS.register("ReduceLogSumExp")
def _log_sum_exp(node: Node) -> None:
    x, axes = node.input(0), _axes(node)
    if not axes:
        node.set_output(0, x)
        return
    # Without subtracting the largest value, exp overflows at 88.
    keep = {"axes": axes, "keep_dims": True}
    top = node.make("Reduce", [x], {"mode": "MAX", **keep})
    shifted = node.make("Eltwise", [x, top], {"mode": "SUB"})
    powers = node.make("Eltwise", [shifted], {"mode": "EXP"})
    total = node.make("Reduce", [powers], _attrs(node, "SUM", axes))
    logarithm = node.make("Eltwise", [total], {"mode": "LOG"})
    if not node.flag("keepdims", True):
        top = node.make("Squeeze", [top], {"axes": axes})
    node.emit("Eltwise", [logarithm, top], {"mode": "ADD"})


@HANDLERS.register("ArgMax", "ArgMin")
def _arg(node: Node) -> None:
    x = node.input(0)
    axis = node.axis(node.integer("axis", 0), len(node.shape(x)))
    attrs = {
        "mode": "MAX" if node.type == "ArgMax" else "MIN",
        "axis": axis,
        "last": node.flag("select_last_index", False),
    }
    if node.flag("keepdims", True):
        node.emit("ArgMax", [x], attrs)
    else:
        node.emit("Squeeze", [node.make("ArgMax", [x], attrs)], {"axes": [axis]})

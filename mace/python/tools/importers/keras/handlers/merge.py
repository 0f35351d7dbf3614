# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers with several inputs."""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context
from mace.python.tools.ir.graph import Value

_MODES = {
    "Add": "ADD",
    "Subtract": "SUB",
    "Multiply": "MUL",
    "Maximum": "MAX",
    "Minimum": "MIN",
    "Average": "ADD",
}


@HANDLERS.register(*_MODES)
def merge(context: Context) -> None:
    """Arithmetic on any number of tensors."""
    kind, values = context.layer.kind, context.inputs
    if len(values) < 2:
        raise UnsupportedNodeError(f"{len(values)} inputs")
    values = [context.as_floats(value) for value in values]
    ranks = {context.rank(value) for value in values}
    if len(ranks) > 1:
        raise UnsupportedNodeError(f"inputs of {sorted(ranks)} dimensions")
    total = values[0]
    for index, value in enumerate(values[1:]):
        total = context.step(
            "Eltwise", [total, value], f"part{index}", mode=_MODES[kind]
        )
    if kind == "Average":
        share = context.scalar(1 / len(values), "share")
        total = context.step("Eltwise", [total, share], "average", mode="MUL")
    context.give(total)


@HANDLERS.register("Concatenate")
def concatenate(context: Context) -> None:
    """Along one axis."""
    values = context.inputs
    if not values:
        raise UnsupportedNodeError("no inputs")
    axis = context.axis(context.layer.integer("axis", -1), values[0])
    context.emit("Concat", values, axis=axis)


@HANDLERS.register("Dot")
def dot(context: Context) -> None:
    """Products along one axis of each input, or cosines."""
    a, b = context.floats(0), context.floats(1)
    axes = context.layer.axes("axes")
    axes = axes * 2 if len(axes) == 1 else axes
    if len(axes) != 2:
        raise UnsupportedNodeError(f"the axes {axes}")
    axis_a, axis_b = context.axis(axes[0], a), context.axis(axes[1], b)
    if context.layer.flag("normalize"):
        a = _unit(context, a, axis_a, "a")
        b = _unit(context, b, axis_b, "b")
    ranks = context.rank(a), context.rank(b)
    if not set(ranks) <= {2, 3} or 0 in (axis_a, axis_b):
        raise UnsupportedNodeError(f"inputs of {ranks} dimensions, axes {axes}")
    is_row = [rank == 2 for rank in ranks]
    if is_row[0]:
        a, axis_a = context.step("ExpandDims", [a], "a_row", axes=[1]), 2
    if is_row[1]:
        b, axis_b = context.step("ExpandDims", [b], "b_row", axes=[1]), 2
    y = context.step(
        "MatMul", [a, b], "product", transpose_a=axis_a == 1, transpose_b=axis_b == 2
    )
    dropped = [axis for axis, row in zip((1, 2), is_row) if row]
    if len(dropped) == 2:
        dropped = [2]
    context.give(context.step("Squeeze", [y], "dot", axes=dropped) if dropped else y)


def _unit(context: Context, x: Value, axis: int, suffix: str) -> Value:
    total = context.step("Reduce", [x], f"{suffix}2", mode="SUM_SQUARE", axes=[axis])
    total = context.step("Eltwise", [total, context.scalar(1e-12)], "most", mode="MAX")
    factor = context.step("Eltwise", [total], f"{suffix}_factor", mode="RSQRT")
    return context.step("Eltwise", [x, factor], f"{suffix}_unit", mode="MUL")

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions, sums along an axis, and the place of the extreme."""

from __future__ import annotations

from mace.python.tools.importers.tflite.context import HANDLERS, Context

_MODES = {
    "MEAN": "Mean",
    "REDUCE_MAX": "Max",
    "REDUCE_MIN": "Min",
    "REDUCE_PROD": "Prod",
    "SUM": "Sum",
}


@HANDLERS.register(*_MODES)
def reduce(context: Context) -> None:
    """Reduces the axes that input 1 names."""
    keep = context.node.flag("keep_dims")
    context.apply(_MODES[context.operator.type], keep_dims=keep)


@HANDLERS.register("REDUCE_ALL", "REDUCE_ANY")
def logical(context: Context) -> None:
    """The least or largest of booleans as numbers."""
    axes = context.ints(1, "axes")
    if not axes:
        context.pass_on(context.input(0))
        return
    numbers = context.step("Cast", [context.input(0)], "numbers", to="FLOAT32")
    extreme = context.step(
        "Reduce",
        [numbers],
        "extreme",
        mode="MIN" if context.operator.type == "REDUCE_ALL" else "MAX",
        axes=axes,
        keep_dims=context.node.flag("keep_dims"),
    )
    context.emit("Cast", [extreme], to="BOOL")


@HANDLERS.register("ARG_MAX", "ARG_MIN")
def arg(context: Context) -> None:
    """The index of the extreme along an axis; 64 bits become 32."""
    context.apply("ArgMax" if context.operator.type == "ARG_MAX" else "ArgMin")


@HANDLERS.register("CUMSUM")
def cum_sum(context: Context) -> None:
    """The sums of the elements so far."""
    node = context.node
    context.apply(
        "Cumsum", exclusive=node.flag("exclusive"), reverse=node.flag("reverse")
    )

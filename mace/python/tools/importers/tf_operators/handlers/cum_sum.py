# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Cumsum and Cumprod."""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import END


@HANDLERS.register("Cumsum")
def cum_sum(context: Context) -> None:
    """tf.cumsum."""
    context.emit(
        "CumSum",
        [context.input(0)],
        axis=_axis(context),
        exclusive=context.node.flag("exclusive"),
        reverse=context.node.flag("reverse"),
    )


@HANDLERS.register("Cumprod")
def cum_prod(context: Context) -> None:
    """After step k, each element is the product of the last 2^k elements."""
    x, axis = context.input(0), _axis(context)
    axis += context.rank(0) if axis < 0 else 0
    length = x.shape[axis] if x.shape is not None else None
    if not isinstance(length, int):
        raise UnsupportedNodeError(
            f"the length of axis {axis} is not known before the run",
            "give fixed input_shapes",
        )
    if context.node.flag("exclusive"):
        x = _shifted(context, x, axis, min(1, length))
    step = 1
    while step < length:
        other = _shifted(context, x, axis, step)
        x = context.step("Eltwise", [x, other], f"products_{step}", mode="MUL")
        step *= 2
    context.results[0] = context.builder.alias(x, context.output_name())


def _shifted(context: Context, x: Value, axis: int, step: int) -> Value:
    """Moves elements `step` places on; ones come in."""
    pads = [0] * (2 * context.rank(0))
    reverse = context.node.flag("reverse")
    pads[2 * axis + (1 if reverse else 0)] = step
    cut = {"begins": [step if reverse else 0], "ends": [END if reverse else -step]}
    rest = context.step(
        "StridedSlice", [x], f"rest_{step}", axes=[axis], strides=[1], **cut
    )
    return context.step("Pad", [rest], f"shifted_{step}", pads=pads, value=1.0)


def _axis(context: Context) -> int:
    axis = context.ints(1, "axis")
    if len(axis) != 1:
        raise UnsupportedNodeError(f"axis has {len(axis)} elements, not 1")
    return axis[0]

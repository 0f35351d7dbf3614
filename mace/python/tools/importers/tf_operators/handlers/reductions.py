# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, equations, and what is computed along axes."""

from __future__ import annotations

from mace.python.tools.importers.emit.einsum import einsum
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import DataType


@HANDLERS.register("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def matmul(context: Context) -> None:
    """Product of two matrices, or of the innermost ones."""
    names = ("transpose_a", "transpose_b")
    given = names if context.node.op == "MatMul" else ("adj_x", "adj_y")
    attrs = {name: context.node.flag(own) for name, own in zip(names, given)}
    context.emit("MatMul", [context.input(0), context.input(1)], **attrs)


@HANDLERS.register("Einsum")
def einsum_of(context: Context) -> None:
    """tf.einsum."""
    equation = context.node.string("equation")
    context.pass_on(einsum(context.make, equation, context.inputs))


_REDUCTIONS = {
    "EuclideanNorm": "L2",
    "Max": "MAX",
    "Mean": "MEAN",
    "Min": "MIN",
    "Prod": "PROD",
    "Sum": "SUM",
}


@HANDLERS.register(*_REDUCTIONS)
def reduce(context: Context) -> None:
    """Reduces the axes that input 1 names."""
    x, axes, mode = context.input(0), context.ints(1, "axes"), context.node.op
    if not axes and mode != "EuclideanNorm":  # TensorFlow's empty list folds nothing
        context.pass_on(x)
        return
    attrs = {"axes": axes, "keep_dims": _keeps(context)}
    context.emit("Reduce", [x], mode=_REDUCTIONS[mode], **attrs)


def _keeps(context: Context) -> bool:
    return context.node.flag("keep_dims") or context.node.flag("keepdims")


@HANDLERS.register("All", "Any")
def conditions(context: Context) -> None:
    """Over some axes, as the numbers 0 and 1."""
    x, axes = context.input(0), context.ints(1, "axes")
    if not axes:
        context.pass_on(x)
        return
    mode = "MIN" if context.node.op == "All" else "MAX"
    attrs = {"mode": mode, "axes": axes, "keep_dims": _keeps(context)}
    found = context.step("Reduce", [context.cast(x, DataType.FLOAT32)], **attrs)
    context.emit("Cast", [found], to="BOOL")


@HANDLERS.register("L2Loss")
def l2_loss(context: Context) -> None:
    """Half of the sum of squares."""
    attrs = {"mode": "SUM_SQUARE", "keep_dims": False}
    total = context.step("Reduce", [context.input(0)], "total", **attrs)
    context.emit_eltwise("MUL", total, 0.5)


@HANDLERS.register("ArgMax", "ArgMin")
def arg(context: Context) -> None:
    """The index of the extreme along an axis, which is removed; 64 bits become 32."""
    axis = context.integer(1, "dimension")
    axis += context.rank(0) if axis < 0 else 0
    mode = "MAX" if context.node.op == "ArgMax" else "MIN"
    where = context.step("ArgMax", [context.input(0)], "where", mode=mode, axis=axis)
    context.emit("Squeeze", [where], axes=[axis])


@HANDLERS.register("Cumsum")
def cum_sum(context: Context) -> None:
    """tf.cumsum."""
    attrs = {name: context.node.flag(name) for name in ("exclusive", "reverse")}
    axis = context.integer(1, "axis")
    context.emit("CumSum", [context.input(0)], axis=axis, **attrs)

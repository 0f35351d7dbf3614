# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements that a condition or positions select, the largest, and other orders."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import DataType

_SCATTER = {
    "ScatterNdNonAliasingAdd": "ADD",
    "TensorScatterAdd": "ADD",
    "TensorScatterMax": "MAX",
    "TensorScatterMin": "MIN",
    "TensorScatterUpdate": "SET",
}
_NUMBERS = (DataType.FLOAT32, DataType.INT32)


@HANDLERS.register("SelectV2")
def select_v2(context: Context) -> None:
    """tf.where with three arguments, which broadcast."""
    context.emit("Where", [context.input(i) for i in range(3)])


@HANDLERS.register("Select")
def select(context: Context) -> None:
    """Like SelectV2, but a vector selects along the first axis."""
    condition = context.input(0)
    rank = context.rank(1)
    if context.rank(0) == 1 and rank > 1:
        axes = list(range(1, rank))
        condition = context.step("ExpandDims", [condition], "rows", axes=axes)
    context.emit("Where", [condition, context.input(1), context.input(2)])


@HANDLERS.register("OneHot")
def one_hot(context: Context) -> None:
    """Indices outside of the depth give no 1."""
    depth, axis = context.integer(1, "depth"), context.node.integer("axis", -1)
    values = context.step("Stack", [context.input(3), context.input(2)], "values")
    context.emit("OneHot", [context.input(0), values], depth=depth, axis=axis)


@HANDLERS.register("TopKV2")
def top_k(context: Context) -> None:
    """tf.math.top_k; if `sorted` is false, any order is allowed."""
    x, k = context.input(0), context.integer(1, "k")
    if x.dtype not in _NUMBERS:
        raise UnsupportedNodeError(f"elements of type {x.dtype.value}")
    names = [context.output_name(0), context.output_name(1)]
    attrs = {"k": k, "axis": -1, "largest": True}
    values = context.builder.op("TopK", [x], names, attrs, context.node.name)
    context.results.update(enumerate(values))


@HANDLERS.register("GatherNd")
def gather_nd(context: Context) -> None:
    """tf.gather_nd."""
    context.emit("GatherNd", [context.input(0), context.input(1)])


@HANDLERS.register("ScatterNd")
def scatter_nd(context: Context) -> None:
    """Sums of updates in a tensor of zeros."""
    updates = context.input(1)
    if updates.dtype not in _NUMBERS:
        raise UnsupportedNodeError(f"elements of type {updates.dtype.value}")
    shape = context.ints(2, "shape")
    zeros = context.constant(np.zeros(shape, updates.dtype.numpy), "zeros")
    context.emit("Scatter", [zeros, context.input(0), updates], mode="ADD")


@HANDLERS.register(*_SCATTER)
def tensor_scatter(context: Context) -> None:
    """A tensor with some slices replaced, or combined with updates."""
    inputs = [context.input(i) for i in range(3)]
    context.emit("Scatter", inputs, mode=_SCATTER[context.node.op])


@HANDLERS.register("TensorScatterSub")
def tensor_scatter_sub(context: Context) -> None:
    """Subtracts updates."""
    data, indices, updates = (context.input(i) for i in range(3))
    negative = context.eltwise("NEG", updates)
    context.emit("Scatter", [data, indices, negative], mode="ADD")


@HANDLERS.register("Where")
def where(context: Context) -> None:
    """tf.where with one argument: a row for each position, which each run counts."""
    positions = context.standard.op("NonZero", context.input(0))
    context.emit("Transpose", [positions], perm=[1, 0])

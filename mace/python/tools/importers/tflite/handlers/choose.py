# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements selected by a condition or an index, and tensors made of a few numbers."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.context import HANDLERS, STATIC_HINT, Context
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_OF_TENSORFLOW = {
    "FILL": "Fill",
    "RANGE": "Range",
    "RANK": "Rank",
    "SELECT": "Select",
    "SELECT_V2": "SelectV2",
    "SHAPE": "Shape",
    "ZEROS_LIKE": "ZerosLike",
}


@HANDLERS.register(*_OF_TENSORFLOW)
def plain(context: Context) -> None:
    """Operators without attributes."""
    context.apply(_OF_TENSORFLOW[context.operator.type])


@HANDLERS.register("ONE_HOT")
def one_hot(context: Context) -> None:
    """Indices outside of the depth give no 1."""
    context.apply("OneHot", axis=context.node.integer("axis"))


@HANDLERS.register("GATHER")
def gather(context: Context) -> None:
    """Selects slices by index along an axis."""
    x, indices = context.input(0), _indices(context, 1)
    axis, batch = context.node.integer("axis"), context.node.integer("batch_dims")
    if not batch:
        context.emit("Gather", [x, indices], axis=axis)
        return
    rank = context.rank(1)
    batch += rank if batch < 0 else 0
    axis += context.rank(0) if axis < 0 else 0
    if not 0 <= batch <= min(axis, rank):
        raise UnsupportedNodeError(f"batch_dims is {batch}, axis {axis}")
    # The axis comes first behind those of the batch, and its elements back to where
    # it was.
    order = [axis if a == batch else a for a in range(context.rank(0))]
    order[batch + 1 : axis + 1] = range(batch, axis)
    if axis != batch:
        x = context.step("Transpose", [x], "axis_first", perm=order)
    places = context.step("ExpandDims", [indices], "places", axes=[rank])
    if axis == batch:
        context.emit("GatherNd", [x, places], batch_dims=batch)
        return
    found = context.step("GatherNd", [x, places], "found", batch_dims=batch)
    between = list(range(rank, rank + axis - batch))
    rest = list(range(rank + axis - batch, context.rank(0) - 1 + rank - batch))
    back = [*range(batch), *between, *range(batch, rank), *rest]
    context.emit("Transpose", [found], perm=back)


@HANDLERS.register("EMBEDDING_LOOKUP")
def embedding_lookup(context: Context) -> None:
    """Selects rows; the indices are input 0."""
    context.emit("Gather", [context.input(1), _indices(context, 0)], axis=0)


def _indices(context: Context, index: int) -> Value:
    value = context.input(index)
    if value.dtype is not DataType.INT32:
        raise UnsupportedNodeError(f"indices of {value.dtype.value}")
    return value


@HANDLERS.register("GATHER_ND")
def gather_nd(context: Context) -> None:
    """Selects by an index for each of the first axes, which are made one axis."""
    x, indices = context.input(0), _indices(context, 1)
    dims = context.static_shape(x)
    shape = context.static_shape(indices)
    if not shape or not 1 <= shape[-1] <= len(dims):
        raise UnsupportedNodeError(
            f"indices of {list(shape)} for {len(dims)} dimensions", STATIC_HINT
        )
    count = shape[-1]
    rows = [math.prod(dims[:count]), *dims[count:]]
    flat = context.step("Reshape", [x], "rows", shape=rows)
    total: Value | None = None
    for axis in range(count):
        part = context.step(
            "StridedSlice",
            [indices],
            "index",
            axes=[len(shape) - 1],
            begins=[axis],
            ends=[axis + 1],
            strides=[1],
            shrink_axes=[len(shape) - 1],
        )
        step = np.array(math.prod(dims[axis + 1 : count]), np.int32)
        factor = context.constant(step, "step")
        part = context.step("Eltwise", [part, factor], "offset", mode="MUL")
        if total is not None:
            part = context.step("Eltwise", [total, part], "sum", mode="ADD")
        total = part
    context.emit("Gather", [flat, total], axis=0)

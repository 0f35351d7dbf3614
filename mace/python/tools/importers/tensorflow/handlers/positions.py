# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements at given positions, the largest elements, and reversed sequences."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.tensorflow.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import DataType

_SCATTER = {
    "TensorScatterAdd": "ADD",
    "TensorScatterMax": "MAX",
    "TensorScatterMin": "MIN",
    "TensorScatterUpdate": "SET",
}
_NUMBERS = (DataType.FLOAT32, DataType.INT32)


@HANDLERS.register("TopKV2")
def top_k(context: Context) -> None:
    """tf.math.top_k; if `sorted` is false, any order is allowed."""
    x, k = context.input(0), context.ints(1, "k")
    if len(k) != 1:
        raise UnsupportedNodeError(f"k has {len(k)} elements, not 1")
    if x.dtype not in _NUMBERS:
        raise UnsupportedNodeError(f"elements of type {x.dtype.value}")
    names = [context.output_name(0), context.output_name(1)]
    attrs = {"k": k[0], "axis": -1, "largest": True}
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
    negative = context.step("Eltwise", [updates], "negative", mode="NEG")
    context.emit("Scatter", [data, indices, negative], mode="ADD")


@HANDLERS.register("ReverseSequence")
def reverse_sequence(context: Context) -> None:
    """Reverses the first elements of each sequence."""
    x, lengths = context.input(0), context.input(1)
    rank = context.rank(0)
    time, batch = context.node.integer("seq_dim"), context.node.integer("batch_dim")
    if time == batch or not (0 <= time < rank and 0 <= batch < rank):
        raise UnsupportedNodeError(f"seq_dim is {time}, batch_dim {batch}")
    steps = x.shape[time] if x.shape is not None else None
    if not isinstance(steps, int):
        raise UnsupportedNodeError(
            f"the number of time steps of {x.name} is not known before the run",
            "give fixed input_shapes",
        )
    # Element i < n of a sequence comes from n - 1 - i, the others stay.
    place = context.constant(np.arange(steps, dtype=np.int32)[None, :], "places")
    one = context.constant(np.ones((), np.int32), "one")
    count = context.step("ExpandDims", [lengths], "counts", axes=[1])
    last = context.step("Eltwise", [count, one], "last", mode="SUB")
    mirrored = context.step("Eltwise", [last, place], "mirrored", mode="SUB")
    inside = context.step("Eltwise", [place, count], "inside", mode="LESS")
    source = context.step("Where", [inside, mirrored, place], "from")
    source = context.step("ExpandDims", [source], "positions", axes=[2])
    others = [axis for axis in range(rank) if axis not in (time, batch)]
    there = [batch, time, *others]
    if there == list(range(rank)):
        context.emit("GatherNd", [x, source], batch_dims=1)
        return
    turned = context.step("Transpose", [x], "sequences", perm=there)
    turned = context.step("GatherNd", [turned, source], "reversed", batch_dims=1)
    back = [there.index(axis) for axis in range(rank)]
    context.emit("Transpose", [turned], perm=back)


@HANDLERS.register("Unique", "UniqueV2", "Where")
def data_dependent(context: Context) -> None:
    """Operators whose results have a size that nobody knows before the run."""
    raise UnsupportedNodeError(
        f"the size of the result depends on the elements of {context.input(0).name}",
        "cut the model before it and do this step in the app",
    )

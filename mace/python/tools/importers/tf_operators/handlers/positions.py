# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements at given positions, the largest elements, and reversed sequences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.shapes import normalize_axis

_SCATTER = {
    "ScatterNdNonAliasingAdd": "ADD",
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


@HANDLERS.register("Where")
def where(context: Context) -> None:
    """tf.where with one argument: a row for each position, which each run counts."""
    mask = context.input(0)
    if context.rank(0) == 0:
        raise UnsupportedNodeError(f"{mask.name} has no dimensions")
    if mask.is_constant:
        found = np.argwhere(mask.numpy()).astype(np.int32)
        name = context.output_name()
        context.results[0] = context.builder.constant(name, found)
        return
    names = [f"{context.node.name}/{part}" for part in ("positions", "count")]
    positions, count = context.builder.op(
        "NonZero", [mask], _fresh(context, names), source=False
    )
    context.builder.counted.add(positions, Counted(count, 1))
    context.emit("Transpose", [positions], perm=[1, 0])


@HANDLERS.register("Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2")
def unique(context: Context) -> None:
    """The different elements, or slices, in the order of the input."""
    x, perm = context.input(0), [0]
    if context.node.op.endswith("V2"):
        rank, axes = context.rank(0), context.ints(1, "axis")
        axis = normalize_axis(axes[0], rank) if axes else 0
        # Changing places with the first axis is its own inverse.
        perm = [*range(rank)]
        perm[0], perm[axis] = axis, 0
    rows = x
    if perm != sorted(perm):
        rows = context.step("Transpose", [rows], "rows", perm=perm)
    if x.dtype not in _NUMBERS:
        rows = context.step("Cast", [rows], "wide", to="INT32")
    parts = ("values", "indices", "inverse", "counts", "count")
    names = [f"{context.node.name}/{part}" for part in parts]
    values, _, inverse, counts, count = context.builder.op(
        "Unique", [rows], _fresh(context, names), {"sorted": False}, source=False
    )
    if x.is_constant:
        found = int(count.numpy()[0])
        values, counts = (
            context.builder.constant(f"{context.node.name}/known", v.numpy()[:found])
            for v in (values, counts)
        )
    else:
        for value in (values, counts):
            context.builder.counted.add(value, Counted(count, 0))
    if x.dtype not in _NUMBERS:
        to = x.dtype.value.upper()
        values = context.step("Cast", [values], "narrow", to=to)
    if perm != sorted(perm):
        values = context.step("Transpose", [values], "back", perm=perm)
    outputs = [values, inverse]
    if "Counts" in context.node.op:
        outputs.append(counts)
    for index, value in enumerate(outputs):
        name = context.output_name(index)
        context.results[index] = context.builder.alias(value, name)


def _fresh(context: Context, names: Sequence[str]) -> list[str]:
    return [context.builder.graph.unique_name(name) for name in names]

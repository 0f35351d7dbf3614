# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sequences in the other order, permutations undone, different elements, and
numbers that follow from others.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.shapes import normalize_axis


@HANDLERS.register("ReverseSequence")
def reverse_sequence(context: Context) -> None:
    """Reverses the first elements of each sequence."""
    x, lengths = context.input(0), context.input(1)
    rank = context.rank(0)
    time, batch = context.node.integer("seq_dim"), context.node.integer("batch_dim")
    if time == batch or not (0 <= time < rank and 0 <= batch < rank):
        raise UnsupportedNodeError(f"seq_dim is {time}, batch_dim {batch}")
    there = [batch, time, *(a for a in range(rank) if a not in (time, batch))]
    operators = context.standard
    turned = operators.transpose(x, there)
    axes = {"batch_axis": 0, "time_axis": 1}
    turned = operators.op("ReverseSequence", turned, lengths, **axes)
    back = [there.index(axis) for axis in range(rank)]
    context.pass_on(operators.transpose(turned, back))


@HANDLERS.register("InvertPermutation")
def invert(context: Context) -> None:
    """Where each number is."""
    x = context.input(0)
    size = context.length(x, 0)
    zeros = context.constant(np.zeros(size, np.int32), "zeros")
    numbers = context.constant(np.arange(size, dtype=np.int32), "numbers")
    places = context.step("ExpandDims", [x], "places", axes=[1])
    context.emit("Scatter", [zeros, places, numbers], mode="SET")


@HANDLERS.register("Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2")
def unique(context: Context) -> None:
    """The different elements, or slices, in the order of the input."""
    x, axis = context.input(0), None
    if context.node.op.endswith("V2"):
        axes = context.ints(1, "axis")
        axis = normalize_axis(axes[0], context.rank(0)) if axes else 0
    values, _, inverse, counts = context.standard.op_all(
        "Unique", [x], 4, sorted=0, axis=axis
    )
    outputs = [values, inverse]
    if "Counts" in context.node.op:
        outputs.append(counts)
    for index, value in enumerate(outputs):
        context.pass_on(value, index)


@HANDLERS.register("BroadcastArgs")
def broadcast_args(context: Context) -> None:
    """The shape of what two shapes broadcast to, which must be known."""
    shapes = [context.ints(i, "a shape") for i in range(2)]
    try:
        context.give(np.asarray(np.broadcast_shapes(*map(tuple, shapes)), np.int32))
    except ValueError:
        raise UnsupportedNodeError(
            f"{shapes} do not broadcast", context.static_hint
        ) from None


@HANDLERS.register("LinSpace")
def lin_space(context: Context) -> None:
    """Numbers in equal distances, from constants."""
    start, stop = (
        float(np.asarray(context.values(i, w)).reshape(()))
        for i, w in enumerate(("start", "stop"))
    )
    count = context.integer(2, "num")
    if count < 1:
        raise UnsupportedNodeError(f"{count} numbers")
    check_made(count)
    context.give(np.linspace(start, stop, count).astype(np.float32))

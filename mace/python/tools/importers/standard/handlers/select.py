# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that choose elements: by positions, by conditions, by size."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.emit.lengths import Count, Length
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.counts import Counts
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import DataType

_BYTES = (DataType.INT8, DataType.UINT8)


@HANDLERS.register("TopK")
def _top_k(node: Node) -> None:
    x, lengths = node.input(0), Counts(node)
    axis = node.axis(node.integer("axis", -1), len(node.shape(x)))
    k, counted = _k(lengths), lengths.of(x)
    largest = node.flag("largest", True)
    if counted is not None and counted.axis == axis:
        k = lengths.compute("MIN", lengths.of_axis(x, axis), k)
        x = lengths.masked(x, -np.inf if largest else np.inf)
    elif isinstance(k, Count):
        if counted is not None:
            raise UnsupportedNodeError(
                f"k ({node.input(1).name}) depends on the data, and so does the length "
                f"of axis {counted.axis}"
            )
        limit = lengths.compute("MIN", k.most, lengths.in_memory(x, axis))
        k = Count(k.value, lengths.most(limit))
    # If `sorted` is 0, any order is allowed.
    most = lengths.most(k)
    given = [] if isinstance(most, int) else [lengths.value(most)]
    attrs = {"k": 0 if given else most, "axis": axis, "largest": largest}
    wide = node.cast(x, DataType.INT32) if x.dtype in _BYTES else x
    values, indices = node.make_all("TopK", [wide, *given], attrs, 2)
    if wide is not x:
        values = node.cast(values, x.dtype)
    for index, value in enumerate((values, indices)):
        node.set_output(index, lengths.limited(value, k, axis))


def _k(lengths: Counts) -> Length:
    """How many elements are wanted."""
    node = lengths.node
    if node.opset < 10:
        return node.integer("k", 0)
    numbers = lengths.numbers(node.input(1))
    if numbers is None:
        node.require_shape_only(node.input(1), "k")
        return node.input(1)
    if len(numbers) != 1:
        raise UnsupportedNodeError(f"k has {len(numbers)} elements, not 1")
    return numbers[0]


@HANDLERS.register("GatherND")
def _gather_nd(node: Node) -> None:
    attrs = {"batch_dims": node.integer("batch_dims", 0)}
    node.emit("GatherNd", [node.input(0), node.input(1)], attrs)


@HANDLERS.register("ReverseSequence")
def _reverse_sequence(node: Node) -> None:
    x, lengths = node.input(0), node.input(1)
    time, batch = node.integer("time_axis", 0), node.integer("batch_axis", 1)
    shape = node.shape(x)
    if sorted((time, batch)) != [0, 1] or len(shape) < 2:
        raise UnsupportedNodeError(
            f"time_axis is {time}, batch_axis {batch}; one needs to be 0, the other 1"
        )
    what = f"the number of time steps of {x.name} is"
    (steps,) = node.known_dims([shape[time]], what)
    # Element i < n of a sequence comes from n - 1 - i, the others stay.
    place = node.literal(np.arange(steps)[None, :], DataType.INT32)
    count = node.expand_dims(lengths, [1])
    last = node.eltwise("SUB", count, node.scalar(1, count))
    mirrored = node.eltwise("SUB", last, place)
    inside = node.eltwise("LESS", place, count)
    source = node.make("Where", [inside, mirrored, place])
    source = node.expand_dims(source, [2])
    attrs = {"batch_dims": 1}
    if batch == 0:
        node.emit("GatherNd", [x, source], attrs)
        return
    swapped = {"perm": [1, 0, *range(2, len(shape))]}
    turned = node.make("Transpose", [x], swapped)
    reversed_ = node.make("GatherNd", [turned, source], attrs)
    node.emit("Transpose", [reversed_], swapped)


# Elements that each run finds --------------------------------------------------------


@HANDLERS.register("NonZero")
def _non_zero(node: Node) -> None:
    leave_to_folding(node)
    if not node.shape(node.input(0)):
        raise UnsupportedNodeError(f"{node.input(0).name} has no dimensions")
    node.set_output(0, Counts(node).found(node.input(0))[0])


def leave_to_folding(node: Node) -> None:
    """Of an input that is known now, the converter computes the result."""
    value = node.input(0)
    if value.is_constant:
        raise UnsupportedNodeError(f"{value.name} is too large to search it now")


# Elements that a condition or an index chooses ---------------------------------------


@HANDLERS.register("Where")
def _where(node: Node) -> None:
    node.emit("Where", [node.input(i) for i in range(3)])


@HANDLERS.register("OneHot")
def _one_hot(node: Node) -> None:
    indices = node.input(0)
    depth = int(node.constant_number(1, "the depth"))
    if indices.dtype.is_float:
        indices = node.cast(indices, DataType.INT32)
    attrs = {"depth": depth, "axis": node.integer("axis", -1), "wrap": True}
    node.emit("OneHot", [indices, node.input(2)], attrs)


@HANDLERS.register("GatherElements")
def _gather_elements(node: Node) -> None:
    attributes = {"axis": node.integer("axis", 0)}
    node.emit("GatherElements", [node.input(0), node.input(1)], attributes)

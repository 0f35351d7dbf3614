# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that write elements to given positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mace.python.tools.importers.emit.lengths import Length
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.counts import Counts, never_negative
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_REDUCTIONS = {"none": "SET", "add": "ADD", "mul": "MUL", "max": "MAX", "min": "MIN"}
_BYTES = (DataType.INT8, DataType.UINT8)


@HANDLERS.register("Scatter", "ScatterElements")
def _scatter_elements(node: Node) -> None:
    _scatter(node, {"form": "ELEMENTS", "axis": node.integer("axis", 0)})


@HANDLERS.register("ScatterND")
def _scatter_nd(node: Node) -> None:
    _scatter(node, {"form": "SLICES"})


def _scatter(node: Node, attrs: dict[str, str | int]) -> None:
    attrs["mode"] = node.choice("reduction", "none", _REDUCTIONS)
    inputs, lengths = [node.input(i) for i in range(3)], Counts(node)
    places, updates = (lengths.of(value) for value in inputs[1:])
    if updates is not None and places is None:
        raise UnsupportedNodeError(
            f"the run determines how many updates count, but not how many of "
            f"{inputs[1].name}"
        )
    axis = int(attrs.get("axis", 0))
    if places is not None:
        axis = node.axis(axis, len(node.shape(inputs[0])))
    if places is None or {places.axis, (updates or places).axis} != {axis}:
        node.set_output(0, _scattered(node, inputs, attrs))
        return
    with node.builder.counted.suspended():
        inputs = _with_spare_place(lengths, inputs, axis, attrs["form"] == "SLICES")
        result = _scattered(node, inputs, attrs)
        result = node.slice(result, axis, 0, -1)
    data = lengths.of(node.input(0))
    if data is not None:
        node.builder.counted.add(result, data)
    node.set_output(0, result)


def _scattered(
    node: Node, inputs: Sequence[Value], attrs: Mapping[str, str | int]
) -> Value:
    data, indices, updates = inputs
    if data.dtype not in _BYTES or attrs["mode"] == "SET":
        return node.make("Scatter", inputs, attrs)
    wide = [node.cast(x, DataType.INT32) for x in (data, updates)]
    result = node.make("Scatter", [wide[0], indices, wide[1]], attrs)
    # Sums and products beyond the type wrap around.
    return node.cast(result, data.dtype)


def _with_spare_place(
    lengths: Counts, inputs: Sequence[Value], axis: int, of_slices: bool
) -> list[Value]:
    """The operands with one more place at the end of an axis of the data, to which
    everything is written that does not count.
    """
    node, (x, index, written) = lengths.node, inputs
    places, updates = lengths.of(index), lengths.of(written)
    assert places is not None
    inside = lengths.inside(index, places.axis)
    pads = [0] * (2 * len(node.shape(x)))
    pads[2 * axis + 1] = 1
    longer = node.make("Pad", [x], {"pads": pads})
    # The rows of an index name places along more axes than the one that counts.
    others = _last_of(node, index) - 1 if of_slices else 0

    def row(length: Length) -> Value:
        return lengths.listed([length, *[0] * others])

    if not never_negative(index):
        index = lengths.from_end(index, row(lengths.of_axis(x, axis)))
    lined = [-1, *[1] * (len(node.shape(index)) - 1 - places.axis)]
    inside = node.reshape(inside, lined)
    index = node.make("Where", [inside, index, row(lengths.in_memory(x, axis))])
    if updates is not None:
        # Fewer updates than places for them: where all of the places cannot count.
        at, wanted = updates.axis, node.shape(index)[places.axis]
        if wanted != node.shape(written)[at]:
            wanted = node.static_shape(index)[places.axis]
            written = lengths.longer(written, at, wanted)
    return [longer, index, written]


def _last_of(node: Node, index: Value) -> int:
    """The number of axes that the rows of an index name."""
    what = f"the last dimension of {index.name} is"
    return node.known_dims(node.shape(index)[-1:], what)[0]


@HANDLERS.register("TensorScatter")
def _tensor_scatter(node: Node) -> None:
    past, update = node.input(0), node.input(1)
    shape, new = node.static_shape(past), node.static_shape(update)
    axis = node.axis(node.integer("axis", -2), len(shape))
    goes_round = node.choice("mode", "linear", {"linear": False, "circular": True})
    if axis == 0 or len(new) != len(shape):
        raise UnsupportedNodeError(f"axis is {axis}, shapes {list(shape)}, {list(new)}")
    lead = new[: axis + 1]
    places: list[Value] = []
    if axis > 0:
        grid = np.moveaxis(np.indices(lead)[:axis], 0, -1)
        places.append(node.literal(grid, DataType.INT32))
    along = np.broadcast_to(np.arange(new[axis])[:, None], (*lead, 1))
    position = node.literal(along, DataType.INT32)
    if node.has_input(2):
        start = node.reshape(node.input(2), [new[0]] + [1] * (axis + 1))
        position = node.eltwise("ADD", position, start)
    if goes_round:
        length = node.scalar(shape[axis], position)
        position = node.eltwise("FLOOR_MOD", position, length)
    indices = node.make("Concat", [*places, position], {"axis": axis + 1})
    node.emit("Scatter", [past, indices, update], {"form": "SLICES"})

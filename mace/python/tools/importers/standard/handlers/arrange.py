# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that join, slice, select and pad."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.emit.lengths import Count, Length
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.counts import Counts, never_negative
from mace.python.tools.importers.standard.lengths import NodeLengths, is_open
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.dims import Dim, add
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import END, static

# Each copy becomes an operator; no real model has more than this.
_MOST_COPIES = 256
# The lowest 64-bit integer after narrowing, with a tolerance of one.
_LOWEST = -(2**31) + 1


@HANDLERS.register("Concat")
def _concat(node: Node) -> None:
    values = [node.input(index) for index in range(len(node.inputs))]
    # Before operator set 4, the attribute axis had a default.
    axis = node.axis(node.integer("axis", 1), len(node.shape(values[0])))
    if len(values) == 1:
        node.set_output(0, values[0])
        return
    lengths = Counts(node)
    counted = [found.axis for value in values if (found := lengths.of(value))]
    if set(counted) != {axis}:
        node.emit("Concat", values, {"axis": axis})
        return
    total = lengths.total([lengths.of_axis(value, axis) for value in values])
    with node.builder.counted.suspended():
        joined = node.make("Concat", values, {"axis": axis})
        if any(lengths.of(value) is not None for value in values[:-1]):
            # Otherwise what counts is in front already.
            places = _front(lengths, values, axis)
            joined = node.make("Gather", [joined, places], {"axis": axis})
    node.set_output(0, lengths.limited(joined, total, axis))


def _front(lengths: Counts, parts: Sequence[Value], axis: int) -> Value:
    """The positions of what counts of joined parts, one after the other."""
    node = lengths.node
    masks = [lengths.inside(part, axis) for part in parts]

    def positions() -> Value:
        joined = node.make("Concat", masks, {"axis": 0})
        places, _ = node.make_all("NonZero", [joined], {}, 2)
        return node.squeeze(places, [0])

    return node.builder.counted.remember(("joined", *masks), positions)


@HANDLERS.register("Split")
def _split(node: Node) -> None:
    x = node.input(0)
    dims = node.shape(x)
    axis = node.axis(node.integer("axis", 0), len(dims))
    count = node.output_count
    length = dims[axis]
    if _has_open_parts(node, length):
        _split_open(node, x, axis)
        return
    sizes = _split_sizes(node, count, length)
    node.emit("Split", [x], {"axis": axis, "sizes": sizes})


def _has_open_parts(node: Node, length: Dim) -> bool:
    """Whether each run determines the sizes of the parts."""
    if node.opset >= 13 and node.has_input(1):
        return is_open(node.input(1))
    # Before operator set 18, all parts had the same size.
    return node.opset >= 18 and not isinstance(length, int)


def _split_open(node: Node, x: Value, axis: int) -> None:
    lengths, count = NodeLengths(node), node.output_count
    if node.has_input(1):
        parts = [lengths.element(node.input(1), index) for index in range(count)]
    else:
        rest = lengths.compute("ADD", lengths.of_axis(x, axis), count - 1)
        parts = [lengths.compute("FLOOR_DIV", rest, count)] * count
    begin: Length = 0
    for index, part in enumerate(parts):
        end = lengths.compute("ADD", begin, part)
        node.set_output(index, lengths.sliced(x, axis, begin, end))
        begin = end


def _split_sizes(node: Node, count: int, length: Any) -> list[int]:
    if node.opset < 2 and node.has_input(1):
        return node.constant_ints(1, "split")
    sizes = node.integers_of("split", 1, since=13)
    if sizes is not None:
        return sizes
    asked = node.integer("num_outputs", count)
    if asked != count:
        raise UnsupportedNodeError(
            f"num_outputs is {asked}, but the node has {count} outputs"
        )
    if node.opset < 18 or not isinstance(length, int) or length % count == 0:
        return []
    # The last part gets the rest.
    chunk = -(-length // count)
    return [*([chunk] * (count - 1)), length - chunk * (count - 1)]


@HANDLERS.register("Slice")
def _slice(node: Node) -> None:
    x = node.input(0)
    rank = len(node.shape(x))
    if node.opset < 10:
        begins, ends = node.integers("starts"), node.integers("ends")
        axes = node.integers("axes", range(len(begins)))
        strides = [1] * len(begins)
    elif (counted := _slice_counted(Counts(node))) is not None:
        node.set_output(0, counted)
        return
    elif is_open(node.input(1)) or is_open(node.input(2)):
        _slice_open(node, x)
        return
    else:
        begins = node.constant_ints(1, "starts")
        ends = node.constant_ints(2, "ends")
        axes, strides = list(range(len(begins))), [1] * len(begins)
        if node.has_input(3):
            axes = node.constant_ints(3, "axes")
        if node.has_input(4):
            strides = node.constant_ints(4, "steps")
    if not len(begins) == len(ends) == len(axes) == len(strides):
        raise UnsupportedNodeError("starts, ends, axes and steps differ in length")
    axes = [node.axis(axis, rank) for axis in axes]
    if len(set(axes)) != len(axes):
        raise UnsupportedNodeError(f"axes {axes} repeat")
    if 0 in strides:
        raise UnsupportedNodeError("a step is 0")
    begins = [
        _first_backwards(begin, node.shape(x)[axis]) if stride < 0 else begin
        for axis, begin, stride in zip(axes, begins, strides)
    ]
    attrs = {"axes": axes, "begins": begins, "ends": ends, "strides": strides}
    node.emit("StridedSlice", [x], attrs)


def _slice_open(node: Node, x: Value) -> None:
    """A slice between positions that the run computes from shapes."""
    lengths, rank = NodeLengths(node), len(node.shape(x))
    axes = node.constant_ints(3, "axes") if node.has_input(3) else None
    steps = node.constant_ints(4, "steps") if node.has_input(4) else None
    count = len(lengths.known(node.input(1)))
    axes, steps = axes or list(range(count)), steps or [1] * count
    ends = len(lengths.known(node.input(2)))
    axes = [node.axis(axis, rank) for axis in axes]
    if not count == ends == len(axes) == len(steps):
        raise UnsupportedNodeError("starts, ends, axes and steps differ in length")
    if 0 in steps or len(set(axes)) != count:
        raise UnsupportedNodeError(f"steps are {steps}, axes {axes}")
    for index, (axis, step) in enumerate(zip(axes, steps)):
        begin, end = (lengths.element(node.input(port), index) for port in (1, 2))
        x = lengths.sliced(x, axis, begin, end, step)
    node.set_output(0, x)


def _slice_counted(lengths: Counts) -> Value | None:
    """A slice of what counts, or between positions that counts or data determine; None
    if it is neither.
    """
    node, x = lengths.node, lengths.node.input(0)
    counted, bounds = lengths.of(x), [node.input(1), node.input(2)]
    if counted is None and all(node.unshaped(bound) is None for bound in bounds):
        return None
    begins, ends = (lengths.numbers(bound) for bound in bounds)
    axes, steps = (
        lengths.numbers(node.input(i)) if node.has_input(i) else [] for i in (3, 4)
    )
    if axes is None or steps is None:
        return None  # where there are no counts, it is said why
    if begins is None or ends is None:
        return _slice_anywhere(lengths, axes, steps)
    at = -1 if counted is None else counted.axis
    count: Length = 0 if counted is None else lengths.of_axis(x, at)
    attrs: dict[str, list[int]] = {
        name: [] for name in ("axes", "begins", "ends", "strides")
    }
    axes, steps = axes or list(range(len(begins))), steps or [1] * len(begins)
    for begin, end, axis, step in zip(begins, ends, axes, steps):
        if not isinstance(axis, int) or not isinstance(step, int) or step < 0:
            return None
        axis = node.axis(axis, len(node.shape(x)))
        if not isinstance(begin, int) or isinstance(end, Value):
            return None
        if axis == at or isinstance(end, Count):
            # The first elements of those that count, or as many as a count says.
            if (begin, step) != (0, 1) or at not in (-1, axis):
                return None
            if isinstance(end, int) and end < 0:
                return None
            if counted is None:
                count = end
            elif end != END:
                count = lengths.compute("MIN", count, end)
            at, most = axis, lengths.most(end)
            end = most if isinstance(most, int) else END
        for name, number in zip(attrs, (axis, begin, min(end, END), step)):
            attrs[name].append(number)
    if at not in attrs["axes"]:
        return None
    with node.builder.counted.suspended():
        result = node.make("StridedSlice", [x], attrs)
    return lengths.limited(result, count, at)


def _slice_anywhere(
    lengths: Counts, axes: Sequence[Length], steps: Sequence[Length]
) -> Value | None:
    """A slice along one axis from or to a position that the run computes."""
    node, x = lengths.node, lengths.node.input(0)
    bounds, counted = [node.input(1), node.input(2)], lengths.of(x)
    axis = axes[0] if axes else 0
    if (
        any(node.static_shape(bound) != (1,) for bound in bounds)
        or not isinstance(axis, int)
        or list(steps or [1]) != [1]
    ):
        raise UnsupportedNodeError(
            f"starts ({bounds[0].name}) and ends ({bounds[1].name}) are computed at "
            "run time; this is supported along one axis, with step 1"
        )
    axis = node.axis(axis, len(node.shape(x)))
    if counted is not None and counted.axis != axis:
        return None
    size, length = lengths.value(lengths.of_axis(x, axis)), lengths.in_memory(x, axis)
    begin, end = (
        lengths.compute("MIN", lengths.compute("MAX", place, 0), size)
        for place in (lengths.from_end(bound, size) for bound in bounds)
    )
    count = lengths.compute("MAX", lengths.compute("SUB", end, begin), 0)
    places = node.eltwise("ADD", lengths.positions(length), lengths.value(begin))
    last = lengths.compute("MAX", lengths.compute("SUB", length, 1), 0)
    places = node.eltwise("MIN", places, lengths.value(last))
    with node.builder.counted.suspended():
        result = node.make("Gather", [x, places], {"axis": axis})
    return lengths.limited(result, Count(lengths.value(count), length), axis)


def _first_backwards(begin: int, length: Any) -> int:
    """The begin of a slice with a negative step. If it is before the first element,
    ONNX uses the first one, but StridedSlice uses none.
    """
    if isinstance(length, int):
        return max(begin, -length)
    # Exporters write the lowest integer for "from the end" if they do not know a
    # length.
    return 0 if begin <= _LOWEST else begin


@HANDLERS.register("Gather")
def _gather(node: Node) -> None:
    x, places, lengths = node.input(0), node.input(1), Counts(node)
    axis = node.axis(node.integer("axis", 0), len(node.shape(x)))
    counted, chosen = lengths.of(x), lengths.of(places)
    if counted is None or counted.axis != axis or places.is_constant:
        node.emit("Gather", [x, places], {"axis": axis})
        return
    with node.builder.counted.suspended():
        if not never_negative(places):
            places = lengths.from_end(places, lengths.of_axis(x, axis))
        result = node.make("Gather", [x, places], {"axis": axis})
    if chosen is not None:
        moved = Counted(chosen.count, axis + chosen.axis)
        node.builder.counted.add(result, moved)
    node.set_output(0, result)


@HANDLERS.register("Tile")
def _tile(node: Node) -> None:
    x = node.input(0)
    rank = len(node.shape(x))
    if node.opset < 6:
        repeats = [1] * rank
        tiles, axis = (
            node.constant_ints(i, w)[0] for i, w in ((1, "tiles"), (2, "axis"))
        )
        repeats[node.axis(axis, rank)] = tiles
    elif is_open(node.input(1)):
        _tile_open(node, x)
        return
    else:
        repeats = node.constant_ints(1, "repeats")
    if len(repeats) != rank:
        raise UnsupportedNodeError(f"{len(repeats)} repeats for {rank} dimensions")
    if any(not 1 <= times <= _MOST_COPIES for times in repeats):
        raise UnsupportedNodeError(f"repeats are {repeats}; 1 to {_MOST_COPIES} work")
    steps = [(axis, times) for axis, times in enumerate(repeats) if times > 1]
    if not steps:
        node.set_output(0, x)
        return
    for axis, times in steps[:-1]:
        x = node.make("Concat", [x] * times, {"axis": axis})
    axis, times = steps[-1]
    node.emit("Concat", [x] * times, {"axis": axis})


def _tile_open(node: Node, x: Value) -> None:
    """Numbers of copies that the run computes from shapes."""
    lengths, rank = NodeLengths(node), len(node.shape(x))
    known = lengths.known(node.input(1))
    if len(known) != rank:
        raise UnsupportedNodeError(f"{len(known)} repeats for {rank} dimensions")
    for axis, times in enumerate(known):
        if times != 1:
            x = lengths.repeated(x, axis, lengths.element(node.input(1), axis))
    node.set_output(0, x)


@HANDLERS.register("Pad")
def _pad(node: Node) -> None:
    x = node.input(0)
    rank = len(node.shape(x))
    mode = node.text("mode", "constant")
    modes = {"constant": "CONSTANT", "reflect": "REFLECT", "edge": "EDGE", "wrap": ""}
    if mode not in modes:
        raise UnsupportedNodeError(f"mode is {mode!r}; {', '.join(modes)} work")
    if node.opset >= 11 and is_open(node.input(1)):
        counts = Counts(node)
        if counts.of(x) is not None:
            node.set_output(0, _padded_to_fixed(counts, mode))
        else:
            node.set_output(0, _padded_by_lengths(counts, mode))
        return
    pads, value = _pads(node, rank)
    if len(pads) != 2 * rank:
        raise UnsupportedNodeError(f"{len(pads)} pads for {rank} dimensions")
    # ONNX lists all befores, then all afters.
    pairs = list(zip(pads[:rank], pads[rank:]))
    grow = [max(pad, 0) for pair in pairs for pad in pair]
    if any(pad < 0 for pad in pads):
        x = _cut(node, x, pairs)
    if mode == "wrap":
        node.set_output(0, _wrapped(node, x, grow))
        return
    finite = math.isfinite(value) or mode != "constant"
    attrs = {"pads": grow, "mode": modes[mode], "value": value if finite else 0.0}
    if finite:
        node.emit("Pad", [x], attrs)
        return
    # The attribute is a finite number.
    if static(node.shape(x)) is None:
        node.set_output(0, _set_around(node, x, node.make("Pad", [x], attrs), grow))
        return
    inside = np.ones(node.static_shape(x), bool)
    around = list(zip(grow[::2], grow[1::2]))
    mask = node.literal(~np.pad(inside, around), DataType.BOOL)
    other = node.literal(value)
    node.emit("Where", [mask, other, node.make("Pad", [x], attrs)])


def _set_around(node: Node, x: Value, padded: Value, grow: list[int]) -> Value:
    """Gives what pads add to a tensor the value that they have in the model."""
    lengths, rank = NodeLengths(node), len(node.shape(x))
    value = node.scalar(_pads(node, rank)[1], x)
    for axis in range(rank):
        before, after = grow[2 * axis : 2 * axis + 2]
        lined = {"shape": [-1, *[1] * (rank - 1 - axis)]}
        sides: list[tuple[int, Length]] = [(before, before)] if before else []
        if after:
            own = lengths.of_axis(x, axis)
            sides.append((0, lengths.compute("ADD", own, before)))
        for is_front, bound in sides:
            places = lengths.positions(lengths.of_axis(padded, axis))
            first = node.eltwise("LESS", places, lengths.value(bound))
            first = node.make("Reshape", [first], lined)
            both = [value, padded] if is_front else [padded, value]
            padded = node.make("Where", [first, *both])
    return padded


def _padded_to_fixed(lengths: Counts, mode: str) -> Value:
    """To a length that does not depend on how many elements there are."""
    node, x, pads = lengths.node, lengths.node.input(0), lengths.node.input(1)
    rank, counted = len(node.shape(x)), lengths.of(x)
    assert counted is not None
    axis, axes = counted.axis, _pad_axes(node, rank)
    found = lengths.symbols(pads)
    sides = [] if found is None else list(found.reshape(-1))
    if len(sides) != 2 * len(axes):
        raise UnsupportedNodeError(f"pads ({pads.name}) depends on more than lengths")
    amounts: list[Dim] = [0] * (2 * rank)
    for place, each in enumerate(axes):
        amounts[each], amounts[each + rank] = sides[place], sides[place + len(axes)]
    before = amounts[axis]
    total = add(amounts[axis + rank], lengths.formula(lengths.of_axis(x, axis)))
    amounts[axis] = amounts[axis + rank] = 0
    is_fixed = isinstance(total, int) and all(isinstance(n, int) for n in amounts)
    if not is_fixed or not isinstance(before, int) or before < 0:
        raise UnsupportedNodeError(
            f"pads ({pads.name}) does not bring axis {axis}, of which the run "
            "determines how many elements count, to a fixed length",
            "pad it behind its elements, by a fixed length minus their number",
        )
    assert isinstance(total, int)
    if mode != "constant" or total < 0:
        raise UnsupportedNodeError(f"mode {mode!r} of pads that the run determines")
    missing = lengths.compute("SUB", total, lengths.in_memory(x, axis))
    behind, value = lengths.compute("MAX", missing, 0), _pad_value(node)
    result = lengths.masked(x, value)
    if isinstance(behind, int):
        amounts[axis], amounts[axis + rank] = before, behind
    else:
        result = lengths.padded(result, axis, (before, behind), mode, value)
    fixed = node.literal(amounts, DataType.INT32)
    result = node.apply("Pad", [result, fixed, *node.inputs[2:3]])
    return lengths.sliced(result, axis, 0, before + total)


def _padded_by_lengths(lengths: Counts, mode: str) -> Value:
    """Pads that each run computes of the lengths of its inputs."""
    node, x = lengths.node, lengths.node.input(0)
    rank = len(node.shape(x))
    axes = _pad_axes(node, rank)
    known = lengths.known(node.input(1))
    if len(known) != 2 * len(axes):
        raise UnsupportedNodeError(f"{len(known)} pads for the axes {axes}")
    for place, axis in enumerate(axes):
        sides = (place, place + len(axes))
        if all(known[side] == 0 for side in sides):
            continue
        before, after = (lengths.element(node.input(1), side) for side in sides)
        x = lengths.padded(x, axis, (before, after), mode, _pad_value(node))
    return x


def _wrapped(node: Node, x: Value, grow: list[int]) -> Value:
    """Repeats a tensor in every direction, as far as the pads reach."""
    for axis, length in enumerate(node.shape(x)):
        before, after = grow[2 * axis], grow[2 * axis + 1]
        if isinstance(length, int) and max(before, after) > length:
            raise UnsupportedNodeError(
                f"mode 'wrap' adds {max(before, after)} elements to an axis of {length}"
            )
        parts = [x]
        for size, begin, end in ((before, -before, END), (after, 0, after)):
            if size == 0:
                continue
            part = node.slice(x, axis, begin, end)
            parts = [part, *parts] if begin < 0 else [*parts, part]
        if len(parts) > 1:
            x = node.make("Concat", parts, {"axis": axis})
    return x


def _pads(node: Node, rank: int) -> tuple[list[int], float]:
    if node.opset < 11:
        pads = node.integers("paddings" if node.opset < 2 else "pads")
        return pads, node.real("value", 0.0)
    pads, value = node.constant_ints(1, "pads"), _pad_value(node)
    if not node.has_input(3):
        return pads, value
    axes = _pad_axes(node, rank)
    if len(pads) != 2 * len(axes):
        raise UnsupportedNodeError(f"{len(pads)} pads for the axes {axes}")
    full = [0] * (2 * rank)
    for index, axis in enumerate(axes):
        full[axis] = pads[index]
        full[axis + rank] = pads[index + len(axes)]
    return full, value


def _pad_axes(node: Node, rank: int) -> list[int]:
    if not node.has_input(3):
        return list(range(rank))
    return [node.axis(axis, rank) for axis in node.constant_ints(3, "axes")]


def _pad_value(node: Node) -> float:
    if not node.has_input(2):
        return 0.0
    numbers = node.constant(2, "constant_value").reshape(-1)
    return float(numbers[0]) if numbers.size else 0.0


def _cut(node: Node, x: Value, pairs: list[tuple[int, int]]) -> Value:
    """Removes the elements that negative pads cut off."""
    cuts = [(axis, a, b) for axis, (a, b) in enumerate(pairs) if a < 0 or b < 0]
    attrs = {
        "axes": [axis for axis, _, _ in cuts],
        "begins": [max(-before, 0) for _, before, _ in cuts],
        "ends": [after if after < 0 else END for _, _, after in cuts],
        "strides": [1] * len(cuts),
    }
    return node.make("StridedSlice", [x], attrs)

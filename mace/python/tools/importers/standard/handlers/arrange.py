# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that join, slice, select and pad."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.lengths import Lengths, is_open
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dims import Dim
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
    node.emit("Concat", values, {"axis": axis})


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
    lengths, count = Lengths(node), node.output_count
    if node.has_input(1):
        parts = [lengths.element(node.input(1), index) for index in range(count)]
    else:
        whole = lengths.of_axis(x, axis)
        rest = lengths.total(whole, lengths.number(count - 1))
        number = lengths.number(count)
        part = node.make("Eltwise", [rest, number], {"mode": "FLOOR_DIV"})
        parts = [part] * count
    begin = lengths.number(0)
    for index, part in enumerate(parts):
        end = lengths.total(begin, part)
        node.set_output(index, lengths.sliced(x, axis, begin, end, 1))
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
    lengths, rank = Lengths(node), len(node.shape(x))
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
    x = node.input(0)
    axis = node.axis(node.integer("axis", 0), len(node.shape(x)))
    node.emit("Gather", [x, node.input(1)], {"axis": axis})


@HANDLERS.register("ai.onnx.ml.ArrayFeatureExtractor")
def _array_features(node: Node) -> None:
    x, places = node.input(0), node.input(1)
    places = node.make("Reshape", [places], {"shape": [-1]})
    rank = len(node.shape(x))
    if rank == 1:
        x = node.make("ExpandDims", [x], {"axes": [0]})
    node.emit("Gather", [x, places], {"axis": max(rank, 2) - 1})


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
    lengths, rank = Lengths(node), len(node.shape(x))
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
        _pad_by_lengths(node, mode)
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
    lengths, rank = Lengths(node), len(node.shape(x))
    value = node.scalar(_pads(node, rank)[1], x)
    for axis in range(rank):
        before, after = grow[2 * axis : 2 * axis + 2]
        lined = {"shape": [-1, *[1] * (rank - 1 - axis)]}
        sides = [(before, lengths.number(before))] if before else []
        if after:
            own = lengths.of_axis(x, axis)
            sides.append((0, lengths.total(own, lengths.number(before))))
        for is_front, bound in sides:
            places = lengths.positions(lengths.of_axis(padded, axis))
            first = node.make("Eltwise", [places, bound], {"mode": "LESS"})
            first = node.make("Reshape", [first], lined)
            both = [value, padded] if is_front else [padded, value]
            padded = node.make("Where", [first, *both])
    return padded


def _pad_by_lengths(node: Node, mode: str) -> None:
    """Pads that each run computes of the lengths of its inputs."""
    x, lengths = node.input(0), Lengths(node)
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
        x = lengths.padded(x, axis, before, after, mode, _pad_value(node))
    node.set_output(0, x)


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
            cut = {"axes": [axis], "begins": [begin], "ends": [end], "strides": [1]}
            part = node.make("StridedSlice", [x], cut)
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

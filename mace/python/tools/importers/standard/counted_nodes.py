# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that need to know how many elements the run determines.

Of a counted value (ir/counted.py) only the first elements along an axis count. Where a
node would mix them with the rest, the rest gets a number that does not take part; where
parts are joined, the elements that count move to the front.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.counts import (
    CountedNode,
    Number,
    Size,
)
from mace.python.tools.importers.standard.node import STATIC_HINT, Node
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.dims import Dim, add, divide_exactly, product_of
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.infer import ShapeError
from mace.python.tools.ir.shapes import END, static

# Whether it set the results; if not, the operator's own handler does.
_Handler = Callable[[CountedNode], bool]
_HANDLERS: dict[str, _Handler] = {}


def _for(*types: str) -> Callable[[_Handler], _Handler]:
    def add(handler: _Handler) -> _Handler:
        _HANDLERS.update(dict.fromkeys(types, handler))
        return handler

    return add


def convert_counted(node: Node) -> bool:
    """Converts a node if it needs to know how many elements count, and says so."""
    view = CountedNode(node)
    with node.builder.counted.suspended():
        view.settle()
    handler = _HANDLERS.get(node.type)
    if handler is None or not view.concerns:
        return False
    with node.builder.counted.suspended():
        return handler(view)


def empty_or(node: Node, condition: Value, one: Value, other: Value) -> Value | None:
    """The choice between branches of different lengths; None if their shapes do not
    differ along one axis only.
    """
    counted = node.builder.counted
    pair = (one, other)
    shapes = [static(value.shape) for value in pair]
    if shapes[0] is None or shapes[1] is None or len(shapes[0]) != len(shapes[1]):
        return None
    axes = {axis for axis, (a, b) in enumerate(zip(*shapes)) if a != b}
    axes |= {found.axis for value in pair if (found := counted.get(value))}
    if len(axes) != 1:
        return None
    (axis,) = axes
    lengths = [shape[axis] for shape in shapes if shape is not None]
    with counted.suspended():
        counts = [
            found.count
            if (found := counted.get(value))
            else node.literal([length], DataType.INT32)
            for value, length in zip(pair, lengths)
        ]
        chosen = [_lengthened(node, value, axis, max(lengths)) for value in pair]
        if 0 in lengths:
            result = chosen[lengths.index(0) - 1]
            result = node.make("Identity", [result])
        else:
            result = node.make("Where", [condition, *chosen])
        count = counted.remember(
            ("where", condition, *counts),
            lambda: node.make("Where", [condition, *counts]),
        )
    counted.add(result, Counted(count, axis))
    return result


def _lengthened(node: Node, value: Value, axis: int, length: int) -> Value:
    shape = list(node.static_shape(value))
    shape[axis] = length - shape[axis]
    if shape[axis] <= 0 or shape[axis] == length:
        return value
    rest = node.literal(np.zeros(shape), value.dtype)
    return node.make("Concat", [value, rest], {"axis": axis})


@_for("Shape")
def _shape(view: CountedNode) -> bool:
    node, counted = view.node, view.counted[0]
    if counted is None:
        return False
    x = node.input(0)
    end = node.integer("end", END) if node.has("end") else None
    places = range(len(node.shape(x)))[node.integer("start", 0) : end]
    if not places:
        return False
    parts = [
        counted.count if axis == counted.axis else view.lengths.of_axis(x, axis)
        for axis in places
    ]
    whole = parts[0] if len(parts) == 1 else node.make("Concat", parts, {"axis": 0})
    view.result(0, whole, None)
    dims = [node.shape(x)[axis] for axis in places]
    known = [dim for dim in dims if isinstance(dim, int)]
    if len(known) == len(dims):
        numbers: list[Number] = list(known)
        if counted.axis in places:
            at = places.index(counted.axis)
            numbers[at] = Size(counted.count, known[at])
        node.builder.counted.facts[node.results[node.name_of(0)]] = tuple(numbers)
    return True


@_for("Size")
def _size(view: CountedNode) -> bool:
    node, counted = view.node, view.counted[0]
    if counted is None:
        return False
    others = view.other_elements(node.input(0), {counted.axis})
    count = view.times(counted.count, others)
    view.result(0, node.make("Reshape", [count], {"shape": []}), None)
    return True


@_for("TopK")
def _top_k(view: CountedNode) -> bool:
    node, x, counted = view.node, view.node.input(0), view.counted[0]
    shape = node.static_shape(x)
    axis = node.axis(node.integer("axis", -1), len(shape))
    if node.opset < 10:
        numbers: list[Number] | None = [node.integer("k", 0)]
    else:
        numbers = view.number_list(1)
    if numbers is None or len(numbers) != 1:
        return False
    (k,) = numbers
    most = min(k.most if isinstance(k, Size) else k, shape[axis])
    along = counted is not None and counted.axis == axis
    if not along and not isinstance(k, Size):
        return False
    if counted is not None and not along:
        raise UnsupportedNodeError(
            f"k ({node.input(1).name}) depends on the data, and so does the length of "
            f"axis {counted.axis}"
        )
    largest = node.flag("largest", True)
    if counted is not None:
        x = view.masked(x, counted, -np.inf if largest else np.inf)
    attrs = {"k": most, "axis": axis, "largest": largest}
    wide = x if x.dtype.is_float or x.dtype is DataType.INT32 else None
    if wide is None:
        wide = node.make("Cast", [x], {"to": "INT32"})
    values, indices = node.make_all("TopK", [wide], attrs, 2)
    if wide is not x:
        values = node.make("Cast", [values], {"to": x.dtype.value.upper()})
    count = view.size(k) if counted is None else view.least(counted.count, k)
    for index, value in enumerate((values, indices)):
        view.result(index, value, Counted(count, axis))
    return True


@_for("Concat")
def _concat(view: CountedNode) -> bool:
    node = view.node
    parts = [node.input(index) for index in range(len(node.inputs))]
    axis = node.axis(node.integer("axis", 0), len(node.shape(parts[0])))
    found = [counted for counted in view.counted if counted is not None]
    if not found or any(counted.axis != axis for counted in found):
        return False
    joined = node.make("Concat", parts, {"axis": axis})
    whole = view.lengths.number(0)
    for part, counted in zip(parts, view.counted):
        if counted is None:
            whole = view.lengths.total(whole, view.lengths.of_axis(part, axis))
    count = view.total([counted.count for counted in found], view.known(whole))
    if any(counted is not None for counted in view.counted[: len(parts) - 1]):
        # Otherwise what counts is in front already.
        places = _front(view, parts, axis)
        joined = node.make("Gather", [joined, places], {"axis": axis})
    view.result(0, joined, Counted(count, axis))
    return True


def _front(view: CountedNode, parts: Sequence[Value], axis: int) -> Value:
    """The positions of what counts of joined parts, one after the other."""
    node, lengths = view.node, view.lengths

    def mask(part: Value, counted: Counted | None) -> Value:
        if counted is not None:
            return view.inside(part, counted)
        places = lengths.positions(lengths.of_axis(part, axis))
        return node.eltwise("GREATER_EQUAL", places, lengths.number(0))

    def positions() -> Value:
        joined = node.make("Concat", list(map(mask, parts, view.counted)), {"axis": 0})
        places, _ = node.make_all("NonZero", [joined], {}, 2)
        return node.make("Squeeze", [places], {"axes": [0]})

    dims = [node.shape(part)[axis] for part in parts]
    key = tuple(
        (part if dim is None else dim, counted and counted.count)
        for part, dim, counted in zip(parts, dims, view.counted)
    )
    return view.remember(("joined", key), positions)


@_for("Slice")
def _slice(view: CountedNode) -> bool:
    node, x, counted = view.node, view.node.input(0), view.counted[0]
    if node.opset < 10:
        return False
    shape = node.shape(x)
    begins, ends = view.number_list(1), view.number_list(2)
    axes, steps = (view.number_list(i) if node.has_input(i) else None for i in (3, 4))
    for index, found in ((3, axes), (4, steps)):
        if node.has_input(index) and found is None:
            return False  # the operator's own handler says why
    if begins is None or ends is None:
        return _slice_anywhere(view, axes, steps)
    axes = axes or list(range(len(begins)))
    steps = steps or [1] * len(begins)
    at = -1 if counted is None else counted.axis
    result, count = x, None if counted is None else counted.count
    attrs: dict[str, list[int]] = {
        name: [] for name in ("axes", "begins", "ends", "strides")
    }
    for begin, end, axis, step in zip(begins, ends, axes, steps):
        if isinstance(axis, Size) or isinstance(step, Size) or step < 0:
            return False
        axis = node.axis(axis, len(shape))
        if isinstance(begin, Size) or (
            isinstance(end, Size) and (begin, step) != (0, 1)
        ):
            return False
        if axis != at and not isinstance(end, Size):
            last = end
        elif begin != 0 or step != 1 or (isinstance(end, int) and end < 0):
            return False
        elif count is None or axis == at:
            if count is not None and counted is not None:
                count = count if end == END else view.least(count, end)
            else:
                count, at = view.size(end), axis
            last = end.most if isinstance(end, Size) else end
        else:
            return False
        for name, number in zip(attrs, (axis, begin, min(last, END), step)):
            attrs[name].append(number)
    if count is None or (counted is not None and at not in attrs["axes"]):
        return False
    result = node.make("StridedSlice", [x], attrs)
    view.result(0, result, Counted(count, at))
    return True


def _slice_anywhere(
    view: CountedNode, axes: list[Number] | None, steps: list[Number] | None
) -> bool:
    """A slice along one axis from or to a position that the run computes."""
    node, x, counted = view.node, view.node.input(0), view.counted[0]
    shape = node.shape(x)
    bounds = [node.input(1), node.input(2)]
    axis = (axes or [0])[0]
    if (
        any(node.static_shape(bound) != (1,) for bound in bounds)
        or isinstance(axis, Size)
        or (steps or [1]) != [1]
    ):
        raise UnsupportedNodeError(
            f"starts ({bounds[0].name}) and ends ({bounds[1].name}) are computed at "
            "run time; this is supported along one axis, with step 1"
        )
    axis = node.axis(axis, len(shape))
    if counted is not None and counted.axis != axis:
        return False
    lengths, eltwise = view.lengths, node.eltwise
    length = lengths.of_axis(x, axis)
    size = length if counted is None else counted.count
    zero = view.size(0)
    begin, end = (
        eltwise("MIN", eltwise("MAX", _from_end(node, bound, size), zero), size)
        for bound in bounds
    )
    count = eltwise("MAX", eltwise("SUB", end, begin), zero)
    places = eltwise("ADD", lengths.positions(length), begin)
    last = eltwise("MAX", eltwise("SUB", length, view.size(1)), zero)
    places = eltwise("MIN", places, last)
    result = node.make("Gather", [x, places], {"axis": axis})
    view.result(0, result, Counted(count, axis))
    return True


@_for("Gather")
def _gather(view: CountedNode) -> bool:
    node, data = view.node, view.counted[0]
    x, places = node.input(0), node.input(1)
    axis = node.axis(node.integer("axis", 0), len(node.shape(x)))
    if data is None or data.axis != axis or places.is_constant:
        return False
    if not never_negative(places):
        places = _from_end(node, places, data.count)
    result = node.make("Gather", [x, places], {"axis": axis})
    found = view.counted[1]
    moved = None if found is None else Counted(found.count, axis + found.axis)
    view.result(0, result, moved)
    return True


def _from_end(node: Node, places: Value, size: Value) -> Value:
    """The indices, of which negative ones count from the end of what counts."""
    below = node.make("Eltwise", [places, node.scalar(0, places)], {"mode": "LESS"})
    back = node.make("Eltwise", [places, size], {"mode": "ADD"})
    return node.make("Where", [below, back, places])


def never_negative(places: Value) -> bool:
    """Whether the indices come from operators that find elements."""
    while places.producer is not None:
        op = places.producer
        if op.type == "TopK":
            return places is op.outputs[1]
        if op.type in ("NonMaxSuppression", "NonZero", "ArgMax"):
            return True
        if op.type not in (
            *("ExpandDims", "Gather", "Identity", "Reshape", "Split", "Squeeze"),
            *("StridedSlice", "Transpose"),
        ):
            return False
        places = op.input(0)
    return False


@_for("Reshape")
def _reshape(view: CountedNode) -> bool:
    node = view.node
    if node.opset < 5 or node.flag("allowzero", False):
        return False
    numbers = view.number_list(1)
    return numbers is not None and _to_shape(view, numbers)


@_for("Flatten")
def _flatten(view: CountedNode) -> bool:
    node, counted = view.node, view.counted[0]
    dims = node.static_shape(node.input(0))
    axis = node.integer("axis", 1)
    axis += len(dims) if axis < 0 else 0
    if counted is None or counted.axis >= axis:
        return False
    return _to_shape(view, [-1, math.prod(dims[axis:])])


def _to_shape(view: CountedNode, numbers: Sequence[Number]) -> bool:
    node, x, counted = view.node, view.node.input(0), view.counted[0]
    if counted is None:
        return False
    target = [n.most if isinstance(n, Size) else n for n in numbers]
    dims = node.shape(x)
    result = node.make("Reshape", [x], {"shape": target})
    after = node.shape(result)
    outer, length = product_of(dims[: counted.axis]), dims[counted.axis]
    found = []
    for place, number in enumerate(numbers):
        if not isinstance(number, Size) and number > 0:
            continue
        if product_of(after[:place]) != outer or 0 in (length, after[place]):
            continue
        count: Value | None = None
        more, fewer = (
            divide_exactly(a, b)
            for a, b in ((after[place], length), (length, after[place]))
        )
        if isinstance(more, int):
            count = view.times(counted.count, more)
        elif isinstance(fewer, int):
            count = view.part(counted.count, fewer)
        if count is not None and (
            not isinstance(number, Size) or number.count is count
        ):
            found.append((place, count))
    if len(found) != 1:
        raise UnsupportedNodeError(
            f"the run determines how many elements {x.name} has along axis "
            f"{counted.axis}, and not where these are in the shape {target}"
        )
    view.result(0, result, Counted(found[0][1], found[0][0]))
    return True


@_for("Expand")
def _expand(view: CountedNode) -> bool:
    node, x, counted = view.node, view.node.input(0), view.counted[0]
    numbers = view.number_list(1)
    if numbers is None or not any(isinstance(n, Size) for n in numbers):
        return False
    places = [i for i, n in enumerate(numbers) if isinstance(n, Size)]
    if len(places) != 1:
        return False
    number, dims = numbers[places[0]], node.static_shape(x)
    assert isinstance(number, Size)
    rank = max(len(dims), len(numbers))
    axis = places[0] + rank - len(numbers)
    if counted is not None and (
        counted.axis + rank - len(dims) != axis or counted.count is not number.count
    ):
        return False
    target = [n.most if isinstance(n, Size) else n for n in numbers]
    (result,) = view.own_results([x, node.literal(target, DataType.INT32)], 1)
    view.result(0, view.unknown(result), Counted(number.count, axis))
    return True


@_for("ConstantOfShape")
def _constant_of_shape(view: CountedNode) -> bool:
    node = view.node
    numbers = view.number_list(0)
    places = [i for i, n in enumerate(numbers or []) if isinstance(n, Size)]
    if numbers is None or len(places) != 1:
        return False
    number = numbers[places[0]]
    assert isinstance(number, Size)
    target = [n.most if isinstance(n, Size) else n for n in numbers]
    (result,) = view.own_results([node.literal(target, DataType.INT32)], 1)
    view.result(0, view.unknown(result), Counted(number.count, places[0]))
    return True


@_for("Range")
def _range(view: CountedNode) -> bool:
    node = view.node
    parts = [view.number_list(index) for index in range(3)]
    limit = (parts[1] or [0])[0]
    if parts[0] != [0] or parts[2] != [1] or not isinstance(limit, Size):
        return False
    numbers = node.literal(np.arange(limit.most), DataType.INT32)
    view.result(0, view.unknown(numbers), Counted(limit.count, 0))
    return True


@_for("Pad")
def _pad(view: CountedNode) -> bool:
    """To a length that does not depend on how many elements there are."""
    node, x, counted = view.node, view.node.input(0), view.counted[0]
    if counted is None or node.opset < 11 or node.input(1).is_constant:
        return False
    shape, pads = node.static_shape(x), node.input(1)
    rank, axis = len(shape), counted.axis
    axes = list(range(rank))
    if node.has_input(3):
        axes = [node.axis(a, rank) for a in node.constant_ints(3, "axes")]
    found = view.symbols(pads)
    sides = [] if found is None else list(found.reshape(-1))
    if len(sides) != 2 * len(axes):
        raise UnsupportedNodeError(f"pads ({pads.name}) depends on more than lengths")
    amounts: list[Dim] = [0] * (2 * rank)
    for place, each in enumerate(axes):
        amounts[each], amounts[each + rank] = sides[place], sides[place + len(axes)]
    before = amounts[axis]
    total = add(amounts[axis + rank], view.name_of(counted.count))
    amounts[axis + rank] = 0
    is_fixed = isinstance(total, int) and all(isinstance(n, int) for n in amounts)
    if not is_fixed or not isinstance(before, int) or before < 0:
        raise UnsupportedNodeError(
            f"pads ({pads.name}) does not bring axis {axis}, of which the run "
            "determines how many elements count, to a fixed length",
            "pad it behind its elements, by a fixed length minus their number",
        )
    assert isinstance(total, int)
    if node.text("mode", "constant") != "constant" or total < 0:
        raise UnsupportedNodeError(
            f"mode {node.text('mode', 'constant')!r} of pads that the run determines"
        )
    value = 0.0
    if node.has_input(2):
        value = float(node.constant(2, "constant_value").reshape(-1)[0])
    amounts[axis + rank] = max(total - shape[axis], 0)
    fixed = node.literal(amounts, DataType.INT32)
    masked = view.masked(x, counted, value)
    (result,) = view.own_results([masked, fixed, *node.inputs[2:3]], 1)
    if shape[axis] > total:
        cut = {"axes": [axis], "begins": [0], "ends": [before + total], "strides": [1]}
        result = node.make("StridedSlice", [result], cut)
    view.result(0, result, None)
    return True


_NEUTRAL = {
    "ReduceL1": 0.0,
    "ReduceL2": 0.0,
    "ReduceLogSum": 0.0,
    "ReduceLogSumExp": -np.inf,
    "ReduceMax": -np.inf,
    "ReduceMin": np.inf,
    "ReduceProd": 1.0,
    "ReduceSum": 0.0,
    "ReduceSumSquare": 0.0,
    "ArgMax": -np.inf,
    "ArgMin": np.inf,
}


@_for("ReduceMean")
def _mean(view: CountedNode) -> bool:
    node, x, counted = view.node, view.node.input(0), view.counted[0]
    if counted is None:
        return False
    shape = node.shape(x)
    axes = node.integers_of("axes", 1, 18, default=[]) or []
    if not axes and node.flag("noop_with_empty_axes", False):
        return False
    reduced = {node.axis(a, len(shape)) for a in axes or range(len(shape))}
    if counted.axis not in reduced or not x.dtype.is_float:
        return False
    kept = set(range(len(shape))) - reduced
    others = view.other_elements(x, {counted.axis, *kept})
    attrs = {
        "mode": "SUM",
        "axes": sorted(reduced),
        "keep_dims": node.flag("keepdims", True),
    }
    total = node.make("Reduce", [view.masked(x, counted, 0)], attrs)
    count = view.times(counted.count, others)
    count = node.make("Cast", [count], {"to": "FLOAT32"})
    if not total.shape:
        count = node.make("Reshape", [count], {"shape": []})
    view.result(0, node.make("Eltwise", [total, count], {"mode": "DIV"}), None)
    return True


@_for(*_NEUTRAL)
def _reduce(view: CountedNode) -> bool:
    node, x, counted = view.node, view.node.input(0), view.counted[0]
    if counted is None:
        return False
    rank = len(node.shape(x))
    if node.type.startswith("Arg"):
        axes = [node.integer("axis", 0)]
    else:
        since = 13 if node.type == "ReduceSum" else 18
        axes = node.integers_of("axes", 1, since, default=[]) or []
        if not axes and node.flag("noop_with_empty_axes", False):
            return False
        axes = axes or list(range(rank))
    if counted.axis not in {node.axis(axis, rank) for axis in axes}:
        return False
    masked = view.masked(x, counted, _NEUTRAL[node.type])
    (result,) = view.own_results([masked, *node.inputs[1:]], 1)
    view.result(0, result, None)
    return True


@_for("NonZero")
def _non_zero(view: CountedNode) -> bool:
    node, x = view.node, view.node.input(0)
    if x.is_constant or not node.shape(x):
        return False
    places, count = view.found(x)
    view.result(0, places, Counted(count, 1))
    return True


@_for("ScatterND", "ScatterElements", "Scatter")
def _scatter(view: CountedNode) -> bool:
    """What does not count is written to a place that is removed afterwards."""
    node, (data, places, updates) = view.node, view.counted[:3]
    if places is None and updates is None:
        return False
    x, index = node.input(0), node.input(1)
    rank = len(node.shape(x))
    of_elements = node.type != "ScatterND"
    axis = node.axis(node.integer("axis", 0), rank) if of_elements else 0
    if places is None:
        raise UnsupportedNodeError(
            f"the run determines how many updates count, but not how many of "
            f"{index.name}"
        )
    if updates is not None and updates.axis != places.axis:
        return False
    if places.axis != (axis if of_elements else 0):
        return False
    length = view.lengths.of_axis(x, axis)
    pads = [0] * (2 * rank)
    pads[2 * axis + 1] = 1
    longer = node.make("Pad", [x], {"pads": pads})
    # The rows of an index name places along more axes than the one that counts.
    others = 0 if of_elements else _last_of(node, index) - 1

    def row(number: Value) -> Value:
        if not others:
            return number
        rest = node.literal(np.zeros(others), DataType.INT32)
        return node.make("Concat", [number, rest], {"axis": 0})

    if not never_negative(index):
        index = _from_end(node, index, row(length if data is None else data.count))
    lined = [-1, *[1] * (len(node.shape(index)) - 1 - places.axis)]
    inside = node.make("Reshape", [view.inside(index, places)], {"shape": lined})
    index = node.make("Where", [inside, index, row(length)])
    written = node.input(2)
    if updates is not None:
        # Fewer updates than places for them: where all of the places cannot count.
        at, wanted = updates.axis, node.shape(index)[places.axis]
        if wanted != node.shape(written)[at]:
            wanted = node.static_shape(index)[places.axis]
            written = _lengthened(node, written, at, wanted)
    (result,) = view.own_results([longer, index, written], 1)
    cut = {"axes": [axis], "begins": [0], "ends": [-1], "strides": [1]}
    view.result(0, node.make("StridedSlice", [result], cut), data)
    return True


def _last_of(node: Node, index: Value) -> int:
    """The number of axes that the rows of an index name."""
    last = node.shape(index)[-1]
    if not isinstance(last, int):
        raise UnsupportedNodeError(
            f"the last dimension of {index.name} is not known before the run",
            STATIC_HINT,
        )
    return last


@_for("NonMaxSuppression")
def _suppress(view: CountedNode) -> bool:
    node, boxes, scores = view.node, view.counted[0], view.counted[1]
    if scores is None and boxes is None:
        return False
    if (
        scores is None
        or scores.axis != 2
        or (boxes is not None and (boxes.axis, boxes.count) != (1, scores.count))
    ):
        raise ShapeError(
            f"only the run determines how many boxes {node.input(0).name} and "
            f"{node.input(1).name} have, and not by the same number"
        )
    # Scores need to be above a threshold, which no infinite one is.
    masked = view.masked(node.input(1), scores, -np.inf)
    inputs = [node.input(0), masked, *node.inputs[2:]]
    (found,) = view.own_results(inputs, 1)
    view.result(0, found, node.builder.counted.get(found))
    return True

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Follows values of which only the first part counts, as many elements along an axis
as the run determines.

An operator such as NonMaxSuppression finds a number of results that its data determine.
Memory is planned before a run, so it writes as many as there can be at most, and gives
their number as a second output. Operators that compute element by element, or move
whole rows, may follow: what they compute from the rest is of no use, and does no harm.
The operator Trim removes it where a value becomes an output of the model. Everything
else would mix the rest with the results, and is refused.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from mace.python.tools.ir.infer import ShapeError
from mace.python.tools.ir.node import Op, Value
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.shapes import normalize_axis, static


@dataclass(frozen=True)
class Counted:
    """What counts of a value.

    Attributes:
        count: how many elements do, a value of one integer.
        axis: along which; not negative.
    """

    count: Value
    axis: int


class CountedValues:
    """The values of a graph that only count in part."""

    def __init__(self) -> None:
        self._counted: dict[Value, Counted] = {}
        self._suspended = False
        self._made: dict[Hashable, Value] = {}
        # What an importer knows of values that it computes from counts.
        self.facts: dict[Value, Any] = {}
        # The masks of which a value is the number of elements that are not 0.
        self.masks: dict[Value, Value] = {}
        # A count that is at least as large.
        self.limits: dict[Value, Value] = {}
        # The count and the factor of which a count is the product.
        self.multiples: dict[Value, tuple[Value, int]] = {}

    @contextlib.contextmanager
    def suspended(self) -> Iterator[None]:
        """While an importer computes with whole values and says itself what counts."""
        before, self._suspended = self._suspended, True
        try:
            yield
        finally:
            self._suspended = before

    def remember(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value that `make` made for this key at first: equal counts need to be
        the same value.
        """
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def add(self, value: Value, counted: Counted) -> None:
        """Says of a new value what counts of it."""
        self._counted[value] = counted

    def get(self, value: Value | None) -> Counted | None:
        """What counts of a value; None if all does."""
        return None if value is None else self._counted.get(value)

    @contextlib.contextmanager
    def require_reads(self, inputs: Iterable[Value | None]) -> Iterator[None]:
        """While a handler of an importer takes a node's inputs.

        Raises:
            ShapeError: it took only the shape of one, which is the largest one.
        """
        counted = [v for v in inputs if v is not None and v in self._counted]
        uses = [len(value.uses) for value in counted]
        yield
        for value, before in zip(counted, uses):
            if len(value.uses) == before:
                raise ShapeError(f"only the run determines the shape of {value.name}")

    def forget_sources(self) -> None:
        """Says that the values are not the framework's tensors of these names, which
        have nothing that does not count.
        """
        for value in self._counted:
            value.source = None

    def follow(self, op: Op) -> None:
        """Notes what counts of the outputs of an operator that was just made.

        Raises:
            ShapeError: it would mix what counts with what does not.
        """
        if self._suspended:
            return
        found = [
            (index, counted)
            for index, value in enumerate(op.inputs)
            if (counted := self.get(value)) is not None
        ]
        if not found:
            return
        axis = None
        if len({counted.count for _, counted in found}) == 1:
            axis = _axis_behind(op, dict(found))
        if axis is None:
            reader, counted = op.input(found[0][0]), found[0][1]
            raise ShapeError(
                f"only the run determines how many elements {reader.name} has along "
                f"axis {counted.axis}, and {op.type} {op.name!r} would need to know: "
                "end the model before it with output_tensors"
            )
        for value in op.outputs:
            self._counted[value] = Counted(found[0][1].count, axis)


def _axis_behind(op: Op, inputs: dict[int, Counted]) -> int | None:
    """The axis of the outputs where the counted axis of the inputs comes; None if
    elements along it meet.
    """
    if any(op.input(i).shape is None for i in inputs):
        return None
    if op.type in ("Cast", "Identity", "Where") or rules_of(op.type).elementwise:
        return _elementwise(op, inputs)
    if op.type == "Concat":
        return _joined(op, inputs)
    if op.type == "Gather":
        return _gathered(op, inputs)
    if op.type in ("GatherElements", "GatherNd"):
        return _chosen(op, inputs)
    if op.type == "RoiAlign":
        rows = set(inputs) <= {1, 2} and all(c.axis == 0 for c in inputs.values())
        return 0 if rows else None
    if op.type == "MatMul":
        return _multiplied(op, inputs)
    if op.type == "Stack":
        return _stacked(op, inputs)
    if op.type in _IMAGES:
        return 0 if set(inputs) == {0} and inputs[0].axis == 0 else None
    move = _MOVES.get(op.type)
    if move is None or set(inputs) != {0}:
        return None
    return move(op, len(op.input(0).shape or ()), inputs[0].axis)


def _elementwise(op: Op, inputs: dict[int, Counted]) -> int | None:
    shape = op.outputs[0].shape
    if shape is None:
        return None
    # Broadcasting aligns the last axes.
    places = {
        len(shape) - len(op.input(i).shape or ()) + c.axis for i, c in inputs.items()
    }
    if len(places) != 1:
        return None
    place = places.pop()
    for index, value in enumerate(op.inputs):
        if value is None or index in inputs:
            continue
        if value.shape is None:
            return None
        axis = place - len(shape) + len(value.shape)
        if axis >= 0 and value.shape[axis] != 1:
            return None
    return place


def _joined(op: Op, inputs: dict[int, Counted]) -> int | None:
    axes = {counted.axis for counted in inputs.values()}
    rank = len(op.input(0).shape or ())
    if len(axes) != 1 or len(inputs) != len(op.inputs):
        return None
    axis = axes.pop()
    return None if axis == normalize_axis(op.attr("axis"), rank) else axis


def _gathered(op: Op, inputs: dict[int, Counted]) -> int | None:
    if len(inputs) != 1:
        return None
    ((port, counted),) = inputs.items()
    data, indices = op.input(0).shape, op.input(1).shape
    if data is None or indices is None:
        return None
    axis = normalize_axis(op.attr("axis"), len(data))
    if port == 1:
        return axis + counted.axis
    if counted.axis == axis:
        return None
    return counted.axis + (len(indices) - 1 if counted.axis > axis else 0)


def _multiplied(op: Op, inputs: dict[int, Counted]) -> int | None:
    """Rows of the first operand, or the same batch of both."""
    ranks = [len(op.input(i).shape or ()) for i in (0, 1)]
    behind = {ranks[i] - c.axis for i, c in inputs.items()}
    if len(behind) != 1:
        return None
    (place,) = behind
    rank = max(ranks)
    if place > 2:
        for i in {0, 1} - set(inputs):
            shape = op.input(i).shape or ()
            if len(shape) >= place and shape[-place] != 1:
                return None
        return rank - place
    rows = place == (1 if op.attr("transpose_a") else 2)
    return rank - 2 if rows and set(inputs) == {0} else None


def _stacked(op: Op, inputs: dict[int, Counted]) -> int | None:
    axes = {counted.axis for counted in inputs.values()}
    if len(axes) != 1 or len(inputs) != len(op.inputs):
        return None
    axis = axes.pop()
    added = normalize_axis(op.attr("axis"), len(op.input(0).shape or ()) + 1)
    return axis + 1 if added <= axis else axis


def _chosen(op: Op, inputs: dict[int, Counted]) -> int | None:
    """Indices with axes that the output has, too."""
    if set(inputs) != {1}:
        return None
    axis, last = inputs[1].axis, len(op.input(1).shape or ()) - 1
    if op.type == "GatherNd" and not op.attr("batch_dims") <= axis < last:
        return None
    return axis


def _reshaped(op: Op, rank: int, axis: int) -> int | None:
    """The only axis with as many elements before and behind."""
    before, after = static(op.input(0).shape), static(op.outputs[0].shape)
    if before is None or after is None or 0 in before:
        return None
    outer, inner = math.prod(before[:axis]), math.prod(before[axis + 1 :])
    places = [
        place
        for place, length in enumerate(after)
        if length == before[axis]
        and math.prod(after[:place]) == outer
        and math.prod(after[place + 1 :]) == inner
    ]
    return places[0] if len(places) == 1 else None


def _transposed(op: Op, rank: int, axis: int) -> int | None:
    return int(list(op.attr("perm")).index(axis))


def _without(removed: set[int], axis: int) -> int | None:
    return None if axis in removed else axis - sum(r < axis for r in removed)


def _squeezed(op: Op, rank: int, axis: int) -> int | None:
    axes = [normalize_axis(a, rank) for a in op.attr("axes")]
    return _without(set(axes), axis) if axes else None


def _expanded(op: Op, rank: int, axis: int) -> int | None:
    axes = op.attr("axes")
    added = {normalize_axis(a, rank + len(axes)) for a in axes}
    return [i for i in range(rank + len(axes)) if i not in added][axis]


def _sliced(op: Op, rank: int, axis: int) -> int | None:
    if axis in {normalize_axis(a, rank) for a in op.attr("axes")}:
        return None
    removed = {normalize_axis(a, rank) for a in op.attr("shrink_axes")}
    return _without(removed, axis)


def _reduced(op: Op, rank: int, axis: int) -> int | None:
    axes = {normalize_axis(a, rank) for a in op.attr("axes")}
    if not axes or axis in axes:
        return None
    return axis if op.attr("keep_dims") else _without(axes, axis)


def _beside(op: Op, rank: int, axis: int) -> int | None:
    """Elements along another axis meet, and its position remains."""
    return None if axis == normalize_axis(op.attr("axis"), rank) else axis


def _summed(op: Op, rank: int, axis: int) -> int | None:
    # Elements before another one count if it does.
    return axis if not op.attr("reverse") else _beside(op, rank, axis)


def _not_last(op: Op, rank: int, axis: int) -> int | None:
    return None if axis == rank - 1 else axis


def _padded(op: Op, rank: int, axis: int) -> int | None:
    return axis if not any(op.attr("pads")[2 * axis : 2 * axis + 2]) else None


# Operators on images, each of which has its own result.
_IMAGES = frozenset(
    {
        "BatchNorm",
        "Conv2D",
        "Deconv2D",
        "DepthToSpace",
        "DepthwiseConv2D",
        "DepthwiseDeconv2D",
        "Im2Col",
        "InstanceNorm",
        "LocalResponseNorm",
        "Pooling",
        "Resize",
        "SpaceToDepth",
        "VolumePooling",
    }
)
# Where the axis of the first input comes, by operator.
_MOVES: dict[str, Callable[[Op, int, int], int | None]] = {
    "ArgMax": _beside,
    "CumSum": _summed,
    "ExpandDims": _expanded,
    "FullyConnected": _not_last,
    "LayerNorm": _not_last,
    "Pad": _padded,
    "Reduce": _reduced,
    "Reshape": _reshaped,
    "Softmax": _beside,
    "Split": _beside,
    "Squeeze": _squeezed,
    "StridedSlice": _sliced,
    "TopK": _beside,
    "Transpose": _transposed,
}

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors of which only some elements count, and what is made of their numbers.

Of a counted value (ir/counted.py) only the first elements along an axis count. Where a
node would mix them with the rest, the rest gets a number that does not take part; where
parts are joined, the elements that count move to the front.

The dimensions that `Shape` gives are lengths; shapes made of these are followed through
the operators that exporters use, so that `Reshape`, `TopK` and others know the largest
shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.emit.lengths import Count, Length
from mace.python.tools.importers.standard.lengths import NodeLengths
from mace.python.tools.importers.standard.node import Node
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.shapes import END, static

# Of what is made of shapes.
_LONGEST = 16
# The modes of Eltwise and Reduce that make lengths of others.
_FOLLOWED = {"ADD": "ADD", "MAX": "MAX", "MIN": "MIN", "MUL": "MUL", "PROD": "MUL"}
# Operators that move indices.
_MOVING = (
    *("ExpandDims", "Gather", "Identity", "Reshape", "Split", "Squeeze"),
    *("StridedSlice", "Transpose"),
)


def _elements(value: Value) -> int:
    shape = static(value.shape)
    return END if shape is None else math.prod(shape)


def unreshaped(mask: Value) -> Value:
    """The same elements in their first shape."""
    while mask.producer is not None and mask.producer.type in ("Identity", "Reshape"):
        mask = mask.producer.input(0)
    return mask


def never_negative(places: Value) -> bool:
    """Whether the indices come from operators that find elements."""
    while places.producer is not None:
        op = places.producer
        if op.type == "TopK":
            return places is op.outputs[1]
        if op.type in ("NonMaxSuppression", "NonZero", "ArgMax"):
            return True
        if op.type not in _MOVING:
            return False
        places = op.input(0)
    return False


def settle(node: Node) -> None:
    """Replaces inputs computed from shapes whose elements are known after all."""
    inputs, lengths = list(node.inputs), Counts(node)
    for index, value in enumerate(inputs):
        if value is None or value.is_constant:
            continue
        found = lengths.numbers(value)
        if found is None or not all(isinstance(n, int) for n in found):
            continue
        array = np.asarray(found).reshape(node.static_shape(value))
        inputs[index] = node.literal(array, DataType.INT32)
    node.inputs = tuple(inputs)


class Counts(NodeLengths):
    """What a node makes of lengths and tensors of which only some elements count."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._counted = node.builder.counted

    def of(self, value: Value | None) -> Counted | None:
        """What counts of a tensor; None if all does."""
        return self._counted.get(value)

    # Lists of lengths --------------------------------------------------------

    def numbers(self, value: Value) -> list[Length] | None:
        """The elements of a value that was computed from shapes: integers, or lengths
        of which at least one is a count; None if it has others.
        """
        if self._counted.get(value) is not None:
            return None
        if value.is_constant:
            if value.dtype is not DataType.INT32 or _elements(value) > _LONGEST:
                return None
            return [int(v) for v in value.numpy().reshape(-1)]
        known = self._counted.facts.get(value)
        if known is None:
            known = tuple(self._followed(value) or ())
            self._counted.facts[value] = known
        return list(known) or None

    def largest(self, lengths: Sequence[Length]) -> Value:
        """The largest shape with these lengths."""
        return self.listed([self.most(length) for length in lengths])

    def one_count(self, value: Value) -> tuple[list[Length], int, Count] | None:
        """The elements of a list of lengths of which one alone is a count; its place,
        and the count.
        """
        numbers = self.numbers(value) or []
        found = [(i, n) for i, n in enumerate(numbers) if isinstance(n, Count)]
        return (numbers, *found[0]) if len(found) == 1 else None

    def _followed(self, value: Value) -> list[Length] | None:
        mask = self._counted.masks.get(value)
        if mask is not None:
            return [self.found(mask)[1]]
        op = value.producer
        if op is None or value.dtype is not DataType.INT32:
            return None
        if value.rank is None or value.rank > 1 or _elements(value) > _LONGEST:
            return None
        if op.type == "Where":
            return self._chosen(op)
        ports = op.inputs[: 1 if op.type == "Reshape" else None]
        inputs = self._inputs_of(ports)
        if inputs is None:
            return None
        first: Any = inputs[0] if inputs else []
        if op.type in ("Identity", "Cast", "ExpandDims", "Squeeze", "Reshape"):
            return list(first)
        if op.type in ("Concat", "Stack"):
            return [number for part in inputs for number in part]
        if op.type == "Gather":
            places = [n for n in inputs[1] if isinstance(n, int)]
            return [first[n] for n in places] if places == inputs[1] else None
        if op.type == "StridedSlice" and len(op.attr("begins")) == 1:
            (b,), (e,), (s,) = (op.attr(n) for n in ("begins", "ends", "strides"))
            if s > 0 and e <= -END:
                return None
            return list(first[slice(b, e if abs(e) < END else None, s)])
        return self._arithmetic(value, op, inputs)

    def _inputs_of(self, ports: Sequence[Value | None]) -> list[list[Length]] | None:
        """The lengths in all of these lists, if they are known or beside counts."""
        lists = [v for v in ports if v is not None and v.rank in (0, 1)]
        if len(lists) != len(ports):
            return None
        found = [self.numbers(value) for value in lists]
        beside = any(isinstance(n, Count) for part in found for n in part or [])
        inputs = []
        for value, part in zip(lists, found):
            if part is None:
                if not beside or self.node.unshaped(value) is not None:
                    return None
                if value.dtype is not DataType.INT32 or _elements(value) > _LONGEST:
                    return None
                part = [self.element(value, i) for i in range(_elements(value))]
            inputs.append(part)
        return inputs

    def _chosen(self, op: Any) -> list[Length] | None:
        """Exporters replace -1 in shapes so."""
        compare = op.input(0).producer
        if compare is None or compare.type != "Eltwise":
            return None
        parts = self._inputs_of([*compare.inputs, *op.inputs[1:]])
        if compare.attr("mode") != "EQUAL" or parts is None:
            return None
        length = max(map(len, parts))
        result: list[Length] = []
        repeated = (part * (length // max(len(part), 1)) for part in parts)
        for one, two, yes, no in zip(*repeated):
            numbers = [n for n in (one, two) if isinstance(n, int)]
            if len(numbers) == 2:
                result.append(yes if one == two else no)
            elif numbers and numbers[0] < 0:
                result.append(no)  # no size is negative
            else:
                return None
        return result

    def _arithmetic(
        self, value: Value, op: Any, inputs: list[list[Length]]
    ) -> list[Length] | None:
        mode = op.attr("mode") if op.type in ("Eltwise", "Reduce") else ""
        lengths = [length for part in inputs for length in part]
        if _elements(value) != 1 or mode not in _FOLLOWED:
            return None
        if any(isinstance(length, int) and length < 0 for length in lengths):
            return None
        with self._counted.suspended():
            return [self.joined(_FOLLOWED[mode], lengths)]

    def symbols(self, value: Value) -> Array | None:
        """The elements of a value that was computed from shapes, with a symbol for
        each count (`formula`), whatever was done with the numbers; None if it was not.
        """
        shape = static(value.shape)
        if shape is None or math.prod(shape) > _LONGEST:
            return None
        if value.is_constant:
            return value.numpy().astype(object)
        numbers = self.numbers(value) if len(shape) <= 1 else None
        if numbers is not None:
            names = [self.formula(n) if isinstance(n, Count) else n for n in numbers]
            return np.asarray(names, object).reshape(shape)
        op = value.producer
        if op is None or len(op.outputs) != 1:
            return None
        inputs = [None if v is None else self.symbols(v) for v in op.inputs]
        if any(found is None for found in inputs):
            return None
        found = rules_of(op.type).symbolic(op, inputs)
        return None if found is None else np.asarray(found, object).reshape(shape)

    # Tensors ----------------------------------------------------------------

    def found(self, mask: Value) -> tuple[Value, Count]:
        """The positions of the elements that are not 0, and their number: the same for
        the same mask, so that what they choose can be combined.
        """
        self._counted.asked(mask)
        key = ("positions", mask)
        places = self._counted.remember(key, lambda: self._searched(mask))
        count = self.of_axis(places, 1)
        assert isinstance(count, Count)
        return places, count

    def _searched(self, mask: Value) -> Value:
        with self._counted.suspended():
            inputs = [self.masked(mask, 0)]
            places, count = self.node.make_all("NonZero", inputs, {}, 2)
        # A mask has as many in any shape.
        if self.of(mask) is None:
            key = ("number under", unreshaped(mask))
            count = self._counted.remember(key, lambda: count)
        self._counted.add(places, Counted(count, 1))
        return places

    def inside(self, value: Value, axis: int) -> Value:
        """[length]: whether an element along an axis counts."""
        own, length = self.of_axis(value, axis), self.in_memory(value, axis)

        def compared() -> Value:
            places = self.positions(length)
            if isinstance(own, Count):
                return self.node.eltwise("LESS", places, own.value)
            return self.node.eltwise("GREATER_EQUAL", places, self.value(0))

        return self._counted.remember(("inside", own, length), compared)

    def masked(
        self, x: Value, number: float, axes: Sequence[int] | None = None
    ) -> Value:
        """A tensor with a number in place of what does not count, if this is along one
        of these axes.
        """
        counted, node = self._counted.get(x), self.node
        if counted is None or (axes is not None and counted.axis not in axes):
            return x
        with self._counted.suspended():
            inside = self.inside(x, counted.axis)
            lined = [-1, *[1] * (len(node.shape(x)) - 1 - counted.axis)]
            inside = node.reshape(inside, lined)
            if x.dtype is DataType.BOOL:
                number = number > 0
            elif not x.dtype.is_float and np.isinf(number):
                bounds = np.iinfo(x.dtype.numpy)
                number = bounds.max if number > 0 else bounds.min
            return node.make("Where", [inside, x, node.scalar(number, x)])

    def longer(self, value: Value, axis: int, length: int) -> Value:
        """A tensor with zeros behind an axis, up to a length in memory."""
        shape = list(self.node.static_shape(value))
        shape[axis] = length - shape[axis]
        if shape[axis] <= 0 or shape[axis] == length:
            return value
        rest = self.node.literal(np.zeros(shape), value.dtype)
        return self.node.make("Concat", [value, rest], {"axis": axis})

    def either(self, condition: Value, one: Value, other: Value) -> Value | None:
        """The choice between branches of different lengths; None if their shapes do
        not differ along one axis only.
        """
        node, pair = self.node, (one, other)
        shapes = [static(value.shape) for value in pair]
        if shapes[0] is None or shapes[1] is None or len(shapes[0]) != len(shapes[1]):
            return None
        axes = {axis for axis, (a, b) in enumerate(zip(*shapes)) if a != b}
        axes |= {found.axis for value in pair if (found := self.of(value))}
        if len(axes) != 1:
            return None
        (axis,) = axes
        lengths = [shape[axis] for shape in shapes if shape is not None]
        with self._counted.suspended():
            counts = [self.of_axis(value, axis) for value in pair]
            chosen = [self.longer(value, axis, max(lengths)) for value in pair]
            if 0 in lengths:
                result = chosen[lengths.index(0) - 1]
                result = node.make("Identity", [result])
            else:
                result = node.make("Where", [condition, *chosen])
            count = self._counted.remember(
                ("where", condition, *counts),
                lambda: node.make("Where", [condition, *map(self.value, counts)]),
            )
        return self.limited(result, Count(count, max(lengths)), axis)

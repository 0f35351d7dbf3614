# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A node of which inputs only count in part: the counts, and what is made of them.

The dimensions that `Shape` gives are numbers and counts; shapes made of these are
followed through the operators that exporters use, so that `Reshape`, `TopK` and others
know the largest shape. Whatever computes the same count gets the same value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from mace.python.tools.importers.standard.lengths import Lengths
from mace.python.tools.importers.standard.node import Node
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.shapes import END, static

# Of what is made of shapes.
_LONGEST = 16


@dataclass(frozen=True)
class Size:
    """A number of elements that each run determines.

    Attributes:
        count: a value of one integer.
        most: the largest one.
    """

    count: Value
    most: int


Number = Union[int, Size]
# The largest result, from the largest operands.
_LARGEST: dict[str, Callable[[list[int]], int]] = {
    "ADD": sum,
    "MAX": max,
    "MIN": min,
    "MUL": math.prod,
    "PROD": math.prod,
}


def _elements(value: Value) -> int:
    shape = static(value.shape)
    return END if shape is None else math.prod(shape)


def unreshaped(mask: Value) -> Value:
    """The same elements in their first shape."""
    while mask.producer is not None and mask.producer.type in ("Identity", "Reshape"):
        mask = mask.producer.input(0)
    return mask


class CountedNode:
    """A node, and what counts of its inputs."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._known = node.builder.counted
        self.counted = [self._known.get(value) for value in node.inputs]
        self._names: dict[Value, int] = {}
        self.lengths = Lengths(node)

    @property
    def concerns(self) -> bool:
        """Whether an input depends on a number of elements."""
        if any(self.counted) or self.node.type == "NonZero":
            return True
        if self.node.type == "Slice" and len(self.node.inputs) > 2:
            places = [v for v in self.node.inputs[1:3] if v is not None]
            return any(self.node.unshaped(v) is not None for v in places)
        return any(self._dynamic(value) for value in self.node.inputs[1:]) or (
            self.node.type in ("Range", "ConstantOfShape")
            and self._dynamic(self.node.inputs[0])
        )

    def _dynamic(self, value: Value | None) -> bool:
        found = None if value is None else self.numbers(value)
        return found is not None and any(isinstance(n, Size) for n in found)

    # Numbers ----------------------------------------------------------------

    def settle(self) -> None:
        """Replaces inputs computed from shapes whose elements are known after all."""
        inputs = list(self.node.inputs)
        for index, value in enumerate(inputs):
            if value is None or value.is_constant:
                continue
            found = self.numbers(value)
            if found is None or any(isinstance(n, Size) for n in found):
                continue
            array = np.asarray(found).reshape(self.node.static_shape(value))
            inputs[index] = self.node.literal(array, DataType.INT32)
        self.node.inputs = tuple(inputs)

    def numbers(self, value: Value) -> list[Number] | None:
        """The elements of a value that was computed from shapes."""
        if self._known.get(value) is not None:
            return None
        if value.is_constant:
            if value.dtype is not DataType.INT32 or _elements(value) > _LONGEST:
                return None
            return [int(v) for v in value.numpy().reshape(-1)]
        known = self._known.facts.get(value)
        if known is None:
            known = tuple(self._computed(value) or ())
            self._known.facts[value] = known
        return list(known) or None

    def _computed(self, value: Value) -> list[Number] | None:
        mask = self._known.masks.get(value)
        if mask is not None:
            shape = static(mask.shape)
            count = self.found(mask)[1]
            return None if shape is None else [Size(count, math.prod(shape))]
        op = value.producer
        if op is None or value.dtype is not DataType.INT32:
            return None
        if value.rank is None or value.rank > 1 or _elements(value) > _LONGEST:
            return None
        if op.type == "Where":
            return self._chosen(op)
        inputs = []
        for port in op.inputs[: 1 if op.type == "Reshape" else None]:
            known = port is not None and port.rank in (0, 1)
            found = self.numbers(port) if port is not None and known else None
            if found is None:
                return None
            inputs.append(found)
        first: Any = inputs[0] if inputs else []
        if op.type in ("Identity", "Cast", "ExpandDims", "Squeeze", "Reshape"):
            return list(first)
        if op.type in ("Concat", "Stack"):
            return [number for part in inputs for number in part]
        if op.type == "Gather":
            if any(isinstance(n, Size) for n in inputs[1]):
                return None
            return [first[n] for n in inputs[1]]
        if op.type == "StridedSlice" and len(op.attr("begins")) == 1:
            (b,), (e,), (s,) = (op.attr(n) for n in ("begins", "ends", "strides"))
            if s > 0 and e <= -END:
                return None
            return list(first[slice(b, e if abs(e) < END else None, s)])
        return self._arithmetic(value, op, inputs)

    def _chosen(self, op: Any) -> list[Number] | None:
        """Exporters replace -1 in shapes so."""
        compare = op.input(0).producer
        if compare is None or compare.type != "Eltwise":
            return None
        values = [*compare.inputs, *op.inputs[1:]]
        parts = [None if v is None else self.numbers(v) for v in values]
        if compare.attr("mode") != "EQUAL" or any(part is None for part in parts):
            return None
        length = max(len(part or ()) for part in parts)
        result: list[Number] = []
        for one, two, yes, no in zip(
            *((part or []) * (length // len(part or [0])) for part in parts)
        ):
            numbers = [n for n in (one, two) if not isinstance(n, Size)]
            if len(numbers) == 2:
                result.append(yes if one == two else no)
            elif numbers and numbers[0] < 0:
                result.append(no)  # no size is negative
            else:
                return None
        return result

    def _arithmetic(
        self, value: Value, op: Any, inputs: list[list[Number]]
    ) -> list[Number] | None:
        if _elements(value) != 1:
            return None
        mode = op.attr("mode") if op.type in ("Eltwise", "Reduce") else ""
        numbers = [number for part in inputs for number in part]
        most = [n.most if isinstance(n, Size) else n for n in numbers]
        if mode not in _LARGEST or min(most, default=-1) < 0:
            return None
        largest = int(_LARGEST[mode](most))
        if not any(isinstance(n, Size) for n in numbers):
            return [largest]
        with self._known.suspended():
            count = self._same(mode, numbers)
            if count is None:
                count = self.node.make("Reshape", [value], {"shape": [1]})
        return [Size(count, largest)]

    def _same(self, mode: str, numbers: list[Number]) -> Value | None:
        """The value that stands for the same number wherever it is computed."""
        sizes = [n for n in numbers if isinstance(n, Size)]
        others = [n for n in numbers if not isinstance(n, Size)]
        if mode == "ADD":
            return self.total([n.count for n in sizes], sum(others))
        if len(sizes) != 1:
            return None
        if mode in ("MUL", "PROD"):
            return self.times(sizes[0].count, math.prod(others))
        return self.least(sizes[0].count, min(others)) if mode == "MIN" else None

    def symbols(self, value: Value) -> Array | None:
        """The elements of a value that was computed from shapes, with a name for each
        count (`name_of`), whatever was done with the numbers; None if it was not.
        """
        shape = static(value.shape)
        if shape is None or math.prod(shape) > _LONGEST:
            return None
        if value.is_constant:
            return value.numpy().astype(object)
        numbers = self.numbers(value) if len(shape) <= 1 else None
        if numbers is not None:
            names = [
                self.name_of(n.count) if isinstance(n, Size) else n for n in numbers
            ]
            return np.asarray(names, object).reshape(shape)
        op = value.producer
        if op is None or len(op.outputs) != 1:
            return None
        inputs = [None if v is None else self.symbols(v) for v in op.inputs]
        if any(found is None for found in inputs):
            return None
        found = rules_of(op.type).symbolic(op, inputs)
        return None if found is None else np.asarray(found, object).reshape(shape)

    def name_of(self, count: Value) -> str:
        """What `symbols` calls a count."""
        return f"count_{self._names.setdefault(count, len(self._names))}"

    def number_list(self, index: int) -> list[Number] | None:
        """The elements of an input; None if it is not made of shapes."""
        return self.numbers(self.node.input(index))

    # Values -----------------------------------------------------------------

    def found(self, mask: Value) -> tuple[Value, Value]:
        """The positions of the elements that are not 0, and their number: the same for
        the same mask, so that what they choose can be combined.
        """
        node = self.node

        def positions() -> Value:
            counted, x = self._known.get(mask), mask
            if counted is not None:
                if x.dtype is DataType.BOOL:
                    x = node.make("Cast", [x], {"to": "INT32"})
                x = self.masked(x, counted, 0)
            with self._known.suspended():
                places, count = node.make_all("NonZero", [x], {}, 2)
            # A mask has as many in any shape.
            if counted is None:
                key = ("number under", unreshaped(mask))
                count = self._known.remember(key, lambda: count)
            self._known.add(places, Counted(count, 1))
            return places

        places = self._known.remember(("positions", mask), positions)
        counted = self._known.get(places)
        assert counted is not None
        return places, counted.count

    def inside(self, value: Value, counted: Counted) -> Value:
        """[length]: whether an element along the axis counts."""

        def compared() -> Value:
            length = self.lengths.of_axis(value, counted.axis)
            places = self.lengths.positions(length)
            return self.node.eltwise("LESS", places, counted.count)

        length = self.node.shape(value)[counted.axis]
        key = ("inside", counted.count, value if length is None else length)
        return self._known.remember(key, compared)

    def masked(self, value: Value, counted: Counted, number: float) -> Value:
        """The value with a number in place of what does not count."""
        node = self.node
        inside = self.inside(value, counted)
        behind = len(node.shape(value)) - 1 - counted.axis
        if behind:
            inside = node.make("Reshape", [inside], {"shape": [-1, *[1] * behind]})
        if value.dtype is DataType.BOOL:
            number = number > 0
        elif not value.dtype.is_float and np.isinf(number):
            bounds = np.iinfo(value.dtype.numpy)
            number = bounds.max if number > 0 else bounds.min
        return node.make("Where", [inside, value, node.scalar(number, value)])

    def other_elements(self, value: Value, without: Set[int]) -> int | Value:
        """The number of elements of a value along all other axes."""
        axes = [a for a in range(len(self.node.shape(value))) if a not in without]
        return self.known(
            self.lengths.product([self.lengths.of_axis(value, a) for a in axes])
        )

    def known(self, length: Value) -> int | Value:
        """A length as a number, if it is one before the run."""
        dim = self.lengths.dim(length)
        return dim if isinstance(dim, int) else length

    def result(self, index: int, value: Value, counted: Counted | None) -> None:
        """Sets an output and says what counts of it."""
        node = self.node
        if not node.is_used(index):
            return
        node.set_output(index, value)
        if counted is not None:
            made = node.results[node.name_of(index)]
            self._known.add(made, counted)
            if made is not value:
                self._known.add(value, counted)

    def unknown(self, value: Value) -> Value:
        """A value that no operator takes for a constant, all of which counts."""
        if not value.is_constant:
            return value
        return self.node.builder.op("Identity", [value], fold=False)[0]

    def own_results(self, inputs: Sequence[Value | None], count: int) -> list[Value]:
        """What the operator's own handler makes of other inputs."""
        return self.node.apply_all(self.node.type, inputs, count)

    def size(self, number: Number | Value) -> Value:
        """A number as a value of one integer."""
        if isinstance(number, Value):
            return number
        if isinstance(number, Size):
            return number.count
        return self.node.literal([number], DataType.INT32)

    def least(self, count: Value, number: Number) -> Value:
        """The smaller of both."""
        if isinstance(number, Size) and (
            number.count is count or self._known.limits.get(number.count) is count
        ):
            return number.count
        result = self._known.remember(
            ("least", count, number),
            lambda: self.node.eltwise("MIN", count, self.size(number)),
        )
        self._known.limits[result] = count
        return result

    def total(self, counts: Sequence[Value], number: int | Value) -> Value:
        """The sum of all."""
        known, result = self._known, counts[0]
        for other in counts[1:]:
            pair = (result, other)
            result = known.remember(
                ("sum", frozenset(pair)),
                lambda: self.node.make("Eltwise", pair, {"mode": "ADD"}),  # noqa: B023
            )
        if number == 0:
            return result
        return known.remember(
            ("more", result, number),
            lambda: self.node.eltwise("ADD", result, self.size(number)),
        )

    def times(self, count: Value, number: int | Value) -> Value:
        """The product of both."""
        if number == 1:
            return count
        product = self._known.remember(
            ("times", count, number),
            lambda: self.node.eltwise("MUL", count, self.size(number)),
        )
        if isinstance(number, int):
            self._known.multiples[product] = (count, number)
        return product

    def part(self, count: Value, number: int) -> Value | None:
        """The count of which this one is a multiple."""
        one, factor = self._known.multiples.get(count, (count, 1))
        return one if factor == number else None

    def remember(self, key: Any, make: Callable[[], Value]) -> Value:
        """A helper value that is made once."""
        return self._known.remember(key, make)

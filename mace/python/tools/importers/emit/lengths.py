# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Lengths of axes, and arithmetic on them.

A length is an integer if it is known before the run; a value of one integer if each run
computes it from shapes, before it plans its memory; and a `Count` if the data of a run
determine it (ir/counted.py). What computes the same length twice is the same value, so
that lengths can be compared.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Union

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir import dims
from mace.python.tools.ir.builder import GraphBuilder, narrow_constant
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.dims import Dim
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules import Make


@dataclass(frozen=True)
class Count:
    """A number of elements that the data of a run determine.

    Attributes:
        value: of one integer.
        most: the largest that it can be, which no data determine.
    """

    value: Value
    most: Union[int, Value]


Length = Union[int, Value, Count]

_INTEGERS: Mapping[str, Callable[[int, int], int]] = {
    "ADD": operator.add,
    "SUB": operator.sub,
    "MUL": operator.mul,
    "FLOOR_DIV": operator.floordiv,
    "FLOOR_MOD": operator.mod,
    "MIN": min,
    "MAX": max,
}
_FORMULAS: Mapping[str, Callable[[Dim, Dim], Dim]] = {
    "ADD": dims.add,
    "SUB": dims.subtract,
    "MUL": dims.multiply,
    "FLOOR_DIV": dims.floor_divide,
    "FLOOR_MOD": dims.modulo,
    "MIN": dims.minimum,
    "MAX": dims.maximum,
}
# What changes nothing on the right.
_NEUTRAL = {"ADD": 0, "SUB": 0, "MUL": 1, "FLOOR_DIV": 1}
# The operands can change places, and larger operands have no smaller result.
_MONOTONIC = ("ADD", "MUL", "MIN", "MAX")


class Lengths:
    """Adds operators on lengths to a graph."""

    def __init__(self, make: Make, builder: GraphBuilder, label: str = "") -> None:
        """
        Args:
            make: adds an operator.
            builder: of the graph.
            label: of the framework's node; the names of constants begin with it.
        """
        self.make = make
        self._builder = builder
        self._label = label

    # Lengths ----------------------------------------------------------------

    def of_axis(self, x: Value, axis: int) -> Length:
        """The length of an axis: how many elements count."""
        counted = self._builder.counted.get(x)
        self._builder.counted.asked(x)
        if counted is None or counted.axis != axis:
            return self.in_memory(x, axis)
        return Count(counted.count, self.in_memory(x, axis))

    def in_memory(self, x: Value, axis: int) -> int | Value:
        """The length of an axis, of which not all elements need to count."""
        if x.shape is None:
            raise UnsupportedNodeError(f"the rank of {x.name} is not known")
        dim = x.shape[axis]
        if isinstance(dim, int):
            return dim

        def computed() -> Value:
            return self.cut(self.make("Shape", [x], {}), axis)

        known = self._builder.counted
        key = ("length", x, axis) if dim is None else ("length", dim)
        with known.suspended():
            return self._settled(known.remember(key, computed))

    def cut(self, lengths: Value, index: int) -> Value:
        """An element of a list of lengths."""
        cut = {"axes": [0], "begins": [index], "ends": [index + 1], "strides": [1]}
        return self.make("StridedSlice", [lengths], cut)

    def dim(self, length: Length) -> Dim:
        """What is known of a length before the run."""
        if not isinstance(length, Value):
            return length if isinstance(length, int) else None
        if length.is_constant:
            return int(length.numpy().reshape(-1)[0])
        if length.dims is None:
            return None
        found: Dim = length.dims.reshape(-1)[0]
        return found

    def formula(self, length: Length) -> Dim:
        """What is known of a length, in which each count that data determine is a
        symbol.
        """
        if isinstance(length, Count):
            return self._builder.counted.formula(length.value)
        return self.dim(length)

    def most(self, length: Length) -> int | Value:
        """The largest that a length can be, which no data determine."""
        return length.most if isinstance(length, Count) else length

    def compute(self, mode: str, a: Length, b: Length) -> Length:
        """A mode of Eltwise; quotients are rounded down."""
        if isinstance(a, int) and isinstance(b, int):
            return _INTEGERS[mode](a, b)
        if isinstance(a, int) and mode in _MONOTONIC:
            a, b = b, a
        if isinstance(b, int) and b == _NEUTRAL.get(mode):
            return a
        if mode == "MUL" and b == 0:
            return 0
        if mode in ("MIN", "MAX"):
            if self._at_least(b, a):
                return a if mode == "MIN" else b
            if self._at_least(a, b):
                return b if mode == "MIN" else a
        result = self._computed(mode, a, b)
        counts = any(isinstance(operand, Count) for operand in (a, b))
        if isinstance(result, int) or not counts or mode not in _MONOTONIC:
            return result
        most = self.most(self.compute(mode, self.most(a), self.most(b)))
        return Count(result, most)

    def _at_least(self, a: Length, b: Length) -> bool:
        """Whether a >= b in every run, as far as is known."""
        limited = self._builder.counted.limits
        if isinstance(a, Count) and isinstance(b, Count) and b.value in limited:
            known = a.value in limited[b.value]
        else:
            known = False
        least = self.formula(a)
        bounds = (self.formula(b), self.dim(self.most(b)))
        return known or any(dims.at_least(least, bound) for bound in bounds)

    def _computed(self, mode: str, a: Length, b: Length) -> int | Value:
        formula = _FORMULAS[mode](self.formula(a), self.formula(b))
        if isinstance(formula, int):
            return formula
        both = tuple(x.value if isinstance(x, Count) else x for x in (a, b))
        unordered = mode in _MONOTONIC and not isinstance(b, int)
        key: Hashable = (mode, frozenset(both) if unordered else both)

        def make() -> Value:
            like = both[0] if isinstance(both[0], Value) else both[1]
            assert isinstance(like, Value)
            rank = len(like.shape or ())
            operands = [self._as_value(x, rank) for x in both]
            return self.make("Eltwise", operands, {"mode": mode})

        known = self._builder.counted
        result = known.remember(key if formula is None else ("length", formula), make)
        if any(isinstance(x, Count) for x in (a, b)):
            known.formulas.setdefault(result, formula)
        if mode == "MIN":
            known.limits[result] = frozenset(x for x in both if isinstance(x, Value))
        return self._settled(result)

    def _as_value(self, x: int | Value, rank: int) -> Value:
        return x if isinstance(x, Value) else self.constant([x] if rank else x)

    def _settled(self, value: Value) -> int | Value:
        """A length that turned out to be known."""
        return int(value.numpy().reshape(-1)[0]) if value.is_constant else value

    def total(self, lengths: Sequence[Length]) -> Length:
        """The sum of all."""
        return self.joined("ADD", [*lengths, 0])

    def product(self, lengths: Sequence[Length]) -> Length:
        """The product of all."""
        return self.joined("MUL", [*lengths, 1])

    def joined(self, mode: str, lengths: Sequence[Length]) -> Length:
        """One result of all, whose order makes no difference."""
        # Numbers last, so that the same lengths in another order are the same value.
        numbers = [n for n in lengths if isinstance(n, int)]
        every: list[Length] = [n for n in lengths if not isinstance(n, int)]
        if numbers:
            every.append(functools.reduce(_INTEGERS[mode], numbers))
        return functools.reduce(functools.partial(self.compute, mode), every)

    def divided(self, count: Count, number: int) -> Count | None:
        """A count divided by a number, if it is known to be a multiple of it."""
        if dims.divide_exactly(self.formula(count), number) is None:
            return None
        most = self.most(self.compute("FLOOR_DIV", count.most, number))
        value = self._computed("FLOOR_DIV", count, number)
        assert isinstance(value, Value)
        return Count(value, most)

    # Values -----------------------------------------------------------------

    def constant(self, data: int | Sequence[int]) -> Value:
        """A constant of integers."""
        narrowed = narrow_constant(np.asarray(data, np.int64))
        return self._builder.graph.add_constant(f"{self._label}/length", narrowed)

    def value(self, length: Length) -> Value:
        """[1]: a length."""
        if isinstance(length, int):
            return self.constant([length])
        value = length.value if isinstance(length, Count) else length
        return value if value.rank == 1 else self._shaped(length, [1])

    def scalar(self, length: Length) -> Value:
        """A length as a value of rank 0."""
        if isinstance(length, int):
            return self.constant(length)
        value = length.value if isinstance(length, Count) else length
        return value if value.rank == 0 else self._shaped(length, [])

    def _shaped(self, length: Value | Count, shape: list[int]) -> Value:
        value = length.value if isinstance(length, Count) else length
        result = self.make("Reshape", [value], {"shape": shape})
        return self._noted(result, [length])

    def listed(self, lengths: Sequence[Length]) -> Value:
        """Lengths one after the other, as a shape."""
        if all(isinstance(length, int) for length in lengths):
            return self.constant([n for n in lengths if isinstance(n, int)])
        parts = [self.value(length) for length in lengths]
        if len(parts) > 1:
            return self._noted(self.make("Concat", parts, {"axis": 0}), lengths)
        if not isinstance(lengths[0], Count):
            return parts[0]
        return self._noted(self.make("Identity", parts, {}), lengths)

    def _noted(self, value: Value, lengths: Sequence[Length]) -> Value:
        """Remembers what a value of counts is made of."""
        if any(isinstance(length, Count) for length in lengths):
            self._builder.counted.facts[value] = tuple(lengths)
        return value

    def counted_up(self, begin: Length, end: Length, step: int = 1) -> Value:
        """The numbers from `begin` to the one before `end`."""
        numbers = [self.scalar(length) for length in (begin, end, step)]
        return self.make("Range", numbers, {})

    def positions(self, length: Length) -> Value:
        """The numbers from 0 to the one before `length`."""
        if not isinstance(length, Count):
            return self.counted_up(0, length)
        return self.limited(self.positions(length.most), length, 0)

    def limited(self, value: Value, length: Length, axis: int) -> Value:
        """A value of which only so many elements along an axis count."""
        if not isinstance(length, Count):
            return value
        if value.is_constant:
            # No operator may take it for one, all of which counts.
            value = self._builder.op("Identity", [value], fold=False)[0]
        self._builder.counted.add(value, Counted(length.value, axis))
        return value

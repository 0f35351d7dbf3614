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
from collections import ChainMap, Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from mace.python.tools.ir.dims import Dim
from mace.python.tools.ir.evaluate import ShapeError
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules import rules_of


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
        self._made: ChainMap[Hashable, Value] = ChainMap()
        self._asked: Counter[Value] = Counter()
        # What an importer knows of values that it computes from counts.
        self.facts: dict[Value, Any] = {}
        # The masks of which a value is the number of elements that are not 0.
        self.masks: dict[Value, Value] = {}
        # The counts that are at least as large.
        self.limits: dict[Value, frozenset[Value]] = {}
        # Counts as formulas of other counts, and of lengths (ir/dims.py).
        self.formulas: dict[Value, Dim] = {}

    @contextlib.contextmanager
    def suspended(self) -> Iterator[None]:
        """While an importer computes with whole values and says itself what counts."""
        before, self._suspended = self._suspended, True
        try:
            yield
        finally:
            self._suspended = before

    @contextlib.contextmanager
    def in_loop(self) -> Iterator[None]:
        """While an importer makes the operators of a loop that the engine runs: what is
        remembered there is forgotten, since nobody outside may read it.
        """
        self._made = self._made.new_child()
        try:
            yield
        finally:
            self._made = self._made.parents

    def remember(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value that `make` made for this key at first: equal counts need to be
        the same value.
        """
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def formula(self, count: Value) -> Dim:
        """A count as a formula; a symbol if it is made of no other one."""
        if count not in self.formulas:
            symbol = f"count {len(self.formulas)}"
            self.formulas[count] = symbol
            self.remember(("length", symbol), lambda: count)
        return self.formulas[count]

    def add(self, value: Value, counted: Counted) -> None:
        """Says of a new value what counts of it."""
        self._counted[value] = counted

    def get(self, value: Value | None) -> Counted | None:
        """What counts of a value; None if all does."""
        return None if value is None else self._counted.get(value)

    def asked(self, value: Value) -> None:
        """Says that an importer took from a value how many elements count."""
        self._asked[value] += 1

    @contextlib.contextmanager
    def require_reads(self, inputs: Iterable[Value | None]) -> Iterator[None]:
        """While a handler of an importer takes a node's inputs.

        Raises:
            ShapeError: it took only the shape of one, which is the largest one.
        """
        counted = [v for v in inputs if v is not None and v in self._counted]
        before = [(len(value.uses), self._asked[value]) for value in counted]
        yield
        for value, then in zip(counted, before):
            if (len(value.uses), self._asked[value]) == then:
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
        one = len({counted.count for _, counted in found}) == 1
        if one and all(op.input(index).shape is not None for index, _ in found):
            axes = {index: counted.axis for index, counted in found}
            axis = rules_of(op.type).moves_axis(op, axes)
        if axis is None:
            reader, counted = op.input(found[0][0]), found[0][1]
            raise ShapeError(
                f"only the run determines how many elements {reader.name} has along "
                f"axis {counted.axis}, and {op.type} {op.name!r} would need to know: "
                "end the model before it with output_tensors"
            )
        for value in op.outputs:
            self._counted[value] = Counted(found[0][1].count, axis)

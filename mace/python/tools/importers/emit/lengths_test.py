# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Lengths are computed once, and as integers where they are known."""

from __future__ import annotations

import pytest

from mace.python.tools.importers.emit.lengths import Count, Length, Lengths
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value


class _Case:
    """A tensor [batch, words, 4], and the elements of a list of 8 that are not 0."""

    def __init__(self) -> None:
        self.builder = GraphBuilder("model", "onnx")
        self.x = self.builder.input("x", DataType.FLOAT32, (None, None, 4))
        mask = self.builder.input("mask", DataType.BOOL, (8,))
        with self.builder.counted.suspended():
            names = ["places", "count"]
            self.places, count = self.builder.op("NonZero", [mask], names)
        self.builder.counted.add(self.places, Counted(count, 1))
        self.lengths = Lengths(
            lambda kind, inputs, attrs: self.builder.one(kind, inputs, None, attrs),
            self.builder,
            "node",
        )

    def open(self, axis: int = 0) -> Value:
        length = self.lengths.of_axis(self.x, axis)
        assert isinstance(length, Value)
        return length

    def count(self) -> Count:
        length = self.lengths.of_axis(self.places, 1)
        assert isinstance(length, Count)
        return length


def test_lengths_of_axes() -> None:
    case = _Case()
    assert case.lengths.of_axis(case.x, 2) == 4
    assert case.open() is case.open()
    assert case.lengths.dim(case.open()) == case.x.shape[0]  # type: ignore[index]
    assert case.count().most == 8
    assert case.lengths.in_memory(case.places, 1) == 8


@pytest.mark.parametrize("mode", ["ADD", "SUB", "MUL", "FLOOR_DIV"])
def test_numbers_are_computed_at_once(mode: str) -> None:
    case = _Case()
    wanted = {"ADD": 9, "SUB": 5, "MUL": 14, "FLOOR_DIV": 3}
    assert case.lengths.compute(mode, 7, 2) == wanted[mode]
    neutral = 0 if mode in ("ADD", "SUB") else 1
    for length in (case.open(), case.count()):
        assert case.lengths.compute(mode, length, neutral) is length


def test_the_same_in_another_order_is_the_same_value() -> None:
    case = _Case()
    a, b, count = case.open(0), case.open(1), case.count()
    for join in (case.lengths.total, case.lengths.product):
        one, other = join([2, a, count, b, 3]), join([a, 3, count, b, 2])
        assert isinstance(one, Count) and isinstance(other, Count)
        assert one.value is other.value
        assert one.most is other.most


def test_what_is_known_to_be_smaller() -> None:
    case = _Case()
    a, count, compute = case.open(), case.count(), case.lengths.compute
    more = compute("ADD", a, 1)
    pairs: list[tuple[Length, Length]] = [(a, more), (count, 8), (0, a), (0, count)]
    for less, larger in pairs:
        assert compute("MIN", less, larger) == compute("MIN", larger, less) == less
        assert compute("MAX", less, larger) == compute("MAX", larger, less) == larger
    few = compute("MIN", count, 3)
    assert isinstance(few, Count) and few.most == 3
    assert compute("MIN", count, few) is few
    assert compute("MAX", few, count) is count


def test_lengths_that_cancel_are_known() -> None:
    case = _Case()
    more = case.lengths.compute("ADD", case.open(), 3)
    assert case.lengths.compute("SUB", more, case.open()) == 3
    assert case.lengths.compute("MUL", case.open(), 0) == 0


def test_equal_lengths_of_other_tensors_are_the_same_value() -> None:
    case = _Case()
    lengths, count, shape = case.lengths, case.count(), case.x.shape
    assert shape is not None
    other = case.builder.input("other", DataType.FLOAT32, (8, shape[0]))
    assert lengths.of_axis(other, 1) is case.open()
    one = lengths.compute("ADD", count, lengths.in_memory(other, 1))
    more = lengths.compute("ADD", lengths.compute("ADD", count, 2), case.open())
    assert isinstance(one, Count)
    assert lengths.compute("ADD", one, 2) == more
    assert lengths.compute("SUB", more, one) == 2
    assert lengths.compute("MAX", more, one) == more


def test_a_multiple_is_divided() -> None:
    case = _Case()
    count, lengths = case.count(), case.lengths
    double = lengths.compute("MUL", count, 2)
    fourfold = lengths.compute("MUL", double, 2)
    assert isinstance(double, Count) and isinstance(fourfold, Count)
    assert fourfold.most == 32
    assert lengths.divided(fourfold, 2) == double
    assert lengths.divided(fourfold, 4) == count
    assert lengths.divided(fourfold, 3) is None


def test_numbers_up_to_a_count() -> None:
    case = _Case()
    places = case.lengths.positions(case.count())
    assert places.shape == (8,)
    found = case.builder.counted.get(places)
    assert found == Counted(case.count().value, 0)

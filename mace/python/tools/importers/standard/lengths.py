# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Lengths that each run determines from the shapes of its inputs, and what nodes make
of tensors with them: slices, expansions, repetitions.

The runtime knows such lengths before it plans its memory. What an operator cannot have
as an attribute becomes a `Gather` by positions that `Range` counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import STATIC_HINT, Node
from mace.python.tools.ir import dims
from mace.python.tools.ir.dims import Dim
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import END


class Lengths:
    """What a node computes of lengths. Each is a value of one integer."""

    def __init__(self, node: Node) -> None:
        self._node = node

    # Lengths ----------------------------------------------------------------

    def known(self, value: Value) -> list[Dim]:
        """The elements of a list of lengths, as far as they are known.

        Raises:
            UnsupportedNodeError: it depends on more than shapes, or its own length is
                not known.
        """
        if value.is_constant:
            return [int(v) for v in value.numpy().reshape(-1)]
        self._node.require_shape_only(value, value.name)
        if value.dims is not None:
            return list(value.dims.reshape(-1))
        count = 1
        for dim in self._node.static_shape(value):
            count *= dim
        return [None] * count

    def number(self, number: int) -> Value:
        """A number as a length."""
        return self._node.literal([number], DataType.INT32)

    def element(self, value: Value, index: int) -> Value:
        """An element of a list of lengths."""
        known = self.known(value)
        found = known[index]
        if isinstance(found, int):
            return self.number(found)
        if len(known) == 1:
            return self._node.make("Reshape", [value], {"shape": [1]})
        cut = {"axes": [0], "begins": [index], "ends": [index + 1], "strides": [1]}
        return self._node.make("StridedSlice", [value], cut)

    def of_axis(self, x: Value, axis: int) -> Value:
        """The length of an axis."""
        dim = self._node.shape(x)[axis]
        if isinstance(dim, int):
            return self.number(dim)
        return self.element(self._node.make("Shape", [x]), axis)

    def dim(self, length: Value) -> Dim:
        """What is known of a length."""
        return self.known(length)[0]

    def smaller(self, a: Value, b: Value) -> Value:
        """The smaller one of two."""
        if dims.at_least(self.dim(b), self.dim(a)):
            return a
        if dims.at_least(self.dim(a), self.dim(b)):
            return b
        return self._node.eltwise("MIN", a, b)

    def larger(self, a: Value, b: Value) -> Value:
        """The larger one of two."""
        if dims.at_least(self.dim(a), self.dim(b)):
            return a
        if dims.at_least(self.dim(b), self.dim(a)):
            return b
        return self._node.eltwise("MAX", a, b)

    def total(self, a: Value, b: Value) -> Value:
        """The sum of two."""
        if self.dim(a) == 0:
            return b
        return a if self.dim(b) == 0 else self._node.eltwise("ADD", a, b)

    def product(self, lengths: Sequence[Value]) -> Value:
        """The product of all."""
        result = self.number(1)
        for length in lengths:
            is_first = self.dim(result) == 1
            result = length if is_first else self._node.eltwise("MUL", result, length)
        return result

    def counted_up(self, begin: Value, end: Value, step: int = 1) -> Value:
        """The numbers from `begin` to the one before `end`."""
        scalars = [
            self._node.make("Reshape", [length], {"shape": []})
            for length in (begin, end, self.number(step))
        ]
        return self._node.make("Range", scalars)

    def positions(self, length: Value) -> Value:
        """The numbers from 0 to the one before `length`."""
        return self.counted_up(self.number(0), length)

    # Tensors ----------------------------------------------------------------

    def expanded(self, x: Value, shape: Value) -> Value:
        """`x` broadcast with a tensor of a shape, which is a list of lengths."""
        node, wanted = self._node, self.known(shape)
        own = node.shape(x)
        added = len(wanted) - len(own)
        if added > 0:
            x = node.make("ExpandDims", [x], {"axes": list(range(added))})
            own = node.shape(x)
        offset = len(own) - len(wanted)
        for index, new in enumerate(wanted):
            axis = offset + index
            if new == 1 or (new is not None and new == own[axis]):
                continue
            if isinstance(own[axis], int) and own[axis] != 1:
                continue  # what differs from it can only be 1
            x = self._lengthened(x, axis, self.element(shape, index))
        return x

    def _lengthened(self, x: Value, axis: int, length: Value) -> Value:
        """An axis with one element, or as many as wanted, broadcast."""
        node = self._node
        if node.shape(x)[axis] == 1:
            places = self._node.eltwise("MUL", self.positions(length), self.number(0))
        else:
            own = self.of_axis(x, axis)
            last = self._node.eltwise("SUB", own, self.number(1))
            counted = self.positions(self.larger(own, length))
            places = self._node.eltwise("MIN", counted, last)
        return node.make("Gather", [x, places], {"axis": axis})

    def padded(
        self, x: Value, axis: int, before: Value, after: Value, mode: str, value: float
    ) -> Value:
        """An axis with so many elements more at its ends, or fewer if the numbers are
        negative.

        Args:
            mode: of ONNX's Pad.
            value: of new elements in mode "constant".
        """
        node, make = self._node, self._node.eltwise
        own = self.of_axis(x, axis)
        total = make("ADD", make("ADD", own, before), after)
        places = make("SUB", self.positions(total), before)
        last = make("SUB", own, self.number(1))
        if mode == "reflect":
            places = node.make("Eltwise", [places], {"mode": "ABS"})
            behind = node.make("Eltwise", [make("SUB", last, places)], {"mode": "ABS"})
            taken = make("SUB", last, behind)
        elif mode == "wrap":
            taken = make("FLOOR_MOD", places, own)
        else:
            taken = make("MAX", make("MIN", places, last), self.number(0))
        result = node.make("Gather", [x, taken], {"axis": axis})
        if mode != "constant":
            return result
        kept = node.make("Eltwise", [places, taken], {"mode": "EQUAL"})
        lined = [-1, *[1] * (len(node.shape(x)) - 1 - axis)]
        kept = node.make("Reshape", [kept], {"shape": lined})
        return node.make("Where", [kept, result, node.scalar(value, x)])

    def filled(self, number: Value, shape: Value) -> Value:
        """A tensor of a shape with the same number everywhere.

        Args:
            number: of one element.
            shape: a list of lengths.
        """
        rank = len(self.known(shape))
        one = self._node.make("Reshape", [number], {"shape": [1] * rank})
        return self.expanded(one, shape)

    def repeated(self, x: Value, axis: int, times: Value) -> Value:
        """An axis several times, one after the other."""
        own = self.of_axis(x, axis)
        counted = self.positions(self._node.eltwise("MUL", own, times))
        places = self._node.eltwise("FLOOR_MOD", counted, own)
        return self._node.make("Gather", [x, places], {"axis": axis})

    def sliced(self, x: Value, axis: int, begin: Value, end: Value, step: int) -> Value:
        """Every step-th element of an axis, as the operator Slice counts them."""
        node = self._node
        known = [self.dim(begin), self.dim(end)]
        dim = node.shape(x)[axis]
        if dim is not None and dims.at_least(known[1], dim):
            known[1] = END
        if all(isinstance(place, int) for place in known):
            cut = {"axes": [axis], "begins": [known[0]], "ends": [known[1]]}
            return node.make("StridedSlice", [x], {**cut, "strides": [step]})
        if step < 0:
            raise UnsupportedNodeError(
                f"a step of {step} between positions computed at run time", STATIC_HINT
            )
        own = self.of_axis(x, axis)
        first, last = (self._place(place, own) for place in (begin, end))
        places = self.counted_up(first, last, step)
        return node.make("Gather", [x, places], {"axis": axis})

    def _place(self, place: Value, length: Value) -> Value:
        """A position, counted from the end if it is negative, within an axis."""
        known = self.dim(place)
        if not dims.at_least(known, 0):
            from_end = self.total(length, place)
            if dims.at_least(dims.subtract(0, known), 1):
                place = from_end
            else:
                negative = self._node.eltwise("LESS", place, self.number(0))
                place = self._node.make("Where", [negative, from_end, place])
            place = self.larger(place, self.number(0))
        return self.smaller(place, length)

    def triangle(self, x: Value, k: int, upper: bool) -> Value:
        """The elements of matrices on one side of a diagonal; 0 elsewhere."""
        kept = self._beside(x, k, "GREATER_EQUAL" if upper else "LESS_EQUAL")
        return self._node.make("Where", [kept, x, self._node.scalar(0, x)])

    def diagonal(self, x: Value, k: int) -> Value:
        """Which elements of matrices like x are on a diagonal."""
        return self._beside(x, k, "EQUAL")

    def _beside(self, x: Value, k: int, mode: str) -> Value:
        """How columns of matrices compare with those on a diagonal."""
        node, rank = self._node, len(self._node.shape(x))
        rows, columns = (
            self.positions(self.of_axis(x, axis)) for axis in (rank - 2, rank - 1)
        )
        rows = node.make("Reshape", [rows], {"shape": [-1, 1]})
        diagonal = self._node.eltwise("ADD", rows, node.literal(k, DataType.INT32))
        return self._node.eltwise(mode, columns, diagonal)


def is_open(value: Value | None) -> bool:
    """Whether the elements of an input are computed in each run."""
    return value is not None and not value.is_constant


def scalar_of(node: Node, array: Array | None) -> Value:
    """One number of an attribute, 0 without one."""
    number = np.zeros((), np.float32) if array is None else array.reshape(-1)[0]
    return node.builder.constant(f"{node.label}/number", np.asarray(number))

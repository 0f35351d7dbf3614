# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What nodes make of tensors with lengths that each run determines from the shapes of
its inputs: slices, expansions, repetitions.

The runtime knows such lengths before it plans its memory. What an operator cannot have
as an attribute becomes a `Gather` by positions that `Range` counts.
"""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.emit.lengths import Length, Lengths
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import STATIC_HINT, Node
from mace.python.tools.ir import dims
from mace.python.tools.ir.dims import Dim
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import END


class NodeLengths(Lengths):
    """What a node computes of lengths, and makes of tensors with them."""

    def __init__(self, node: Node) -> None:
        super().__init__(node.make, node.builder, node.label)
        self.node = node

    # Lengths ----------------------------------------------------------------

    def known(self, value: Value) -> list[Dim]:
        """The elements of a list of lengths, as far as they are known.

        Raises:
            UnsupportedNodeError: it depends on more than shapes, or its own length is
                not known.
        """
        if value.is_constant:
            return [int(v) for v in value.numpy().reshape(-1)]
        self.node.require_shape_only(value, value.name)
        if value.dims is not None:
            return list(value.dims.reshape(-1))
        return [None] * math.prod(self.node.static_shape(value))

    def element(self, value: Value, index: int) -> Length:
        """An element of a list of lengths."""
        known = self.known(value)
        found = known[index]
        if isinstance(found, int):
            return found
        return value if len(known) == 1 else self.cut(value, index)

    # Tensors ----------------------------------------------------------------

    def expanded(self, x: Value, shape: Value) -> Value:
        """`x` broadcast with a tensor of a shape, which is a list of lengths."""
        node, wanted = self.node, self.known(shape)
        own = node.shape(x)
        added = len(wanted) - len(own)
        if added > 0:
            x = node.expand_dims(x, list(range(added)))
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

    def _lengthened(self, x: Value, axis: int, length: Length) -> Value:
        """An axis with one element, or as many as wanted, broadcast."""
        node = self.node
        if node.shape(x)[axis] == 1:
            places = node.eltwise("MUL", self.positions(length), self.value(0))
        else:
            own = self.of_axis(x, axis)
            last = self.value(self.compute("SUB", own, 1))
            counted = self.positions(self.compute("MAX", own, length))
            places = node.eltwise("MIN", counted, last)
        return node.make("Gather", [x, places], {"axis": axis})

    def padded(
        self, x: Value, axis: int, pads: tuple[Length, Length], mode: str, value: float
    ) -> Value:
        """An axis with so many elements more at its ends, or fewer if the numbers are
        negative.

        Args:
            pads: before and behind.
            mode: of ONNX's Pad.
            value: of new elements in mode "constant".
        """
        node, make = self.node, self.node.eltwise
        own = self.of_axis(x, axis)
        total = self.total([own, *pads])
        places = make("SUB", self.positions(total), self.value(pads[0]))
        last = self.value(self.compute("SUB", own, 1))
        if mode == "reflect":
            places = node.eltwise("ABS", places)
            behind = node.eltwise("ABS", make("SUB", last, places))
            taken = make("SUB", last, behind)
        elif mode == "wrap":
            taken = make("FLOOR_MOD", places, self.value(own))
        else:
            taken = make("MAX", make("MIN", places, last), self.value(0))
        result = node.make("Gather", [x, taken], {"axis": axis})
        if mode != "constant":
            return result
        kept = node.eltwise("EQUAL", places, taken)
        lined = [-1, *[1] * (len(node.shape(x)) - 1 - axis)]
        kept = node.reshape(kept, lined)
        return node.make("Where", [kept, result, node.scalar(value, x)])

    def filled(self, number: Value, shape: Value) -> Value:
        """A tensor of a shape with the same number everywhere.

        Args:
            number: of one element.
            shape: a list of lengths.
        """
        rank = len(self.known(shape))
        one = self.node.reshape(number, [1] * rank)
        return self.expanded(one, shape)

    def parted(self, x: Value, axis: int, count: int) -> Value:
        """A tensor with an axis in so many equal parts, an axis of their own."""
        sizes = [self.of_axis(x, place) for place in range(len(self.node.shape(x)))]
        sizes[axis : axis + 1] = [count, self.compute("FLOOR_DIV", sizes[axis], count)]
        return self.node.make("Reshape", [x, self.listed(sizes)])

    def merged(self, x: Value, axis: int, count: int) -> Value:
        """A tensor with so many axes as one."""
        sizes = [self.of_axis(x, place) for place in range(len(self.node.shape(x)))]
        sizes[axis : axis + count] = [self.product(sizes[axis : axis + count])]
        return self.node.make("Reshape", [x, self.listed(sizes)])

    def repeated(self, x: Value, axis: int, times: Length) -> Value:
        """An axis several times, one after the other."""
        own = self.of_axis(x, axis)
        counted = self.positions(self.product([own, times]))
        places = self.node.eltwise("FLOOR_MOD", counted, self.value(own))
        return self.node.make("Gather", [x, places], {"axis": axis})

    def sliced(
        self, x: Value, axis: int, begin: Length, end: Length, step: int = 1
    ) -> Value:
        """Every step-th element of an axis, as the operator Slice counts them."""
        node = self.node
        dim = node.shape(x)[axis]
        if dim is not None and dims.at_least(self.dim(end), dim):
            end = END
        if isinstance(begin, int) and isinstance(end, int):
            return node.slice(x, axis, begin, end, step)
        if step < 0:
            raise UnsupportedNodeError(
                f"a step of {step} between positions computed at run time", STATIC_HINT
            )
        own = self.of_axis(x, axis)
        first, last = (self._place(place, own) for place in (begin, end))
        places = self.counted_up(first, last, step)
        return node.make("Gather", [x, places], {"axis": axis})

    def _place(self, place: Length, length: Length) -> Length:
        """A position, counted from the end if it is negative, within an axis."""
        known = self.dim(place)
        if not dims.at_least(known, 0):
            if dims.at_least(dims.subtract(0, known), 1):
                place = self.compute("ADD", length, place)
            else:
                place = self.from_end(self.value(place), length)
            place = self.compute("MAX", place, 0)
        return self.compute("MIN", place, length)

    def from_end(self, places: Value, length: Length) -> Value:
        """Positions, of which negative ones count from the end of an axis."""
        node = self.node
        negative = node.eltwise("LESS", places, node.scalar(0, places))
        back = node.eltwise("ADD", places, self.value(length))
        return node.make("Where", [negative, back, places])

    def triangle(self, x: Value, k: int, upper: bool) -> Value:
        """The elements of matrices on one side of a diagonal; 0 elsewhere."""
        kept = self._beside(x, k, "GREATER_EQUAL" if upper else "LESS_EQUAL")
        return self.node.make("Where", [kept, x, self.node.scalar(0, x)])

    def diagonal(self, x: Value, k: int) -> Value:
        """Which elements of matrices like x are on a diagonal."""
        return self._beside(x, k, "EQUAL")

    def _beside(self, x: Value, k: int, mode: str) -> Value:
        """How columns of matrices compare with those on a diagonal."""
        node, rank = self.node, len(self.node.shape(x))
        rows, columns = (
            self.positions(self.of_axis(x, axis)) for axis in (rank - 2, rank - 1)
        )
        rows = node.reshape(rows, [-1, 1])
        diagonal = node.eltwise("ADD", rows, self.value(k))
        return node.eltwise(mode, columns, diagonal)


def is_open(value: Value | None) -> bool:
    """Whether the elements of an input are computed in each run."""
    return value is not None and not value.is_constant


def scalar_of(node: Node, array: Array | None) -> Value:
    """One number of an attribute, 0 without one."""
    number = np.zeros((), np.float32) if array is None else array.reshape(-1)[0]
    return node.builder.constant(f"{node.label}/number", np.asarray(number))

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs of ONNX operators, as functions of values; equations of matrices."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from mace.python.tools.importers.emit.lengths import Lengths
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.frame.known import KnownShapes
from mace.python.tools.importers.standard.apply import apply_operator
from mace.python.tools.importers.standard.node import STATIC_HINT
from mace.python.tools.ir.builder import GraphBuilder, narrow_constant
from mace.python.tools.ir.dims import Dim
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import END

# A number or a tensor as an input of an operator; None for one left out.
Operand = Union[Value, Array, Sequence[int], float, bool, None]
# A length: an integer, or a value of rank 0 where it depends on the run.
Size = Union[int, Value]
_ONNX_TYPES = {
    DataType.BOOL: 9,
    DataType.FLOAT32: 1,
    DataType.INT32: 6,
    DataType.INT8: 3,
    DataType.UINT8: 2,
}


class Operators(KnownShapes):
    """Adds operators of ONNX to a graph.

    Attributes:
        builder: where they go.
        label: of the framework's node, unique in the model; their names begin with it.
    """

    def __init__(
        self, builder: GraphBuilder, label: str, static_hint: str = STATIC_HINT
    ) -> None:
        """`static_hint`: what the user can do where a shape is not known."""
        self.builder = builder
        self.label = label
        self.static_hint = static_hint
        self.lengths = Lengths(self._make, builder, label)

    def _make(
        self, op_type: str, inputs: Sequence[Value | None], attrs: Mapping[str, Any]
    ) -> Value:
        return self.builder.one(op_type, inputs, None, attrs, f"{self.label}/{op_type}")

    # Shapes ---------------------------------------------------------------

    def rank(self, value: Value) -> int:
        """A rank that must be known."""
        return len(self.shape(value))

    def static_shape(self, value: Value) -> tuple[int, ...]:
        """A shape whose dimensions must all be known."""
        dims = [self.dim(value, axis) for axis in range(self.rank(value))]
        return self.known_dims(dims, f"the shape of {value.name} is")

    def length(self, value: Value, axis: int) -> int:
        """A dimension that must be known."""
        what = f"dimension {axis % self.rank(value)} of {value.name} is"
        return self.known_dims([self.dim(value, axis)], what)[0]

    def dim(self, value: Value, axis: int) -> Dim:
        """A dimension; None if the data of a run determine it."""
        shape = self.shape(value)
        counted = self.builder.counted.get(value)
        if counted is not None and counted.axis == axis % len(shape):
            return None
        return shape[axis]

    def sizes_of(self, value: Value) -> list[Size]:
        """All dimensions, as values where they are not known before the run."""
        return [self.size(value, axis) for axis in range(self.rank(value))]

    def size(self, value: Value, axis: int) -> Size:
        """A dimension, as a value where it is not known before the run."""
        length = self.lengths.of_axis(value, axis % self.rank(value))
        return length if isinstance(length, int) else self.lengths.scalar(length)

    def largest_sizes(self, value: Value) -> list[Size]:
        """All dimensions of the memory of a value, in which not all elements need to
        count.
        """
        lengths = (self.lengths.in_memory(value, i) for i in range(self.rank(value)))
        return [n if isinstance(n, int) else self.lengths.scalar(n) for n in lengths]

    def broadcast(self, values: Sequence[Value]) -> list[Size]:
        """The dimensions that values have together."""
        rank = max(self.rank(value) for value in values)
        found: list[Size] = []
        for place in range(-rank, 0):
            own = [v for v in values if self.rank(v) >= -place]
            dims = [(value, self.shape(value)[place]) for value in own]
            known = [dim for _, dim in dims if isinstance(dim, int) and dim != 1]
            if known:
                found.append(known[0])
            else:
                # What is open and what is 1: the run decides.
                wide = [v for v, dim in dims if dim != 1] or own[:1]
                sizes = [self.size(value, place) for value in wide]
                found.append(functools.reduce(self._wider, sizes))
        return found

    def _wider(self, a: Size, b: Size) -> Size:
        """Of two dimensions that are equal, or one of which is 1."""
        if isinstance(a, int) or isinstance(b, int):
            return b if isinstance(a, int) else a
        return self.compute("MAX", a, b)

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from the front; a scalar has one, too."""
        bound = max(rank, 1)
        if not -bound <= axis < bound:
            raise UnsupportedNodeError(f"axis {axis} is outside a rank of {rank}")
        return axis % bound

    # Operators ------------------------------------------------------------

    def constant(
        self, data: Operand | Sequence[float], dtype: DataType | None = None
    ) -> Value:
        """A helper constant; numbers of Python have the default types of NumPy."""
        array = np.asarray(data, None if dtype is None else dtype.numpy)
        name = self.builder.graph.unique_name(f"{self.label}/constant")
        return self.builder.graph.add_constant(name, narrow_constant(array))

    def op(self, op_type: str, *inputs: Operand, **attributes: Any) -> Value:
        """The result of an operator of ONNX."""
        return self.op_all(op_type, inputs, 1, **attributes)[0]

    def op_all(
        self, op_type: str, inputs: Sequence[Operand], count: int, **attributes: Any
    ) -> list[Value]:
        """The results of an operator of ONNX."""
        values = [
            value if value is None or isinstance(value, Value) else self._index(value)
            for value in inputs
        ]
        try:
            return apply_operator(
                self.builder, op_type, values, self.label, count, **attributes
            )
        except UnsupportedNodeError as error:
            if error.hint != STATIC_HINT:
                raise
            raise UnsupportedNodeError(error.reason, self.static_hint) from error

    def _index(self, value: Any) -> Value:
        is_list = isinstance(value, (list, tuple)) and not len(value)
        return self.constant(np.zeros(0, np.int64) if is_list else value)

    def cast(self, value: Value, dtype: DataType) -> Value:
        """A value in another type."""
        if value.dtype is dtype:
            return value
        return self.op("Cast", value, to=_ONNX_TYPES[dtype])

    def reshape(self, value: Value, sizes: Sequence[Size]) -> Value:
        """A value in another shape; -1 is what is left."""
        zero = 1 if 0 in [size for size in sizes if isinstance(size, int)] else None
        return self.op("Reshape", value, self.lengths.listed(sizes), allowzero=zero)

    def transpose(self, value: Value, permutation: Sequence[int]) -> Value:
        """A value with its dimensions in another order."""
        if list(permutation) == list(range(len(permutation))):
            return value
        return self.op("Transpose", value, perm=list(permutation))

    def unsqueeze(self, value: Value, *axes: int) -> Value:
        """A value with further dimensions of length 1."""
        return self.op("Unsqueeze", value, list(axes))

    def squeeze(self, value: Value, *axes: int) -> Value:
        """A value without these dimensions of length 1."""
        return self.op("Squeeze", value, list(axes)) if axes else value

    def slice(
        self, value: Value, axis: int, begin: Size, end: Size | None = None
    ) -> Value:
        """A part of a value along an axis, to its end if none is given."""
        last = END if end is None else end
        return self.op(
            "Slice",
            value,
            self.lengths.listed([begin]),
            self.lengths.listed([last]),
            [axis],
        )

    def compute(self, mode: str, a: Size, b: Size) -> Size:
        """Arithmetic on lengths, see `Lengths`."""
        result = self.lengths.compute(mode, a, b)
        return result if isinstance(result, int) else self.lengths.scalar(result)

    def positions(self, size: Size) -> Value:
        """The numbers from 0 to the one before a length, which data may determine."""
        if isinstance(size, int):
            return self.lengths.positions(size)
        return self.op("Range", 0, size, 1)

    def floor_divided(self, a: Value, b: Value) -> Value:
        """A quotient of integers that is rounded down; ONNX's goes towards 0."""
        return self._make("Eltwise", [a, b], {"mode": "FLOOR_DIV"})

    def concat(self, parts: Sequence[Value], axis: int) -> Value:
        """Values one after the other along an axis."""
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=axis)


# Equations and inverses of matrices --------------------------------------------------

_FLOAT = DataType.FLOAT32
# They are solved by Gauss-Jordan elimination with partial pivoting, unrolled: one step
# of about 16 operators for each row. So many rows are about 1000 operators.
_MOST_ROWS = 64


def order_of(c: Operators, x: Value) -> int:
    """The number of rows and columns of square matrices."""
    rows, columns = c.length(x, -2), c.length(x, -1)
    if rows != columns:
        raise UnsupportedNodeError(f"matrices of {rows} x {columns}")
    if rows > _MOST_ROWS:
        raise UnsupportedNodeError(
            f"matrices of {rows} x {rows}, of which each row is a step; "
            f"{_MOST_ROWS} are possible",
            "compute it in the application",
        )
    return rows


def swapped(c: Operators, x: Value) -> Value:
    """Transposed matrices."""
    order = list(range(c.rank(x)))
    order[-2:] = order[:-3:-1]
    return c.transpose(x, order)


@dataclass(frozen=True)
class Eliminated:
    """What is left of equations A x = b.

    Attributes:
        rows: [..., 1, n], a 1 at the row of A that each step took.
        pivots: [..., 1, 1], by which each step divided.
        rest: the x, in the order of the rows of A; None if there is no b.
    """

    rows: tuple[Value, ...]
    pivots: tuple[Value, ...]
    rest: Value | None


def eliminate(c: Operators, a: Value, b: Value | None) -> Eliminated:
    count = order_of(c, a)
    axis = c.rank(a) - 1
    matrix = a if b is None else c.op("Concat", a, b, axis=axis)
    numbers = c.constant(np.arange(count)[:, None])
    unused: Value = c.constant(np.ones((count, 1), bool))
    rows, pivots = [], []
    width = count + (0 if b is None else c.length(b, -1))
    for _ in range(count):
        column = c.slice(matrix, axis, 0, 1)
        size = c.op("Where", unused, c.op("Abs", column), c.constant(-1.0))
        place = c.op("ArgMax", size, axis=axis - 1, keepdims=1)
        chosen = c.op("Equal", numbers, place)
        row = swapped(c, c.cast(chosen, _FLOAT))
        pivot = c.op("MatMul", row, column)
        rows.append(row)
        pivots.append(pivot)
        width -= 1
        if width == 0:
            return Eliminated(tuple(rows), tuple(pivots), None)
        rest = c.slice(matrix, axis, 1, width + 1)
        taken = c.op("Div", c.op("MatMul", row, rest), pivot)
        others = c.op("Sub", rest, c.op("Mul", column, taken))
        matrix = c.op("Where", chosen, taken, others)
        unused = c.op("And", unused, c.op("Not", chosen))
    return Eliminated(tuple(rows), tuple(pivots), matrix)


def solve(c: Operators, a: Value, b: Value) -> Value:
    """The x of a x = b, for matrices b."""
    lead = max(c.rank(a), c.rank(b)) - 2
    batch = np.broadcast_shapes(c.static_shape(a)[:-2], c.static_shape(b)[:-2])
    a, b = (
        x
        if c.static_shape(x)[:-2] == batch
        else c.op("Expand", x, [*batch, *c.static_shape(x)[-2:]])
        for x in (a, b)
    )
    found = eliminate(c, a, b)
    assert found.rest is not None
    return c.op("MatMul", c.concat(found.rows, lead), found.rest)


def inverse(c: Operators, x: Value) -> Value:
    """The inverses of matrices."""
    shape = c.static_shape(x)
    unit = np.broadcast_to(np.eye(shape[-1], dtype=np.float32), shape)
    return solve(c, x, c.constant(unit))

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators along axes: those that only move elements, their shapes, and scans."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.constant import Integers
from mace.python.tools.ir.dims import divide_exactly, floor_divide, multiply, product_of
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules.axes import beside, of_first
from mace.python.tools.ir.op_rules.base import (
    OpRules,
    OutputType,
    Perm,
    SunkTranspose,
    int32_of,
)
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import (
    Dim,
    Shape,
    normalize_axis,
    product,
    same_shape,
    static,
)


class MovementRules(OpRules):
    """Every element of the output is an element of an input."""

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        arrays = [array for array in inputs if array is not None]
        if len(arrays) != len(inputs):
            return None
        return self._moved(op, arrays, [])

    def _moved(
        self, op: Op, arrays: Sequence[Array], parameters: Sequence[Array]
    ) -> Array:
        """Finds out where elements go by moving numbers in their place.

        Args:
            op: the operator.
            arrays: its first inputs, whose elements it moves.
            parameters: its other inputs, which say where to.
        """
        pool = np.concatenate([array.reshape(-1) for array in arrays])
        numbers, start = [], 0
        for array in arrays:
            ids = np.arange(start, start + array.size).reshape(array.shape)
            numbers.append(ids)
            start += array.size
        (moved,) = self.evaluate(op, [*numbers, *parameters])
        return np.asarray(pool[np.asarray(moved, np.int64)], object)


class ReshapeRules(MovementRules):
    """The output is the first input with another shape."""

    only_reshapes = True
    keeps_elements = True

    def integers(self, op: Op) -> Integers | None:
        shape = static(op.output.shape)
        if shape is None:
            return None
        return moved_integers(op, lambda array: array.reshape(shape))

    def quantization(self, op: Op) -> list[Quantization | None]:
        given = op.input(0).quantization
        # With several scales, each operator knows where their axis went.
        return [given if given is not None and given.per_tensor else None]

    def is_identity(self, op: Op) -> bool:
        return same_shape(op.input(0).shape, op.output.shape)


def moved_integers(op: Op, function: Callable[[Array], Array]) -> Integers | None:
    """What the output was made of, which `function` makes of input 0 by moving
    elements.
    """
    given, shape = op.input(0).constant, static(op.output.shape)
    if given is None or given.integers is None or shape is None:
        return None
    return given.integers.moved(function, shape)


def symbols(dims: Sequence[Dim]) -> Array:
    """An array of numbers, symbols and None."""
    result = np.empty(len(dims), object)
    result[:] = dims
    return result


def inputs_without_gaps(op: Op) -> list[Value]:
    """The inputs of an operator that takes any number of them, of any types.

    Raises:
        ValueError: there are none or some are left out.
    """
    values = [value for value in op.inputs if value is not None]
    if not values or len(values) != len(op.inputs):
        raise ValueError("needs at least one input and no gaps")
    return values


def check_one_element(value: Value) -> None:
    """
    Raises:
        ValueError: the value is known to have none or more.
    """
    shape = static(value.shape)
    if shape is not None and math.prod(shape) != 1:
        raise ValueError(f"an input has the shape {list(shape)}")


def given_inputs(op: Op) -> list[Value]:
    """The inputs of an operator that takes any number of them, of one type.

    Raises:
        ValueError: there are none or some are left out, or their types differ.
    """
    values = inputs_without_gaps(op)
    types = {value.dtype for value in values}
    if len(types) > 1:
        names = ", ".join(sorted(t.value for t in types))
        raise ValueError(f"element types differ: {names}")
    return values


def multiplied_dims(dims: Sequence[Dim], factor: int) -> list[Dim]:
    """Each dimension times `factor`, as far as known."""
    return [multiply(dim, factor) for dim in dims]


def divided_dim(dim: Dim, divisor: int, what: str) -> Dim:
    """A dimension divided by `divisor`.

    Raises:
        ValueError: it is no multiple; calls the dimension `what`.
    """
    if isinstance(dim, int) and dim % divisor:
        raise ValueError(f"{dim} {what} are not divisible by {divisor}")
    return floor_divide(dim, divisor)


def reshaped(shape: Shape | None, wanted: Sequence[Dim], allow_zero: bool) -> Shape:
    """The output shape of Reshape for an input of shape `shape`.

    Args:
        shape: of the input.
        wanted: 0 copies a dimension, -1 is inferred. If there is a -1, a dimension that
            only the run knows is not 0.
        allow_zero: 0 is a length.
    """
    result: list[Dim] = []
    for axis, dim in enumerate(wanted):
        if dim == 0 and not allow_zero:
            if shape is not None and axis >= len(shape):
                raise ValueError(f"shape {list(wanted)} copies no dimension")
            result.append(None if shape is None else shape[axis])
        else:
            result.append(dim)
    if list(wanted).count(-1) > 1:
        raise ValueError(f"shape {list(wanted)} has more than one -1")
    total = None if shape is None else product(shape)
    if -1 in wanted:
        hole = list(wanted).index(-1)
        result[hole] = _inferred(shape, result, hole, total)
    elif total is not None and product(result) not in (None, total):
        raise ValueError(f"{total} elements do not fill {list(wanted)}")
    return tuple(result)


def _inferred(
    shape: Shape | None, result: Sequence[Dim], hole: int, total: int | None
) -> Dim:
    rest = [dim for axis, dim in enumerate(result) if axis != hole]
    if shape is None:
        return None
    # Symbols that are copied from the input cancel.
    own = list(shape)
    for dim in [d for d in rest if isinstance(d, str)]:
        if dim in own:
            own.remove(dim)
            rest.remove(dim)
    above, below = product(own), product(rest)
    if above is None or below is None:
        return divide_exactly(product_of(own), product_of(rest))
    if below == 0:
        raise ValueError("beside a dimension of 0, -1 may be anything")
    if above % below:
        raise ValueError(f"{total or above} elements are no multiple of {below}")
    return above // below


def reshape_attribute(
    source: tuple[Dim, ...] | None, target: Sequence[Dim]
) -> tuple[int, ...] | None:
    """The attribute `shape` with which Reshape gives `target` in every run.

    None if there is none: at most one dimension may be left to infer. A first dimension
    that stays is copied, so that another batch may be run.
    """
    wanted: list[int] = []
    for axis, dim in enumerate(target):
        if axis == 0 and source and source[0] == dim and dim is not None:
            wanted.append(0)
        elif isinstance(dim, int) and dim > 0:
            wanted.append(dim)
        elif (
            dim is not None
            and source is not None
            and axis < len(source)
            and (source[axis] == dim)
        ):
            wanted.append(0)
        else:
            wanted.append(-1)
    if wanted.count(-1) > 1:
        return None
    try:
        made = reshaped(source, wanted, allow_zero=False)
    except ValueError:
        return None
    return tuple(wanted) if same_shape(made, tuple(target)) else None


def reshape_before_transpose(
    source: Shape, perm: Perm, target: Shape
) -> tuple[Shape, Perm] | None:
    """Another order for a transpose and the reshape that follows it.

    A reshape merges and splits dimensions within groups of neighbours. If those of
    each group are neighbours before the transpose too, in the same order, the reshape
    can come first.

    Args:
        source: the shape before the transpose.
        perm: of the transpose.
        target: the shape after the reshape.

    Returns:
        The shape to reshape `source` to, and the permutation that makes `target` of
        it; None if there are none.
    """
    groups = _groups(tuple(source[axis] for axis in perm), target)
    if groups is None or 0 in source:
        return None
    # Where a dimension of 1 lies does not matter: it stays with its group, and those
    # in front of all groups stay there.
    order = [axis for axis, dim in enumerate(source) if dim != 1]
    found: list[tuple[int, list[int]]] = []
    for before, after in groups:
        axes = [perm[i] for i in before if source[perm[i]] != 1]
        begin = order.index(axes[0]) if axes else -1
        if axes and order[begin : begin + len(axes)] != axes:
            return None
        found.append((begin, after))
    first = [axis for _, after in sorted(found) for axis in after]
    made = tuple(target[axis] for axis in first)
    return made, tuple(first.index(axis) for axis in range(len(target)))


def _groups(before: Shape, after: Shape) -> list[tuple[list[int], list[int]]] | None:
    """The smallest groups of neighbours with equally many elements in both.

    Dimensions of 1 go with the group in front of them; without one, they are a group.
    """
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(before) or j < len(after):
        mine, yours = [i], [j]
        if i == len(before) or j == len(after):
            return None
        # Dimensions known only at run time must be alone on both sides.
        while not _equal(before, mine, after, yours):
            sides = (product(before[k] for k in mine), product(after[k] for k in yours))
            if sides[0] is None or sides[1] is None:
                return None
            if sides[0] < sides[1]:
                mine.append(mine[-1] + 1)
            else:
                yours.append(yours[-1] + 1)
            if mine[-1] == len(before) or yours[-1] == len(after):
                return None
        i, j = mine[-1] + 1, yours[-1] + 1
        while i < len(before) and before[i] == 1:
            mine.append(i)
            i += 1
        while j < len(after) and after[j] == 1:
            yours.append(j)
            j += 1
        groups.append((mine, yours))
    return groups


def _equal(before: Shape, mine: list[int], after: Shape, yours: list[int]) -> bool:
    if len(mine) == len(yours) == 1 and before[mine[0]] == after[yours[0]]:
        return before[mine[0]] is not None
    elements = product(before[k] for k in mine)
    return elements is not None and elements == product(after[k] for k in yours)


def sink_along_axis(op: Op, perm: Perm) -> SunkTranspose:
    """For operators with an attribute `axis` that treat all other axes alike."""
    return SunkTranspose(perm, {"axis": perm[op.attr("axis")]})


def without_axes(perm: Perm, gone: Sequence[int]) -> Perm:
    """The permutation of the remaining axes, renumbered."""
    dropped = {axis % len(perm) for axis in gone}
    kept = [source for axis, source in enumerate(perm) if axis not in dropped]
    return tuple(sorted(kept).index(source) for source in kept)


class Scan(OpRules):
    """Has the attributes axis, exclusive and reverse."""

    @abc.abstractmethod
    def accumulated(self, op: Op, x: Array) -> tuple[Array, float]:
        """The results along the first axis, and that of no elements. Of integers, they
        may have any size.
        """

    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is not None:
            normalize_axis(op.attr("axis"), len(x.shape))
        return [OutputType(x.dtype, x.shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, axis = np.asarray(inputs[0]), op.attr("axis")
        order = slice(None, None, -1 if op.attr("reverse") else 1)
        found, of_none = self.accumulated(op, np.moveaxis(x, axis, 0)[order])
        if op.attr("exclusive"):
            found = np.concatenate([np.full_like(found[:1], of_none), found[:-1]])
        found = np.moveaxis(found[order], 0, axis)
        return [found if x.dtype.kind == "f" else int32_of(op, found)]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return sink_along_axis(op, perm)

    def is_identity(self, op: Op) -> bool:
        shape = op.input(0).shape
        if shape is None or op.attr("exclusive"):
            return False
        return bool(shape[op.attr("axis")] == 1)

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        # Elements before another one count if it does.
        return beside(op, axes) if op.attr("reverse") else of_first(axes)

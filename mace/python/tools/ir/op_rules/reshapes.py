# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes with dimensions that are copied or left to be inferred."""

from __future__ import annotations

from collections.abc import Sequence

from mace.python.tools.ir.dims import divide_exactly, product_of
from mace.python.tools.ir.op_rules.base import Perm
from mace.python.tools.ir.shapes import Dim, Shape, product, same_shape


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

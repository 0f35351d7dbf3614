# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes with dimensions that may be unknown.

A dimension is an int, a str or None. A str is a symbol or a formula of symbols
(dims.py): two dimensions with the same text are equal in every run. None is unknown and
equals nothing. A shape that is None has unknown rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mace.python.tools.ir.dims import Dim as Dim
from mace.python.tools.ir.dims import either

# The largest rank of a tensor in the runtime (Shape::kMaxRank).
MAX_RANK = 8
# Beyond every axis: a slice that ends here takes all the rest.
END = 2**31 - 1

Shape = tuple[Dim, ...]


def is_static(shape: Shape | None) -> bool:
    """Whether every dimension is a number."""
    return shape is not None and all(isinstance(dim, int) for dim in shape)


def static(shape: Shape | None) -> tuple[int, ...] | None:
    """The shape as numbers, None unless all of them are known."""
    if shape is None or not is_static(shape):
        return None
    return tuple(dim for dim in shape if isinstance(dim, int))


def same_dim(a: Dim, b: Dim) -> bool:
    """Whether two dimensions are equal in every run."""
    return a is not None and a == b


def same_shape(a: Shape | None, b: Shape | None) -> bool:
    """Whether two shapes are equal in every run."""
    if a is None or b is None or len(a) != len(b):
        return False
    return all(same_dim(x, y) for x, y in zip(a, b))


def compatible(a: Shape | None, b: Shape | None) -> bool:
    """Whether two shapes may be equal in some run."""
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(
        x == y or not (isinstance(x, int) and isinstance(y, int)) for x, y in zip(a, b)
    )


def product(dims: Iterable[Dim]) -> int | None:
    """The product of the dimensions, None unless all are numbers."""
    result = 1
    for dim in dims:
        if not isinstance(dim, int):
            return None
        result *= dim
    return result


def elements(shape: Shape | None) -> int | None:
    """How many elements a tensor has, None unless the shape is known."""
    return None if shape is None else product(shape)


def permute(shape: Shape, perm: Sequence[int]) -> Shape:
    """Dimension i of the result is dimension perm[i]."""
    return tuple(shape[axis] for axis in perm)


def normalize_axis(axis: int, rank: int) -> int:
    """`axis` counted from the front.

    Raises:
        ValueError: it is outside [-rank, rank).
    """
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is outside a rank of {rank}")
    return axis % rank


def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape to which two operands broadcast, as in NumPy.

    Raises:
        ValueError: two known dimensions differ and neither is 1.
    """
    rank = max(len(a), len(b))
    left = (1,) * (rank - len(a)) + a
    right = (1,) * (rank - len(b)) + b
    return tuple(_broadcast_dim(x, y, a, b) for x, y in zip(left, right))


def _broadcast_dim(x: Dim, y: Dim, a: Shape, b: Shape) -> Dim:
    if isinstance(x, int) and isinstance(y, int) and x != y and 1 not in (x, y):
        raise ValueError(f"{format_shape(a)} and {format_shape(b)} differ")
    # A known length above 1 decides; the unknown one must be equal to it or 1.
    for dim in (x, y):
        if isinstance(dim, int) and dim != 1:
            return dim
    return either(x, y)


def format_shape(shape: Shape | None) -> str:
    """'[1, H, ?]', for messages."""
    if shape is None:
        return "[...]"
    return "[" + ", ".join("?" if d is None else str(d) for d in shape) + "]"


def from_ints(dims: Iterable[int]) -> Shape:
    """A shape from numbers where a negative one means unknown."""
    return tuple(None if dim < 0 else int(dim) for dim in dims)


def to_ints(shape: Shape) -> tuple[int, ...]:
    """A shape as numbers where -1 means unknown."""
    return tuple(dim if isinstance(dim, int) else -1 for dim in shape)


# Channels first and channels last: the permutations between the two.
#
# Entry i of a permutation is the axis that becomes axis i, as in NumPy's transpose.


def to_channels_last(rank: int) -> tuple[int, ...]:
    """Moves axis 1, the channels, to the end."""
    return (0, *range(2, rank), 1)


def to_channels_first(rank: int) -> tuple[int, ...]:
    """Moves the last axis, the channels, after the batch."""
    return (0, rank - 1, *range(1, rank - 1))


NCHW_TO_NHWC = to_channels_last(4)
NHWC_TO_NCHW = to_channels_first(4)

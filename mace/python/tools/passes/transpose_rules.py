# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How an operator changes when the transpose before it moves behind it.

With `y = op(T(x))` and `T` by `perm` (axis i of T(x) is axis perm[i] of x), a
rule gives the attributes of `op'` and the permutation `Q` such that
`y = Q(op'(x))`, or None if there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from mace.python.tools.ir import Op

Perm = tuple[int, ...]


@dataclass(frozen=True)
class Rewrite:
    """The operator before the transpose, and the transpose after it."""

    output_perm: Perm
    attrs: Mapping[str, Any] = field(default_factory=dict)


Rule = Callable[[Op, Perm], Optional[Rewrite]]


def _same(op: Op, perm: Perm) -> Rewrite:
    return Rewrite(perm)


def _activation(op: Op, perm: Perm) -> Rewrite | None:
    slope = op.get_input(1)
    if slope is not None and slope.shape != (1,):
        return None  # by innermost dimension, which the transpose moves
    return Rewrite(perm)


def _axis(op: Op, perm: Perm) -> Rewrite:
    return Rewrite(perm, {"axis": perm[op.attr("axis")]})


def _quantize(op: Op, perm: Perm) -> Rewrite:
    return _axis(op, perm) if op.input(1).shape not in ((), (1,)) else Rewrite(perm)


def _reduce(op: Op, perm: Perm) -> Rewrite:
    axes = op.attr("axes")
    if not axes:
        # All axes: the order plays no part.
        return Rewrite(perm if op.attr("keep_dims") else ())
    moved = sorted(perm[axis] for axis in axes)
    if op.attr("keep_dims"):
        return Rewrite(perm, {"axes": moved})
    return Rewrite(_without(perm, axes), {"axes": moved})


def _squeeze(op: Op, perm: Perm) -> Rewrite | None:
    axes = op.attr("axes")
    if not axes:
        return None
    moved = sorted(perm[axis] for axis in axes)
    return Rewrite(_without(perm, axes), {"axes": moved})


def _pad(op: Op, perm: Perm) -> Rewrite:
    old = op.attr("pads")
    pads = [0] * len(old)
    for axis, source in enumerate(perm):
        pads[2 * source : 2 * source + 2] = old[2 * axis : 2 * axis + 2]
    return Rewrite(perm, {"pads": pads})


def _strided_slice(op: Op, perm: Perm) -> Rewrite:
    shrink = op.attr("shrink_axes")
    attrs = {
        "axes": [perm[axis] for axis in op.attr("axes")],
        "shrink_axes": sorted(perm[axis] for axis in shrink),
    }
    return Rewrite(_without(perm, shrink) if shrink else perm, attrs)


def _gather(op: Op, perm: Perm) -> Rewrite | None:
    rank = op.input(1).rank
    if rank not in (0, 1):
        return None
    axis = op.attr("axis")
    output = perm if rank == 1 else _without(perm, [axis])
    return Rewrite(output, {"axis": perm[axis]})


def _without(perm: Perm, gone: Sequence[int]) -> Perm:
    """The permutation of the axes that are left, numbered anew."""
    dropped = {axis % len(perm) for axis in gone}
    kept = [source for axis, source in enumerate(perm) if axis not in dropped]
    return tuple(sorted(kept).index(source) for source in kept)


RULES: Mapping[str, Rule] = {
    "Activation": _activation,
    "ArgMax": _axis,
    "Cast": _same,
    "Concat": _axis,
    "Dequantize": _quantize,
    "Eltwise": _same,
    "Gather": _gather,
    "Pad": _pad,
    "Quantize": _quantize,
    "Reduce": _reduce,
    "Softmax": _axis,
    "Split": _axis,
    "Squeeze": _squeeze,
    "StridedSlice": _strided_slice,
}

# Operators all of whose inputs are laid out alike; of the others only the
# first input is.
SPREADING = frozenset({"Concat", "Eltwise"})

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes with dimensions that are copied or left to be inferred."""

from __future__ import annotations

from collections.abc import Sequence

from mace.python.tools.ir.shapes import Dim, Shape, product


def reshaped(shape: Shape | None, wanted: Sequence[int], allow_zero: bool) -> Shape:
    """The output shape of Reshape for an input of shape `shape`."""
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
    # Symbols and unknown dimensions that are copied from the input cancel.
    own = list(shape)
    for dim in [d for d in rest if isinstance(d, str)]:
        if dim in own:
            own.remove(dim)
            rest.remove(dim)
    above, below = product(own), product(rest)
    if below is None:
        return None
    if above is None:
        open_dims = [d for d in own if not isinstance(d, int)]
        known = product(d for d in own if isinstance(d, int))
        return open_dims[0] if len(open_dims) == 1 and known == below else None
    if below == 0:
        raise ValueError("beside a dimension of 0, -1 may be anything")
    if above % below:
        raise ValueError(f"{total or above} elements are no multiple of {below}")
    return above // below

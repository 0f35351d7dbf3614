# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for StridedSlice, Pad and Trim."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dims import add, ceil_divide, maximum, minimum, subtract
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import (
    Bounds,
    BoundsOf,
    OpRules,
    OutputType,
    Perm,
    SunkTranspose,
    hull,
)
from mace.python.tools.ir.op_rules.axes import of_first, without
from mace.python.tools.ir.op_rules.movement import MovementRules, without_axes
from mace.python.tools.ir.shapes import (
    Dim,
    format_shape,
    is_static,
    normalize_axis,
    same_shape,
)


class StridedSlice(MovementRules):
    keeps_elements = True

    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is None:
            return [OutputType(x.dtype, None)]
        rank = len(x.shape)
        cuts = _slices(op, rank)
        shrink = {normalize_axis(a, rank) for a in op.attr("shrink_axes")}
        dims: list[Dim] = []
        for axis, dim in enumerate(x.shape):
            if axis in cuts:
                dim = _length(dim, cuts[axis])
            if axis in shrink and isinstance(dim, int) and dim != 1:
                raise ValueError(f"axis {axis} has length {dim}, cannot be dropped")
            if axis not in shrink:
                dims.append(dim)
        return [OutputType(x.dtype, tuple(dims))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = inputs[0]
        cuts = _slices(op, x.ndim)
        result = x[tuple(cuts.get(i, slice(None)) for i in range(x.ndim))]
        shrink = {normalize_axis(a, x.ndim) for a in op.attr("shrink_axes")}
        return [np.squeeze(result, tuple(shrink)) if shrink else result]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        shrink = op.attr("shrink_axes")
        attrs = {
            "axes": [perm[axis] for axis in op.attr("axes")],
            "shrink_axes": sorted({perm[axis] for axis in shrink}),
        }
        return SunkTranspose(without_axes(perm, shrink) if shrink else perm, attrs)

    def is_identity(self, op: Op) -> bool:
        # Any stride other than 1 that keeps the length reverses the axis.
        forward = all(stride == 1 for stride in op.attr("strides"))
        shape = op.input(0).shape
        return forward and is_static(shape) and same_shape(shape, op.output.shape)

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        axis, shape = of_first(axes), op.input(0).shape
        if axis is None or shape is None:
            return None
        if axis in {normalize_axis(a, len(shape)) for a in op.attr("axes")}:
            return None
        removed = {normalize_axis(a, len(shape)) for a in op.attr("shrink_axes")}
        return without(removed, axis)


def _slices(op: Op, rank: int) -> dict[int, slice]:
    """Python's slice for each axis that is sliced."""
    lists = [op.attr(n) for n in ("axes", "begins", "ends", "strides")]
    if len({len(entry) for entry in lists}) != 1:
        raise ValueError("axes, begins, ends and strides differ in length")
    cuts: dict[int, slice] = {}
    for axis, begin, end, stride in zip(*lists):
        if stride == 0:
            raise ValueError("a stride is 0")
        # Python has no index for a backward slice that includes the first element; the
        # smallest 32-bit number stands for it.
        stop = None if stride < 0 and end <= -(2**31) + 1 else end
        cuts[normalize_axis(axis, rank)] = slice(begin, stop, stride)
    if len(cuts) != len(lists[0]):
        raise ValueError(f"axes {list(lists[0])} repeat")
    return cuts


def _length(dim: Dim, cut: slice) -> Dim:
    if isinstance(dim, int):
        return len(range(*cut.indices(dim)))
    begin, end, stride = cut.start, cut.stop, cut.step
    if stride < 0:
        # From the last element to the first one.
        whole = begin == -1 and end is None
        return ceil_divide(dim, -stride) if whole else None
    first, last = (_place(dim, place) for place in (begin, end))
    return ceil_divide(maximum(subtract(last, first), 0), stride)


def _place(dim: Dim, place: int) -> Dim:
    """Where a place, which may be counted from the end, is in an axis."""
    if place >= 2**31 - 1:
        return dim
    if place >= 0:
        return minimum(place, dim)
    return maximum(add(dim, place), 0)


class Pad(OpRules):
    joins_elements = True

    def infer(self, op: Op) -> list[OutputType]:
        x, pads = op.input(0), op.attr("pads")
        if x.shape is None:
            return [OutputType(x.dtype, (None,) * (len(pads) // 2))]
        if len(pads) != 2 * len(x.shape):
            raise ValueError(f"{len(pads)} pads for {len(x.shape)} dimensions")
        for axis, dim in enumerate(x.shape):
            _check_source(op.attr("mode"), dim, max(pads[2 * axis : 2 * axis + 2]))
        added = [pads[2 * i] + pads[2 * i + 1] for i in range(len(x.shape))]
        return [OutputType(x.dtype, tuple(map(add, x.shape, added)))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        widths = np.reshape(np.array(op.attr("pads"), np.int64), (-1, 2))
        x, mode = inputs[0], op.attr("mode")
        if not len(widths):
            return [x]  # a scalar has no axes
        if mode == "CONSTANT":
            value = op.attr("value")
            if x.dtype.kind in "iu":
                bounds = np.iinfo(x.dtype)
                value = int(np.clip(value, bounds.min, bounds.max))
            return [np.pad(x, widths, constant_values=value)]
        # The other modes have the same names in NumPy.
        return [np.pad(x, widths, mode=mode.lower())]

    def bounds(self, op: Op, known: BoundsOf) -> Bounds | None:
        x = known(op.input(0))
        if op.attr("mode") != "CONSTANT":
            return x
        value = float(op.attr("value"))
        return hull((x, (value, value)))

    def integer_attrs(
        self, op: Op, integers: Callable[[Array], Array]
    ) -> Mapping[str, Any]:
        if op.attr("mode") != "CONSTANT":
            return {}
        return {"value": float(integers(np.float32(op.attr("value"))))}

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        old = op.attr("pads")
        pads = [0] * len(old)
        for axis, source in enumerate(perm):
            pads[2 * source : 2 * source + 2] = old[2 * axis : 2 * axis + 2]
        return SunkTranspose(perm, {"pads": pads})

    def is_identity(self, op: Op) -> bool:
        return not any(op.attr("pads"))

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        axis = of_first(axes)
        if axis is None:
            return None
        return axis if not any(op.attr("pads")[2 * axis : 2 * axis + 2]) else None


def _check_source(mode: str, dim: Dim, pad: int) -> None:
    """Checks that the elements to be repeated exist."""
    if mode == "CONSTANT" or not isinstance(dim, int) or pad == 0:
        return
    if mode == "EDGE" and dim == 0:
        raise ValueError("an axis of length 0 has no edge")
    most = dim - 1 if mode == "REFLECT" else dim
    if mode != "EDGE" and pad > most:
        raise ValueError(f"mode {mode} pads a length of {dim} by at most {most}")


class Trim(OpRules):
    largest_shape = True

    def infer(self, op: Op) -> list[OutputType]:
        x, count = op.input(0), op.input(1)
        if count.shape is not None and not all(
            dim == 1 for dim in count.shape if isinstance(dim, int)
        ):
            raise ValueError(
                f"count has the shape {format_shape(count.shape)}; it takes one element"
            )
        if x.shape is None:
            return [OutputType(x.dtype, None)]
        axis = normalize_axis(op.attr("axis"), len(x.shape))
        shape = list(x.shape)
        dim = shape[axis]
        if not isinstance(dim, int):
            shape[axis] = None
        elif count.is_constant:
            shape[axis] = _kept(dim, count.numpy())
        return [OutputType(x.dtype, tuple(shape))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = np.asarray(inputs[0])
        axis = normalize_axis(op.attr("axis"), x.ndim)
        kept = _kept(x.shape[axis], inputs[1])
        return [x[(slice(None),) * axis + (slice(kept),)]]


def _kept(dim: int, count: Any) -> int:
    return int(np.clip(np.asarray(count).reshape(-1)[0], 0, dim))

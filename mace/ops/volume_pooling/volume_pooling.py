# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for VolumePooling."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules import (
    Bounds,
    BoundsOf,
    Emitter,
    OpRules,
    OutputType,
    hull,
)
from mace.python.tools.ir.op_rules.axes import of_images
from mace.python.tools.ir.op_rules.volumes import RANK, pooled, pooled_in_order
from mace.python.tools.ir.op_rules.windows import Axis
from mace.python.tools.ir.shapes import (
    format_shape,
    static,
    to_channels_first,
    to_channels_last,
)

_AXES = 3


class VolumePooling(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is None:
            return [OutputType(x.dtype, (None,) * (_AXES + 2))]
        if len(x.shape) != _AXES + 2:
            raise ValueError(f"expects [N, C, D, H, W], not {format_shape(x.shape)}")
        sizes = [
            axis.output(size, op.attr("ceil_mode"))
            for axis, size in zip(_axes(op), x.shape[2:])
        ]
        return [OutputType(x.dtype, (*x.shape[:2], *sizes))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = np.asarray(inputs[0], np.float64)
        axes, ceil_mode = _axes(op), op.attr("ceil_mode")
        sizes = [
            int(axis.output(size, ceil_mode) or 0)
            for axis, size in zip(axes, x.shape[2:])
        ]
        ones = np.ones(x.shape[2:])
        inside = _folded(np.add, ones, axes, sizes, 0)
        if op.attr("mode") == "MAX":
            largest = _folded(np.maximum, x, axes, sizes, -np.inf)
            return [np.where(inside > 0, largest, 0)]
        count = inside
        if op.attr("count_include_pad"):
            widths = [(axis.before, axis.after) for axis in axes]
            bare = [Axis(a.kernel, a.stride, a.dilation, 0, 0) for a in axes]
            ones = np.pad(ones, widths, constant_values=1)
            count = _folded(np.add, ones, bare, sizes, 0)
        total = _folded(np.add, x, axes, sizes, 0)
        return [np.where(inside > 0, total / np.where(inside > 0, count, 1), 0)]

    def bounds(self, op: Op, known: BoundsOf) -> Bounds | None:
        # A window that lies in the padding alone has the result 0.
        return hull((known(op.input(0)), (0.0, 0.0)))

    def expand(self, op: Op, emit: Emitter) -> Value:
        """Windows over images; see `ir/op_rules/volumes.py`."""
        x = op.input(0)
        attrs = {name: op.attr(name) for name in ("ceil_mode", "count_include_pad")}
        if static((x.shape or (None,))[1:]) is not None:
            return pooled_in_order(emit, x, op.attr("mode"), _axes(op), attrs)
        x = emit("Transpose", [x], {"perm": to_channels_last(RANK)})
        result = pooled(emit, x, op.attr("mode"), _axes(op), attrs)
        return emit("Transpose", [result], {"perm": to_channels_first(RANK)})

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return of_images(axes)


def _axes(op: Op) -> list[Axis]:
    attrs = [op.attr(name) for name in ("kernels", "strides", "dilations")]
    pads = op.attr("pads")
    return [Axis(*each) for each in zip(*attrs, pads[:_AXES], pads[_AXES:])]


def _folded(
    fold: np.ufunc, x: Array, axes: Sequence[Axis], sizes: Sequence[int], outside: float
) -> Array:
    """The windows of the last three dimensions, in which every tap outside of the
    array is `outside`.
    """
    widths = [(0, 0)] * (x.ndim - _AXES)
    for axis, size, length in zip(axes, sizes, x.shape[-_AXES:]):
        end = max(size - 1, 0) * axis.stride + axis.extent
        widths.append((axis.before, max(end - axis.before - length, 0)))
    padded = np.pad(x, widths, constant_values=outside)
    result = np.full((*x.shape[:-_AXES], *sizes), outside)
    for taps in itertools.product(*(range(axis.kernel) for axis in axes)):
        cuts = [
            slice(
                tap * axis.dilation,
                tap * axis.dilation + max(size - 1, 0) * axis.stride + 1,
                axis.stride,
            )
            if size
            else slice(0, 0)
            for tap, axis, size in zip(taps, axes, sizes)
        ]
        within: Any = (..., *cuts)
        result = fold(result, padded[within])
    return result

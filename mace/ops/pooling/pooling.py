# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Pooling and VolumePooling."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules import (
    FEW_CHANNELS,
    NARROW_TYPES,
    WIDE_TYPES,
    Bounds,
    BoundsOf,
    Emitter,
    OpRules,
    OutputType,
    hull,
)
from mace.python.tools.ir.op_rules.axes import of_images
from mace.python.tools.ir.op_rules.images import (
    evaluate_in_nhwc,
    image_dims,
    image_shape,
)
from mace.python.tools.ir.op_rules.volumes import RANK, pooled, pooled_in_order
from mace.python.tools.ir.op_rules.windows import (
    Axis,
    image_size,
    output_size,
    taps,
    windows_over,
)
from mace.python.tools.ir.quantized_ops import requantized, scale_of, zero_of
from mace.python.tools.ir.shapes import (
    format_shape,
    static,
    to_channels_first,
    to_channels_last,
)

# kFewChannels of line_pooling.cc, which uses the part for fewer.
_FEW_CHANNELS = 8


class Pooling(OpRules):
    layout_inputs = (0,)

    def computes_in(
        self, attrs: Mapping[str, Any], port: int, dtype: DataType
    ) -> Sequence[DataType]:
        chooses = attrs.get("mode") == "MAX"
        return WIDE_TYPES if chooses and dtype in NARROW_TYPES else ()

    def kernels(self, op: Op) -> tuple[str, ...]:
        shape = op.output.shape
        channels = shape[3] if shape is not None else None
        few = not isinstance(channels, int) or channels < _FEW_CHANNELS
        return (FEW_CHANNELS,) if few else ()

    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is None:
            return [OutputType(x.dtype, (None,) * 4)]
        n, hw, c = image_dims(op, x.shape)
        ceil_mode = op.attr("ceil_mode")
        size = [
            output_size(op, i, k, hw[i], ceil_mode)
            for i, k in enumerate(op.attr("kernels"))
        ]
        return [OutputType(x.dtype, image_shape(op, n, size, c))]

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        folded, count = self._folded(op, np.asarray(inputs[0], np.float64))
        return [folded / count]

    def keeps_range(self, op: Op) -> bool:
        return bool(op.attr("mode") == "MAX")

    def bounds(self, op: Op, known: BoundsOf) -> Bounds | None:
        # A window that lies in the padding alone has the result 0.
        return hull((known(op.input(0)), (0.0, 0.0)))

    def evaluate_quantized(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = np.asarray(inputs[0], np.float64) - zero_of(op.input(0))
        folded, count = self._folded(op, x)
        ratio = scale_of(op.input(0)) / scale_of(op.output)
        return [requantized(op, folded, ratio / count.astype(ratio.dtype))]

    def _folded(self, op: Op, x: Array) -> tuple[Array, Array]:
        """The largest element of each window, or the sum, and what to divide it by."""
        rows, columns = windows_over(op, x, op.attr("kernels"))
        size = image_size(x, rows, columns, op.attr("ceil_mode"))
        result = np.zeros((x.shape[0], *size, x.shape[3]))
        if not result.size:
            return result, np.ones_like(result)
        inside = sum(
            part for _, _, part in taps(np.ones_like(x), rows, columns, size, 0)
        )
        if op.attr("mode") == "MAX":
            parts = taps(x, rows, columns, size, -np.inf)
            largest = np.maximum.reduce([part for _, _, part in parts])
            return np.where(inside > 0, largest, 0), np.ones_like(result)
        total = sum(part for _, _, part in taps(x, rows, columns, size, 0))
        ones = np.ones((1, *x.shape[1:3], 1))
        if op.attr("count_include_pad"):
            widths = [(a.before, a.after) for a in (rows, columns)]
            ones = np.pad(ones, [(0, 0), *widths, (0, 0)], constant_values=1)
            rows, columns = (
                Axis(a.kernel, a.stride, a.dilation, 0, 0) for a in (rows, columns)
            )
        count = sum(part for _, _, part in taps(ones, rows, columns, size, 0))
        empty = inside == 0
        return np.where(empty, 0, total), np.where(empty, 1, count)

    def is_identity(self, op: Op) -> bool:
        unit = op.attr("kernels") == (1, 1) and op.attr("strides") == (1, 1)
        return unit and not (op.attr("padding") == "EXPLICIT" and any(op.attr("pads")))

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return of_images(axes)


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
    for starts in itertools.product(*(range(axis.kernel) for axis in axes)):
        cuts = [
            slice(
                tap * axis.dilation,
                tap * axis.dilation + max(size - 1, 0) * axis.stride + 1,
                axis.stride,
            )
            if size
            else slice(0, 0)
            for tap, axis, size in zip(starts, axes, sizes)
        ]
        within: Any = (..., *cuts)
        result = fold(result, padded[within])
    return result

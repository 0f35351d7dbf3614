# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for GridSample."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import DataFormat, Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.images import channel_axis, data_format
from mace.python.tools.ir.shapes import (
    compatible,
    format_shape,
    to_channels_first,
    to_channels_last,
)


class GridSample(OpRules):
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x, grid = op.input(0), op.input(1)
        rank = x.rank if x.rank is not None else grid.rank
        if rank is None:
            return [OutputType(x.dtype, None)]
        if rank not in (4, 5):
            raise ValueError(f"an image of {rank} dimensions; 4 and 5 are supported")
        if op.attr("mode") == "CUBIC" and rank != 4:
            raise ValueError("mode CUBIC takes images of 4 dimensions only")
        axis = channel_axis(op, rank)
        shape = x.shape or (None,) * rank
        batch = shape[0]
        if not compatible(grid.shape, (batch, *(None,) * (rank - 2), rank - 2)):
            raise ValueError(
                f"a grid of shape {format_shape(grid.shape)} does not fit an image of "
                f"shape {format_shape(x.shape)}"
            )
        places = grid.shape or (None,) * rank
        outer = [d for i, d in enumerate(shape) if i not in (0, axis)]
        if 0 in outer and 0 not in (batch, shape[axis], *places):
            raise ValueError("an image without pixels")
        result = [batch, *places[1:-1]]
        result.insert(axis, shape[axis])
        return [OutputType(x.dtype, tuple(result))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, grid = (np.asarray(array) for array in inputs)
        first = data_format(op) is DataFormat.NCHW
        if first:
            x = x.transpose(to_channels_last(x.ndim))
        y = _sampled(op, x, grid.astype(np.float32))
        return [y.transpose(to_channels_first(y.ndim)) if first else y]


def _sampled(op: Op, x: Array, grid: Array) -> Array:
    axes = grid.shape[-1]
    shape = (*grid.shape[:-1], x.shape[-1])
    result = np.zeros(shape)
    if not result.size:
        return result
    taps = [
        _taps(op, grid[..., axes - 1 - axis], x.shape[1 + axis]) for axis in range(axes)
    ]
    batch = np.arange(len(x)).reshape(-1, *[1] * axes)
    for chosen in itertools.product(*taps):
        inside = np.all([index >= 0 for index, _ in chosen], 0)
        weight = np.prod([w for _, w in chosen], 0)[..., None]
        places = (batch, *[np.maximum(index, 0) for index, _ in chosen])
        pixels = x[places]
        pixels = np.where(inside[..., None], pixels.astype(np.float64), 0)
        result += weight * pixels
    return result


def _taps(op: Op, place: Array, length: int) -> list[tuple[Array, Array]]:
    """Indices, -1 for those outside, and weights of each element along an axis."""
    mode, padding = op.attr("mode"), op.attr("padding")
    one, two = np.float32(1), np.float32(2)
    # In float32, because positions decide between elements.
    if op.attr("align_corners"):
        low, high = 0.0, length - 1.0
        position = (place + one) / two * np.float32(length - 1)
    else:
        low, high = -0.5, length - 0.5
        position = ((place + one) * np.float32(length) - one) / two
    if mode == "NEAREST":
        position = np.rint(position)
    if padding == "BORDER" and mode != "CUBIC":
        # As in PyTorch, a cubic curve goes on to the nearest elements.
        position = np.clip(position, 0, length - 1)
    elif padding == "REFLECTION":
        position = _reflected(position, low, high)
    position = np.where(np.isnan(position), -3 if padding == "ZEROS" else 0, position)
    # All further away is outside, too.
    position = np.clip(position, -3, length + 2)
    if mode == "NEAREST":
        return [(_index(padding, position, low, high, length), np.ones(place.shape))]
    base = np.floor(position)
    t = (position - base).astype(np.float64)
    if mode == "LINEAR":
        weights, start = [1 - t, t], 0
    else:
        weights, start = [_cubic(abs(t - k)) for k in range(-1, 3)], -1
    return [
        (_index(padding, base + start + k, low, high, length), w)
        for k, w in enumerate(weights)
    ]


def _index(padding: str, index: Array, low: float, high: float, length: int) -> Array:
    if padding == "ZEROS":
        inside = (index >= 0) & (index < length)
        return np.where(inside, index, -1).astype(np.int64)
    if padding == "REFLECTION":
        index = np.trunc(_reflected(index, low, high))
    return np.clip(index, 0, length - 1).astype(np.int64)


def _reflected(position: Array, low: float, high: float) -> Array:
    width = np.float32(high - low)
    if not width:
        return np.zeros_like(position)
    low, high = np.float32(low), np.float32(high)
    below = position < low
    distance = np.where(below, low - position, position - high)
    rest = np.fmod(distance, width)
    even = np.fmod(np.trunc(distance / width), 2) == 0
    reflected = np.where(below == even, low + rest, high - rest)
    outside = below | (position > high)
    return np.asarray(np.where(outside, reflected, position))


def _cubic(d: Array) -> Array:
    """Keys' convolution kernel."""
    a = -0.75
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, far)

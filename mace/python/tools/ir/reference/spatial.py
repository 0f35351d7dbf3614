# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution, pooling and what else works on images, in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import EVALUATORS
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.reference.activation import activate
from mace.python.tools.ir.window import Axis, window_axes

_Function = Callable[[Op, "Sequence[Any]"], "list[Array]"]


def _channels_last(function: _Function) -> _Function:
    """Lets a function written for NHWC serve data_format NCHW too."""

    def wrapper(op: Op, inputs: Sequence[Any]) -> list[Array]:
        if op.attrs.get("data_format", "NHWC") == "NHWC":
            return function(op, inputs)
        moved = list(inputs)
        # Input 3 is the residual of a convolution; 1 and 2 are weights.
        for port in (0, 3):
            if port < len(moved) and moved[port] is not None:
                moved[port] = moved[port].transpose(0, 2, 3, 1)
        return [y.transpose(0, 3, 1, 2) for y in function(op, moved)]

    return wrapper


def _windows(op: Op, x: Array, kernel: Sequence[int]) -> tuple[Axis, Axis]:
    rows, columns = window_axes(op, kernel, x.shape[1:3])
    assert rows is not None and columns is not None
    return rows, columns


def _taps(
    x: Array, rows: Axis, columns: Axis, out: Sequence[int], fill: float
) -> Iterator[tuple[int, int, Array]]:
    """For each position in the window, the input elements it meets."""
    # Far enough for windows that ceil_mode adds.
    far = [
        (out[i] - 1) * axis.stride + axis.extent
        for i, axis in enumerate((rows, columns))
    ]
    widths = [
        (axis.before, max(far[i] - axis.before - x.shape[i + 1], 0))
        for i, axis in enumerate((rows, columns))
    ]
    padded = np.pad(x, [(0, 0), *widths, (0, 0)], constant_values=fill)
    for i in range(rows.kernel):
        for j in range(columns.kernel):
            top, left = i * rows.dilation, j * columns.dilation
            yield (
                i,
                j,
                padded[
                    :,
                    top : top + (out[0] - 1) * rows.stride + 1 : rows.stride,
                    left : left + (out[1] - 1) * columns.stride + 1 : columns.stride,
                ],
            )


def _output_size(x: Array, rows: Axis, columns: Axis) -> list[int]:
    sizes = [rows.output(x.shape[1]), columns.output(x.shape[2])]
    return [size for size in sizes if isinstance(size, int)]


@EVALUATORS.register("Conv2D")
@_channels_last
def _conv2d(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x, filters = (np.asarray(i, np.float64) for i in inputs[:2])
    rows, columns = _windows(op, x, filters.shape[1:3])
    size = _output_size(x, rows, columns)
    groups, depth = op.attr("groups"), filters.shape[3]
    per_group = filters.shape[0] // groups
    result = np.zeros((x.shape[0], *size, filters.shape[0]))
    for i, j, part in _taps(x, rows, columns, size, 0):
        for g in range(groups):
            outs = slice(g * per_group, (g + 1) * per_group)
            ins = slice(g * depth, (g + 1) * depth)
            result[..., outs] += part[..., ins] @ filters[outs, i, j].T
    return [_tail(op, result, inputs)]


@EVALUATORS.register("DepthwiseConv2d")
@_channels_last
def _depthwise(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x, filters = (np.asarray(i, np.float64) for i in inputs[:2])
    kh, kw, channels, multiplier = filters.shape
    rows, columns = _windows(op, x, (kh, kw))
    size = _output_size(x, rows, columns)
    result = np.zeros((x.shape[0], *size, channels, multiplier))
    for i, j, part in _taps(x, rows, columns, size, 0):
        result += part[..., None] * filters[i, j]
    flat = result.reshape(*result.shape[:3], channels * multiplier)
    return [_tail(op, flat, inputs)]


def _tail(op: Op, result: Array, inputs: Sequence[Any]) -> Array:
    for extra in inputs[2:4]:
        if extra is not None:
            result = result + extra
    return activate(op, result)


@EVALUATORS.register("Pooling")
@_channels_last
def _pooling(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x = np.asarray(inputs[0], np.float64)
    rows, columns = _windows(op, x, op.attr("kernels"))
    size = [
        int(axis.output(x.shape[i + 1], op.attr("ceil_mode")) or 0)
        for i, axis in enumerate((rows, columns))
    ]
    if op.attr("mode") == "MAX":
        parts = _taps(x, rows, columns, size, -np.inf)
        return [np.maximum.reduce([part for _, _, part in parts])]
    total = sum(part for _, _, part in _taps(x, rows, columns, size, 0))
    ones = np.ones((1, *x.shape[1:3], 1))
    if op.attr("count_include_pad"):
        widths = [(a.before, a.after) for a in (rows, columns)]
        ones = np.pad(ones, [(0, 0), *widths, (0, 0)], constant_values=1)
        rows, columns = (
            Axis(a.kernel, a.stride, a.dilation, 0, 0) for a in (rows, columns)
        )
    count = sum(part for _, _, part in _taps(ones, rows, columns, size, 0))
    return [np.asarray(total / count)]


@EVALUATORS.register("LocalResponseNorm")
@_channels_last
def _local_response_norm(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x = np.asarray(inputs[0], np.float64)
    before, after = op.attr("before"), op.attr("after")
    channels = x.shape[-1]
    squares = np.square(x)
    sums = np.stack(
        [
            squares[..., max(c - before, 0) : c + after + 1].sum(-1)
            for c in range(channels)
        ],
        -1,
    )
    scale = op.attr("bias") + op.attr("alpha") * sums
    return [x / scale ** op.attr("beta")]


@EVALUATORS.register("ChannelShuffle")
@_channels_last
def _channel_shuffle(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x, groups = inputs[0], op.attr("groups")
    split = x.reshape(*x.shape[:-1], groups, -1)
    return [split.swapaxes(-1, -2).reshape(x.shape)]


@EVALUATORS.register("DepthToSpace")
@_channels_last
def _depth_to_space(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x, block = inputs[0], op.attr("block")
    n, h, w, c = x.shape
    depth = c // (block * block)
    if op.attr("order") == "DCR":
        parts = x.reshape(n, h, w, block, block, depth).transpose(0, 1, 3, 2, 4, 5)
    else:
        parts = x.reshape(n, h, w, depth, block, block).transpose(0, 1, 4, 2, 5, 3)
    return [parts.reshape(n, h * block, w * block, depth)]


@EVALUATORS.register("SpaceToDepth")
@_channels_last
def _space_to_depth(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x, block = inputs[0], op.attr("block")
    n, h, w, depth = x.shape
    h, w = h // block, w // block
    parts = x.reshape(n, h, block, w, block, depth)
    perm = (0, 1, 3, 2, 4, 5) if op.attr("order") == "DCR" else (0, 1, 3, 5, 2, 4)
    return [parts.transpose(perm).reshape(n, h, w, depth * block * block)]

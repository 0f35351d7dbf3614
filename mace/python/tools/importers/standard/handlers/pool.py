# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling over windows and over whole images."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mace.python.tools.importers.emit.volumes import Axis
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.handlers import volume
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.importers.standard.window import (
    Window,
    emit_image_op,
    read_window,
)
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules.volumes import RANK as VOLUME_RANK


@HANDLERS.register("MaxPool", "AveragePool")
def _pool(node: Node) -> None:
    x = node.input(0)
    kernel = node.integers("kernel_shape")
    average = node.type == "AveragePool"
    mode = "AVG" if average else "MAX"
    attrs = {"ceil_mode": node.flag("ceil_mode", False)}
    if average:
        attrs["count_include_pad"] = node.flag("count_include_pad", False)
    if len(node.shape(x)) == VOLUME_RANK:
        if not average and node.is_used(1):
            node.set_output(1, _places_in_volume(node))
        node.set_output(0, volume.pool(node, x, mode, attrs))
        return
    window = read_window(node, len(node.shape(x)), kernel)
    if not average and node.is_used(1):
        node.set_output(1, _places_in_image(node, window))
    emit_image_op(
        node,
        "Pooling",
        x,
        window,
        {**attrs, "mode": mode, "kernels": window.kernel},
    )


def _places_in_image(node: Node, window: Window) -> Value:
    x = node.input(0)
    node.static_shape(x)
    image = node.expand_dims(x, [2]) if window.is_line else x
    sides = node.static_shape(image)[2:]
    pads = zeros_around(node, image, window, node.flag("ceil_mode", False))
    lines = []
    for side, length in enumerate(sides):
        stride, dilation = (window.attrs[key][side] for key in ("strides", "dilations"))
        before, after = pads[2 * side : 2 * side + 2]
        axis = Axis(window.kernel[side], stride, dilation, before, after)
        lines.append(_positions(axis, length))
    steps = (sides[1], 1)
    order = (1, sides[0]) if node.flag("storage_order", False) else steps
    lengths = [len(line) for line in lines[1 if window.is_line else 0 :]]
    return _places_of_maxima(node, lines, (steps, order), lengths)


def _places_in_volume(node: Node) -> Value:
    x = node.input(0)
    sides = node.static_shape(x)[2:]
    if node.flag("storage_order", False) or node.flag("ceil_mode", False):
        raise UnsupportedNodeError(
            "indices of the maxima of volumes with storage_order or ceil_mode"
        )
    axes = volume.windows(node, x)
    lines = [_positions(axis, length) for axis, length in zip(axes, sides)]
    steps = (sides[1] * sides[2], sides[2], 1)
    return _places_of_maxima(node, lines, (steps, steps), [len(line) for line in lines])


def _places_of_maxima(
    node: Node,
    lines: Sequence[Array],
    steps: tuple[Sequence[int], Sequence[int]],
    lengths: Sequence[int],
) -> Value:
    """Compares the elements of every window.

    Args:
        lines: of `_positions`, for each side.
        steps: from one element to the next along each side, in memory and in results.
        lengths: the sides of the result.
    """
    x = node.input(0)
    shape = node.static_shape(x)
    size = math.prod(line.shape[1] for line in lines)
    count = math.prod(len(line) for line in lines)
    within: Array = np.ones((), np.bool_)
    tables: list[Array] = [np.zeros((), np.int64) for _ in steps]
    for side, line in enumerate(lines):
        # [windows of all sides, elements of a window of all sides]
        spread = [1] * 2 * len(lines)
        spread[side], spread[len(lines) + side] = line.shape
        positions = line.reshape(spread)
        within = within & (positions >= 0)
        for index, step in enumerate(steps):
            tables[index] = tables[index] + positions * step[side]
    within = within.reshape(count, size)
    # Padding is never a maximum: the first element of the window stands there.
    if not within.any(1).all():
        raise UnsupportedNodeError("a window lies in the padding alone")
    start = within.argmax(1)[:, None]
    for index, table in enumerate(tables):
        flat = table.reshape(count, size)
        tables[index] = np.where(within, flat, np.take_along_axis(flat, start, 1))
    planes, area = shape[0] * shape[1], math.prod(shape[2:])
    rows = node.reshape(x, [planes, area])
    places, names = (node.literal(t.reshape(-1), DataType.INT32) for t in tables)
    found = node.make("Gather", [rows, places], {"axis": 1})
    found = node.reshape(found, [planes, count, size])
    found = node.make("ArgMax", [found], {"axis": 2})
    found = node.squeeze(found, [2])
    offsets = node.literal(np.arange(count) * size, DataType.INT32)
    found = node.eltwise("ADD", found, offsets)
    found = node.make("Gather", [names, found], {"axis": 0})
    offsets = node.literal(np.arange(planes)[:, None] * area, DataType.INT32)
    found = node.eltwise("ADD", found, offsets)
    return node.reshape(found, [*shape[:2], *lengths])


def _positions(axis: Axis, length: int) -> Array:
    """The positions of the elements of each window along a side, -1 for padding."""
    count = (length + axis.before + axis.after - axis.extent) // axis.stride + 1
    begins = np.arange(count)[:, None] * axis.stride - axis.before
    positions = begins + np.arange(axis.kernel)[None, :] * axis.dilation
    return np.where((positions >= 0) & (positions < length), positions, -1)


@HANDLERS.register("GlobalAveragePool", "GlobalMaxPool")
def _global_pool(node: Node) -> None:
    pool_whole(node, "MEAN" if node.type == "GlobalAveragePool" else "MAX")


def pool_whole(node: Node, mode: str) -> None:
    """All positions of an image as one, by a mode of Reduce."""
    rank = len(node.shape(node.input(0)))
    if rank < 3:
        raise UnsupportedNodeError(f"an input of {rank} dimensions is no image")
    attrs = {"mode": mode, "axes": range(2, rank), "keep_dims": True}
    node.emit("Reduce", [node.input(0)], attrs)


def zeros_around(
    node: Node, image: Value, window: Window, ceil_mode: bool
) -> list[int]:
    """Zeros before and after each side, with which all windows are whole."""
    padding, given = window.attrs["padding"], window.attrs.get("pads", [0] * 4)
    if padding in ("VALID", "EXPLICIT") and not ceil_mode:
        return [given[0], given[2], given[1], given[3]]
    result = []
    for side in range(2):
        length = node.static_shape(image)[2 + side]
        stride, dilation = (
            window.attrs["strides"][side],
            window.attrs["dilations"][side],
        )
        span = (window.kernel[side] - 1) * dilation + 1
        before, after = given[side], given[2 + side]
        if padding in ("SAME", "SAME_LOWER"):
            count = -(-length // stride)
            total = max((count - 1) * stride + span - length, 0)
            small = total // 2
            before = small if padding == "SAME" else total - small
            after = total - before
        elif ceil_mode:
            count = -(-(length + before + after - span) // stride) + 1
            # No window begins behind the image.
            if (count - 1) * stride >= length + before:
                count -= 1
            after = max(after, (count - 1) * stride + span - length - before)
        result += [before, after]
    return result

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The elements under each tap of a filter, for convolutions by products of matrices."""

from __future__ import annotations

import itertools

from mace.python.tools.importers.onnx.node import Node
from mace.python.tools.importers.onnx.window import Window
from mace.python.tools.ir.graph import Value


def stride(window: Window, axis: int) -> int:
    """The step between windows."""
    return int(window.attrs["strides"][axis])


def extent(window: Window, axis: int) -> int:
    """The elements from the first tap to the last one."""
    return int((window.kernel[axis] - 1) * window.attrs["dilations"][axis] + 1)


def pads(window: Window, sides: list[int]) -> tuple[list[int], list[int]]:
    """Padding before and after each side."""
    padding = window.attrs["padding"]
    if padding == "EXPLICIT":
        given = window.attrs["pads"]
        return list(given[:2]), list(given[2:])
    totals = [0, 0]
    if padding != "VALID":
        for axis, side in enumerate(sides):
            step = stride(window, axis)
            covered = (-(-side // step) - 1) * step + extent(window, axis)
            totals[axis] = max(covered - side, 0)
    less = [total // 2 for total in totals]
    more = [total - half for total, half in zip(totals, less)]
    return (more, less) if padding == "SAME_LOWER" else (less, more)


def in_pairs(pads: list[int]) -> list[int]:
    """From ONNX's order to MACE's: both pads of an axis one after the other."""
    rank = len(pads) // 2
    return [pad for pair in zip(pads[:rank], pads[rank:]) for pad in pair]


def under_taps(
    node: Node,
    x: Value,
    window: Window,
    parts: tuple[int, int, int],
    counts: list[int],
) -> Value:
    """[N, groups, C / groups * taps, Y * X] of the padded image."""
    batch, groups, depth = parts
    strides, dilations = window.attrs["strides"], window.attrs["dilations"]
    pixels = counts[0] * counts[1]
    found = []
    for tap in itertools.product(*(range(length) for length in window.kernel)):
        begins = [place * dilation for place, dilation in zip(tap, dilations)]
        ends = [
            begin + (count - 1) * step + 1
            for begin, count, step in zip(begins, counts, strides)
        ]
        attrs = {"axes": [2, 3], "begins": begins, "ends": ends, "strides": strides}
        cut = node.make("StridedSlice", [x], attrs)
        shape = [batch, groups, depth, 1, pixels]
        found.append(node.make("Reshape", [cut], {"shape": shape}))
    joined = found[0]
    if len(found) > 1:
        joined = node.make("Concat", found, {"axis": 3})
    return node.make(
        "Reshape", [joined], {"shape": [batch, groups, depth * len(found), pixels]}
    )

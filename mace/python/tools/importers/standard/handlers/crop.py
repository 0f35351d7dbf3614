# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Resize with tf_crop_and_resize: GridSample reads a region that the model gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import Node
from mace.python.tools.importers.standard.window import NCHW
from mace.python.tools.ir.dtypes import Array, DataType

_SPATIAL = (2, 3)


def crop_and_resize(node: Node, axes: Sequence[int]) -> None:
    """Emits the node, whose `roi` is about `axes`."""
    x = node.input(0)
    shape = node.static_shape(x)
    if len(shape) != 4:
        raise UnsupportedNodeError(f"{x.name} has {len(shape)} dimensions, not 4")
    mode = node.text("mode", "nearest")
    if mode not in ("linear", "cubic") or node.real("cubic_coeff_a", -0.75) != -0.75:
        raise UnsupportedNodeError(
            "tf_crop_and_resize is supported with mode linear, and cubic with "
            "cubic_coeff_a -0.75"
        )
    if node.flag("antialias", False) or node.flag("exclude_outside", False):
        raise UnsupportedNodeError(
            "tf_crop_and_resize with antialias or exclude_outside"
        )
    if node.text("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise UnsupportedNodeError("tf_crop_and_resize with an aspect ratio")
    roi = [float(v) for v in node.constant(1, "roi").reshape(-1)]
    sizes = _sizes(node, axes, shape)
    if len(roi) != 2 * len(axes) or len(sizes) != len(axes):
        raise UnsupportedNodeError(
            f"{len(roi)} numbers in roi and {len(sizes)} sizes for {len(axes)} axes"
        )
    regions = dict(zip(axes, zip(sizes, roi, roi[len(axes) :])))
    for axis, (size, low, high) in regions.items():
        kept = size == shape[axis] and low == 0 and high == 1
        if axis not in _SPATIAL and not kept:
            raise UnsupportedNodeError(f"crops or resizes axis {axis}")
    places = []
    for axis in _SPATIAL:
        size, low, high = regions.get(axis, (shape[axis], 0.0, 1.0))
        places.append(_places(size, low, high, shape[axis]))
    grid = np.stack(np.meshgrid(*places, indexing="ij")[::-1], -1)
    outside = np.abs(grid).max(-1) > 1
    grids = np.broadcast_to(grid, (shape[0], *grid.shape))
    attrs = {
        **NCHW,
        "mode": mode.upper(),
        "padding": "BORDER",
        "align_corners": True,
    }
    if not outside.any():
        node.emit("GridSample", [x, node.literal(grids)], attrs)
        return
    read = node.make("GridSample", [x, node.literal(grids)], attrs)
    value = node.literal(node.real("extrapolation_value", 0.0))
    node.emit("Where", [node.literal(outside, DataType.BOOL), value, read])


def _sizes(node: Node, axes: Sequence[int], shape: Sequence[int]) -> list[int]:
    if node.has_input(3):
        return node.constant_ints(3, "sizes")
    scales = np.asarray(node.constant(2, "scales"), np.float32).reshape(-1)
    return [int(np.floor(np.float32(shape[a]) * s)) for a, s in zip(axes, scales)]


def _places(size: int, low: float, high: float, length: int) -> Array:
    """Positions along an axis, -1 and 1 being the centres of the first and the last
    element.
    """
    if length == 1:
        # The only element, or outside: positions are multiples of length - 1.
        return np.zeros(size)
    share = np.linspace(0, 1, size) if size > 1 else np.full(size, 0.5)
    return np.asarray(2 * (low * (1 - share) + high * share) - 1)

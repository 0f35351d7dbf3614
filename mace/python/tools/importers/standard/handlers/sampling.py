# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that read images at computed positions: GridSample and AffineGrid."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.importers.standard.window import NCHW

_MODES = {
    "bilinear": "LINEAR",
    "linear": "LINEAR",
    "nearest": "NEAREST",
    "bicubic": "CUBIC",
    "cubic": "CUBIC",
}
_PADDING = {"zeros": "ZEROS", "border": "BORDER", "reflection": "REFLECTION"}


@HANDLERS.register("GridSample")
def _grid_sample(node: Node) -> None:
    mode, padding = node.text("mode", "linear"), node.text("padding_mode", "zeros")
    if mode not in _MODES:
        raise UnsupportedNodeError(f"mode is {mode!r}; {', '.join(_MODES)} are known")
    if padding not in _PADDING:
        raise UnsupportedNodeError(
            f"padding_mode is {padding!r}; {', '.join(_PADDING)} are known"
        )
    attrs = {
        **NCHW,
        "mode": _MODES[mode],
        "padding": _PADDING[padding],
        "align_corners": node.flag("align_corners", False),
    }
    node.emit("GridSample", [node.input(0), node.input(1)], attrs)


@HANDLERS.register("AffineGrid")
def _affine_grid(node: Node) -> None:
    theta, size = node.input(0), node.constant_ints(1, "size")
    axes = len(size) - 2
    if axes not in (2, 3):
        raise UnsupportedNodeError(f"size has {len(size)} elements, not 4 or 5")
    places = []
    for length in size[2:]:
        if node.flag("align_corners", False):
            # A single element is at the lower border, as in ONNX.
            places.append(np.linspace(-1, 1, length))
        else:
            places.append((2 * np.arange(length) + 1) / length - 1)
    grid = np.meshgrid(*places, indexing="ij")
    points = np.stack([*grid[::-1], np.ones_like(grid[0])], -1)
    base = node.literal(points.reshape(1, -1, axes + 1))
    moved = node.make("MatMul", [base, theta], {"transpose_b": True})
    node.emit("Reshape", [moved], {"shape": [size[0], *size[2:], axes]})

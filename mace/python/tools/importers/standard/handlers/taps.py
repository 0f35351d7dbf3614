# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions by products of matrices: the elements under each window, and the filter.

Sizes of images may be open: the windows are those of an operator, not of slices.
"""

from __future__ import annotations

from collections.abc import Callable

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import Node
from mace.python.tools.importers.standard.window import NCHW, Window
from mace.python.tools.ir.graph import Value

# The product of rows [..., K] and a filter that belongs to them.
Product = Callable[[Value], Value]


def check_channels(node: Node, filters: tuple[int, ...], groups: int) -> None:
    """Refuses a filter [O, C / groups, ...] that does not fit the input."""
    channels = node.shape(node.input(0))[1]
    fits = not isinstance(channels, int) or channels == filters[1] * groups
    if groups < 1 or filters[0] % groups or not fits:
        raise UnsupportedNodeError(
            f"{channels} input channels, a filter of {list(filters)} and "
            f"{groups} groups"
        )


def by_matrices(
    node: Node,
    window: Window,
    groups: int,
    outside: Value | None,
    product: Product,
) -> Value:
    """A convolution of input 0, in ONNX's order.

    Args:
        window: of the filter.
        groups: of channels.
        outside: what padding adds; None: 0.
        product: of the elements under each window, taps before channels: of
            [N, Y, X, K], or of [N, groups, Y, X, K], a result with the outputs of the
            filter in the place of K.
    """
    x = node.input(0)
    if window.is_line:
        x = node.make("ExpandDims", [x], {"axes": [2]})
    attrs = {**NCHW, **window.attrs, "kernels": list(window.kernel)}
    inputs = [x] if outside is None else [x, outside]
    rows = node.make("Im2Col", inputs, attrs)
    rows = node.make("Transpose", [rows], {"perm": [0, 2, 3, 1]})
    if groups == 1:
        result = product(rows)
    else:
        taps = window.kernel[0] * window.kernel[1]
        depth = node.shape(rows)[3]
        if not isinstance(depth, int):
            raise UnsupportedNodeError(f"the channels of {x.name} are not known")
        parts = [0, 0, 0, taps, groups, depth // taps // groups]
        rows = node.make("Reshape", [rows], {"shape": parts})
        rows = node.make("Transpose", [rows], {"perm": [0, 4, 1, 2, 3, 5]})
        shape = [0, 0, 0, 0, depth // groups]
        result = product(node.make("Reshape", [rows], {"shape": shape}))
        result = node.make("Transpose", [result], {"perm": [0, 2, 3, 1, 4]})
        result = node.make("Reshape", [result], {"shape": [0, 0, 0, -1]})
    result = node.make("Transpose", [result], {"perm": [0, 3, 1, 2]})
    return node.make("Squeeze", [result], {"axes": [2]}) if window.is_line else result

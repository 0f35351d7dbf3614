# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Deformable convolution: GridSample reads the elements under the filter, wherever they
are, and a convolution of 1 x 1 multiplies them.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, STATIC_HINT, Node
from mace.python.tools.importers.standard.window import read_filter
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, NHWC_TO_NCHW


@HANDLERS.register("DeformConv")
def _deform_conv(node: Node) -> None:
    constant = read_filter(node)
    if len(constant.shape) != 4:
        raise UnsupportedNodeError(
            f"{len(constant.shape) - 2} spatial dimensions; 2 are supported"
        )
    x, offsets = node.input(0), node.input(2)
    channels, height, width = _sizes(node, x)
    deform, rows, columns = _sizes(node, offsets)
    places = constant.shape[2] * constant.shape[3]
    groups, parts = node.integer("group", 1), node.integer("offset_group", 1)
    if groups < 1 or parts < 1 or channels % parts or channels % groups:
        raise UnsupportedNodeError(
            f"{channels} channels in {groups} groups and {parts} offset groups"
        )
    if deform != 2 * parts * places or channels // groups != constant.shape[1]:
        raise UnsupportedNodeError(
            f"{deform} offsets and {channels} channels do not fit a filter of shape "
            f"{list(constant.shape)}"
        )
    # [N * parts, H, W, C / parts]
    image = _turned(node, x, [parts, channels // parts, height, width], NCHW_TO_NHWC)
    image = node.reshape(image, [-1, height, width, channels // parts])
    # [N, parts, OH, OW, places, 2]
    moved = _turned(node, offsets, [parts, places, 2, rows, columns], (0, 3, 4, 1, 2))
    base = _base(node, constant.shape[2:], rows, columns)
    size = np.array([height, width])
    # Positions p of GridSample are (2 p + 1) / size - 1.
    scaled = node.eltwise("MUL", moved, node.literal(2 / size))
    grid = node.eltwise("ADD", scaled, node.literal((2 * base + 1) / size - 1))
    grid = node.make("Gather", [grid, _reversed(node)], {"axis": 5})
    grid = node.reshape(grid, [-1, rows, columns * places, 2])
    read = node.make("GridSample", [image, grid])
    shape = [-1, parts, rows, columns, places, channels // parts]
    read = node.reshape(read, shape)
    if node.has_input(4):
        mask = node.input(4)
        weights = _turned(
            node, mask, [parts, places, 1, rows, columns], (0, 3, 4, 1, 2)
        )
        read = node.eltwise("MUL", read, weights)
    columns_of = _in_groups(node, read, shape, groups)
    filters = node.lazy(_filter(constant), "filter")
    inputs = [columns_of, filters]
    if node.has_input(3):
        bias = node.input(3)
        if not bias.is_constant:
            raise UnsupportedNodeError(
                f"the bias ({bias.name}) is computed at run time", STATIC_HINT
            )
        inputs.append(bias)
    result = node.make("Conv2D", inputs, {"groups": groups})
    node.emit("Transpose", [result], {"perm": NHWC_TO_NCHW})


def _sizes(node: Node, value: Value) -> tuple[int, int, int]:
    """Channels, height and width."""
    shape = node.shape(value)
    if len(shape) != 4:
        raise UnsupportedNodeError(f"{value.name} has {len(shape)} dimensions, not 4")
    sizes = [dim for dim in shape[1:] if isinstance(dim, int)]
    if len(sizes) != 3:
        raise UnsupportedNodeError(
            f"the shape of {value.name} is not known before the run", STATIC_HINT
        )
    return sizes[0], sizes[1], sizes[2]


def _turned(node: Node, value: Value, shape: list[int], perm: tuple[int, ...]) -> Value:
    """Splits all dimensions after the first one, then transposes them."""
    split = node.reshape(value, [-1, *shape])
    return node.transpose(split, [0, *(1 + axis for axis in perm)])


def _base(node: Node, kernel: tuple[int, ...], rows: int, columns: int) -> Array:
    """[OH, OW, places, 2]: where the filter is without offsets."""
    pads = node.integers("pads", [0] * 4)
    strides, dilations = (
        node.integers("strides", [1] * 2),
        node.integers("dilations", [1] * 2),
    )
    if (len(pads), len(strides), len(dilations)) != (4, 2, 2):
        raise UnsupportedNodeError(
            "pads, strides and dilations are not those of images"
        )
    y, x, i, j = np.meshgrid(
        *(np.arange(n) for n in (rows, columns, *kernel)), indexing="ij"
    )
    base = np.stack(
        [
            y * strides[0] - pads[0] + i * dilations[0],
            x * strides[1] - pads[1] + j * dilations[1],
        ],
        -1,
    )
    return base.reshape(rows, columns, -1, 2)


def _reversed(node: Node) -> Value:
    """Offsets are (y, x), positions (x, y)."""
    return node.builder.constant(
        node.builder.graph.unique_name(f"{node.label}/order"), np.array([1, 0])
    )


def _in_groups(node: Node, read: Value, shape: list[int], groups: int) -> Value:
    """[N, parts, OH, OW, places, C / parts] as [N, OH, OW, C * places], with the places
    before the channels in each group.
    """
    _, parts, rows, columns, places, depth = shape
    channels = parts * depth
    if parts > 1:
        read = node.transpose(read, [0, 2, 3, 4, 1, 5])
    if groups > 1:
        split = [-1, rows * columns, places, groups, channels // groups]
        read = node.reshape(read, split)
        read = node.transpose(read, [0, 1, 3, 2, 4])
    return node.reshape(read, [-1, rows, columns, places * channels])


def _filter(constant: Constant) -> Constant:
    out, depth, height, width = constant.shape
    shape = (out, 1, 1, height * width * depth)
    return constant.moved(lambda a: a.transpose(NCHW_TO_NHWC).reshape(shape), shape)

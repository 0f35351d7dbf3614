# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of images: moved by offsets, of regions, of powers, and added again."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.handlers import volume
from mace.python.tools.importers.standard.handlers.pool import pool_whole, zeros_around
from mace.python.tools.importers.standard.node import HANDLERS, STATIC_HINT, Node
from mace.python.tools.importers.standard.window import (
    NCHW,
    read_filter,
    read_steps,
    read_window,
)
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules.volumes import RANK as VOLUME_RANK
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, NHWC_TO_NCHW


@HANDLERS.register("DeformConv")
def _deform_conv(node: Node) -> None:
    """GridSample reads the elements under the filter, wherever they are, and a
    convolution of 1 x 1 multiplies them.
    """
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


# Largest elements of regions, and unpooling ------------------------------------------


@HANDLERS.register("MaxRoiPool")
def _max_roi_pool(node: Node) -> None:
    size = node.integers("pooled_shape", [])
    if len(size) != 2:
        raise UnsupportedNodeError(f"pooled_shape is {list(size)}; two are needed")
    regions = node.input(1)
    rank = {"axes": [1], "strides": [1]}
    image = {**rank, "begins": [0], "ends": [1], "shrink_axes": [1]}
    images = node.make("StridedSlice", [regions], image)
    corners = node.make("StridedSlice", [regions], {**rank, "begins": [1], "ends": [5]})
    attrs = {
        **NCHW,
        "height": size[0],
        "width": size[1],
        "scale": node.real("spatial_scale", 1.0),
    }
    images = node.cast(images, DataType.INT32)
    node.emit("RoiPool", [node.input(0), corners, images], attrs)


@HANDLERS.register("MaxUnpool")
def _max_unpool(node: Node) -> None:
    x, indices = node.input(0), node.input(1)
    shape = list(node.static_shape(x))
    kernel = node.integers("kernel_shape")
    spatial = len(kernel)
    strides = node.integers("strides", [1] * spatial)
    pads = node.integers("pads", [0] * 2 * spatial)
    if not len(shape) - 2 == spatial == len(strides) == len(pads) / 2:
        raise UnsupportedNodeError(
            f"kernel_shape, strides and pads do not all have {len(shape) - 2} "
            "spatial dimensions"
        )
    inferred = shape[:2] + [
        (shape[2 + i] - 1) * strides[i] + kernel[i] - pads[i] - pads[spatial + i]
        for i in range(spatial)
    ]
    wanted = node.constant_ints(2, "output_shape") if node.has_input(2) else inferred
    if len(wanted) != len(shape) or any(dim < 1 for dim in wanted):
        raise UnsupportedNodeError(f"output_shape is {wanted}")
    if node.static_shape(indices) != tuple(shape):
        raise UnsupportedNodeError("the shapes of the input and the indices differ")
    # The positions are those in the inferred shape, by ONNX's reference.
    if any(new < old for new, old in zip(wanted, inferred)):
        raise UnsupportedNodeError(f"output_shape {wanted} is smaller than {inferred}")
    flat = node.reshape(x, [-1])
    places = node.reshape(indices, [-1, 1])
    zeros = node.literal(np.zeros(math.prod(inferred)), x.dtype)
    filled = node.make("Scatter", [zeros, places, flat], {"form": "SLICES"})
    if wanted == inferred:
        node.emit("Reshape", [filled], {"shape": wanted})
        return
    image = node.reshape(filled, inferred)
    grow = [pad for new, old in zip(wanted, inferred) for pad in (0, new - old)]
    node.emit("Pad", [image], {"pads": grow})


# Roots of sums of powers -------------------------------------------------------------


@HANDLERS.register("GlobalLpPool")
def _global_lp_pool(node: Node) -> None:
    power = _power(node)
    if power != 2:
        raise UnsupportedNodeError(f"p is {power:g}; 2 is supported")
    pool_whole(node, "L2")


@HANDLERS.register("LpPool")
def _lp_pool(node: Node) -> None:
    """The p-th root of a sum of powers, which is a mean times the size of a window."""
    x, kernel = node.input(0), node.integers("kernel_shape")
    power = _power(node)
    if power <= 0:
        raise UnsupportedNodeError(f"p is {power}, needs to be above 0")
    rank = len(node.shape(x))
    powers = node.eltwise("ABS", x)
    if power != 1:
        exponent = node.scalar(power, x)
        powers = node.eltwise("POW", powers, exponent)
    if rank == VOLUME_RANK:
        if node.flag("ceil_mode", False):
            raise UnsupportedNodeError("ceil_mode of volumes")
        result = volume.pool(node, powers, "AVG", {"count_include_pad": True})
        node.set_output(0, _root(node, result, math.prod(kernel), power))
        return
    window = read_window(node, rank, kernel)
    if window.is_line:
        powers = node.expand_dims(powers, [2])
    ceil_mode = node.flag("ceil_mode", False)
    pads = zeros_around(node, powers, window, ceil_mode)
    if any(pads):
        powers = node.make("Pad", [powers], {"pads": [0] * 4 + pads})
    attrs = {key: window.attrs[key] for key in ("strides", "dilations")}
    attrs.update(NCHW, mode="AVG", kernels=window.kernel, padding="VALID")
    result = node.make("Pooling", [powers], attrs)
    if window.is_line:
        result = node.squeeze(result, [2])
    size = window.kernel[0] * window.kernel[1]
    node.set_output(0, _root(node, result, size, power))


def _root(node: Node, mean: Value, size: int, power: float) -> Value:
    result = node.eltwise("MUL", mean, node.scalar(size, mean))
    if power != 1:
        exponent = node.scalar(1 / power, mean)
        result = node.eltwise("POW", result, exponent)
    return result


def _power(node: Node) -> float:
    # In operator set 1, this is a float.
    return node.real("p", 2.0) if node.opset < 2 else float(node.integer("p", 2))


# Windows that become an image --------------------------------------------------------


@HANDLERS.register("Col2Im")
def _col2im(node: Node) -> None:
    x = node.input(0)
    image = node.constant_ints(1, "image_shape")
    block = node.constant_ints(2, "block_shape")
    spatial = len(image)
    strides, dilations, pads = read_steps(node, spatial, block, "block_shape")
    if min(*image, *block, *strides, *dilations) < 1 or min(pads) < 0:
        raise UnsupportedNodeError("a size is below 1, or a pad negative")
    shape = node.static_shape(x)
    padded = [image[i] + pads[i] + pads[spatial + i] for i in range(spatial)]
    spans = [(block[i] - 1) * dilations[i] + 1 for i in range(spatial)]
    counts = [(padded[i] - spans[i]) // strides[i] + 1 for i in range(spatial)]
    kernel, windows = math.prod(block), math.prod(counts)
    if len(shape) != 3 or shape[1] % kernel or min(counts) < 1 or shape[2] != windows:
        raise UnsupportedNodeError(
            f"an input of shape {list(shape)} does not have {kernel} rows for each "
            f"channel and {windows} columns"
        )
    # Element (window, place in it) goes to this pixel of the padded image.
    pixels = np.zeros([*block, *counts], np.int64)
    for i in range(spatial):
        along = (
            np.arange(block[i])[:, None] * dilations[i]
            + np.arange(counts[i])[None, :] * strides[i]
        )
        place = [1] * (2 * spatial)
        place[i], place[spatial + i] = block[i], counts[i]
        pixels = pixels * padded[i] + along.reshape(place)
    batch, channels = shape[0], shape[1] // kernel
    columns = node.reshape(x, [batch, channels, kernel, windows])
    columns = node.transpose(columns, [2, 3, 0, 1])
    columns = node.reshape(columns, [kernel * windows, batch * channels])
    zeros = node.literal(np.zeros([math.prod(padded), batch * channels]), x.dtype)
    places = node.literal(pixels.reshape(-1, 1), DataType.INT32)
    attrs = {"form": "SLICES", "mode": "ADD"}
    sums = node.make("Scatter", [zeros, places, columns], attrs)
    sums = node.transpose(sums, [1, 0])
    whole = [batch, channels, *padded]
    if not any(pads):
        node.emit("Reshape", [sums], {"shape": whole})
        return
    sums = node.reshape(sums, whole)
    cut = {
        "axes": list(range(2, 2 + spatial)),
        "begins": pads[:spatial],
        "ends": [pads[i] + image[i] for i in range(spatial)],
        "strides": [1] * spatial,
    }
    node.emit("StridedSlice", [sums], cut)

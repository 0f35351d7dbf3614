# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that write elements to given positions."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_REDUCTIONS = {"none": "SET", "add": "ADD", "mul": "MUL", "max": "MAX", "min": "MIN"}
_BYTES = (DataType.INT8, DataType.UINT8)


@HANDLERS.register("Scatter", "ScatterElements")
def _scatter_elements(node: Node) -> None:
    _scatter(node, {"form": "ELEMENTS", "axis": node.integer("axis", 0)})


@HANDLERS.register("ScatterND")
def _scatter_nd(node: Node) -> None:
    _scatter(node, {"form": "SLICES"})


def _scatter(node: Node, attrs: dict[str, str | int]) -> None:
    reduction = node.text("reduction", "none")
    if reduction not in _REDUCTIONS:
        raise UnsupportedNodeError(
            f"reduction is {reduction!r}; {', '.join(_REDUCTIONS)} work"
        )
    data, indices, updates = (node.input(i) for i in range(3))
    attrs["mode"] = _REDUCTIONS[reduction]
    if data.dtype not in _BYTES or reduction == "none":
        node.emit("Scatter", [data, indices, updates], attrs)
        return
    wide = [node.make("Cast", [x], {"to": "INT32"}) for x in (data, updates)]
    result = node.make("Scatter", [wide[0], indices, wide[1]], attrs)
    # Sums and products beyond the type wrap around.
    node.emit("Cast", [result], {"to": data.dtype.value.upper()})


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
    flat = node.make("Reshape", [x], {"shape": [-1]})
    places = node.make("Reshape", [indices], {"shape": [-1, 1]})
    zeros = node.literal(np.zeros(math.prod(inferred)), x.dtype)
    filled = node.make("Scatter", [zeros, places, flat], {"form": "SLICES"})
    if wanted == inferred:
        node.emit("Reshape", [filled], {"shape": wanted})
        return
    image = node.make("Reshape", [filled], {"shape": inferred})
    grow = [pad for new, old in zip(wanted, inferred) for pad in (0, new - old)]
    node.emit("Pad", [image], {"pads": grow})


@HANDLERS.register("Col2Im")
def _col2im(node: Node) -> None:
    x = node.input(0)
    image = node.constant_ints(1, "image_shape")
    block = node.constant_ints(2, "block_shape")
    spatial = len(image)
    strides = node.integers("strides", [1] * spatial)
    dilations = node.integers("dilations", [1] * spatial)
    pads = node.integers("pads", [0] * 2 * spatial)
    lengths = (len(block), len(strides), len(dilations), len(pads) / 2)
    if any(length != spatial for length in lengths):
        raise UnsupportedNodeError(
            f"block_shape, strides, dilations and pads do not all have {spatial} "
            "spatial dimensions"
        )
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
    columns = node.make("Reshape", [x], {"shape": [batch, channels, kernel, windows]})
    columns = node.make("Transpose", [columns], {"perm": [2, 3, 0, 1]})
    columns = node.make(
        "Reshape", [columns], {"shape": [kernel * windows, batch * channels]}
    )
    zeros = node.literal(np.zeros([math.prod(padded), batch * channels]), x.dtype)
    places = node.literal(pixels.reshape(-1, 1), DataType.INT32)
    attrs = {"form": "SLICES", "mode": "ADD"}
    sums = node.make("Scatter", [zeros, places, columns], attrs)
    sums = node.make("Transpose", [sums], {"perm": [1, 0]})
    whole = [batch, channels, *padded]
    if not any(pads):
        node.emit("Reshape", [sums], {"shape": whole})
        return
    sums = node.make("Reshape", [sums], {"shape": whole})
    cut = {
        "axes": list(range(2, 2 + spatial)),
        "begins": pads[:spatial],
        "ends": [pads[i] + image[i] for i in range(spatial)],
        "strides": [1] * spatial,
    }
    node.emit("StridedSlice", [sums], cut)


@HANDLERS.register("TensorScatter")
def _tensor_scatter(node: Node) -> None:
    past, update = node.input(0), node.input(1)
    shape, new = node.static_shape(past), node.static_shape(update)
    axis = node.axis(node.integer("axis", -2), len(shape))
    mode = node.text("mode", "linear")
    if mode not in ("linear", "circular"):
        raise UnsupportedNodeError(f"mode is {mode!r}; linear and circular work")
    if axis == 0 or len(new) != len(shape):
        raise UnsupportedNodeError(f"axis is {axis}, shapes {list(shape)}, {list(new)}")
    lead = new[: axis + 1]
    places: list[Value] = []
    if axis > 0:
        grid = np.moveaxis(np.indices(lead)[:axis], 0, -1)
        places.append(node.literal(grid, DataType.INT32))
    along = np.broadcast_to(np.arange(new[axis])[:, None], (*lead, 1))
    position = node.literal(along, DataType.INT32)
    if node.has_input(2):
        start = node.make(
            "Reshape", [node.input(2)], {"shape": [new[0]] + [1] * (axis + 1)}
        )
        position = node.make("Eltwise", [position, start], {"mode": "ADD"})
    if mode == "circular":
        length = node.scalar(shape[axis], position)
        position = node.make("Eltwise", [position, length], {"mode": "FLOOR_MOD"})
    indices = node.make("Concat", [*places, position], {"axis": axis + 1})
    node.emit("Scatter", [past, indices, update], {"form": "SLICES"})

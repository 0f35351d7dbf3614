# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Max pooling of regions, and its inverse."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.importers.standard.window import NCHW
from mace.python.tools.ir.dtypes import DataType


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

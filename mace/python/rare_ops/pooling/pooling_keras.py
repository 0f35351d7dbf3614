# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling to a size that the layer asks for."""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context
from mace.python.tools.ir.graph import Value


@HANDLERS.register(
    *("AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D"),
    *("AdaptiveMaxPooling1D", "AdaptiveMaxPooling2D"),
    *("AdaptiveAveragePooling3D", "AdaptiveMaxPooling3D"),
)
def adaptive_pool(context: Context) -> None:
    """Windows of such sizes that there are as many results as asked for, one axis
    after the other.
    """
    layer, (x, dims) = context.layer, context.images()
    mode = "MEAN" if "Average" in layer.kind else "MAX"
    for axis, size in enumerate(layer.integers("output_size", dims), 1):
        x = _adapted(context, x, axis, size, mode)
    context.give(context.step("Identity", [x], "adapted"))


def _adapted(context: Context, x: Value, axis: int, size: int, mode: str) -> Value:
    length = context.length(x, axis)
    if size == length:
        return x
    if size < 1:
        raise UnsupportedNodeError(f"output_size is {size}")
    if length % size == 0:
        shape = context.dims(x)
        shape[axis : axis + 1] = [size, length // size]
        blocks = context.step("Reshape", [x], "blocks", shape=shape)
        return context.reduce(mode, blocks, [axis + 1], False)
    parts = []
    for index in range(size):
        ends = [index * length // size, -(-(index + 1) * length // size)]
        attrs = {"axes": [axis], "begins": ends[:1], "ends": ends[1:], "strides": [1]}
        window = context.step("StridedSlice", [x], "window", **attrs)
        parts.append(context.reduce(mode, window, [axis]))
    return parts[0] if size == 1 else context.step("Concat", parts, "parts", axis=axis)

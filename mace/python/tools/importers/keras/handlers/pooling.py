# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling in one, two and three dimensions."""

from __future__ import annotations

from mace.python.tools.importers.emit.volumes import Axis, sizes_of
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context
from mace.python.tools.importers.keras.handlers.convolution import (
    as_image,
    as_sequence,
    channels_last,
    maker,
    padding_of,
)
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules.volumes import pooled


@HANDLERS.register(
    *("MaxPooling1D", "MaxPooling2D", "MaxPooling3D"),
    *("AveragePooling1D", "AveragePooling2D", "AveragePooling3D"),
)
def pool(context: Context) -> None:
    """Averages do not count padding."""
    layer, x = context.layer, context.floats()
    channels_last(layer)
    dims = int(layer.kind[-2])
    if context.rank(x) != dims + 2:
        raise UnsupportedNodeError(f"the input has {context.rank(x)} dimensions")
    mode = "MAX" if layer.kind.startswith("Max") else "AVG"
    sizes = layer.integers("pool_size", dims, 2)
    strides = layer.integers("strides", dims) if layer.has("strides") else sizes
    padding = padding_of(layer)
    if dims == 3:
        window = [Axis(*values) for values in zip(sizes, strides)]
        if padding == "SAME":
            own = sizes_of(x)
            window = [a.padded_same(size, True) for a, size in zip(window, own)]
        context.give(pooled(maker(context), x, mode, window, {}))
        return
    if dims == 1:
        x, sizes, strides = as_image(context, x), [1, *sizes], [1, *strides]
    y = context.step(
        "Pooling",
        [x],
        "pooled",
        mode=mode,
        kernels=sizes,
        strides=strides,
        padding=padding,
    )
    context.give(as_sequence(context, y) if dims == 1 else y)


@HANDLERS.register(
    *("GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D"),
    *("GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAveragePooling3D"),
)
def global_pool(context: Context) -> None:
    """Over all axes but batch and channels."""
    layer, x = context.layer, context.floats()
    channels_last(layer)
    dims = int(layer.kind[-2])
    if context.rank(x) != dims + 2:
        raise UnsupportedNodeError(f"the input has {context.rank(x)} dimensions")
    is_average = "Average" in layer.kind
    if is_average and dims == 1 and context.masked:
        _masked_mean(context, x)
        return
    context.emit(
        "Reduce",
        [x],
        mode="MEAN" if is_average else "MAX",
        axes=list(range(1, dims + 1)),
        keep_dims=layer.flag("keepdims"),
    )
    context.gives_mask = False


@HANDLERS.register(
    *("AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D"),
    *("AdaptiveMaxPooling1D", "AdaptiveMaxPooling2D"),
    *("AdaptiveAveragePooling3D", "AdaptiveMaxPooling3D"),
)
def adaptive_pool(context: Context) -> None:
    """Windows of such sizes that there are as many results as asked for, one axis
    after the other.
    """
    layer, x = context.layer, context.floats()
    channels_last(layer)
    dims = int(layer.kind[-2])
    if context.rank(x) != dims + 2:
        raise UnsupportedNodeError(f"the input has {context.rank(x)} dimensions")
    mode = "MEAN" if "Average" in layer.kind else "MAX"
    for axis, size in enumerate(layer.integers("output_size", dims), 1):
        x = _adapted(context, x, axis, size, mode)
    context.give(context.step("Identity", [x], "adapted"))


def _adapted(context: Context, x: Value, axis: int, size: int, mode: str) -> Value:
    length = context.shape(x)[axis]
    if not isinstance(length, int):
        raise UnsupportedNodeError(
            f"the size of {x.name} is not known before the run",
            "give fixed input_shapes",
        )
    if size == length:
        return x
    if size < 1:
        raise UnsupportedNodeError(f"output_size is {size}")
    if length % size == 0:
        shape = context.dims(x)
        shape[axis : axis + 1] = [size, length // size]
        blocks = context.step("Reshape", [x], "blocks", shape=shape)
        return context.step(
            "Reduce", [blocks], "windows", mode=mode, axes=[axis + 1], keep_dims=False
        )
    parts = []
    for index in range(size):
        window = context.step(
            "StridedSlice",
            [x],
            "window",
            axes=[axis],
            begins=[index * length // size],
            ends=[-(-(index + 1) * length // size)],
            strides=[1],
        )
        parts.append(
            context.step(
                "Reduce", [window], "part", mode=mode, axes=[axis], keep_dims=True
            )
        )
    return parts[0] if size == 1 else context.step("Concat", parts, "parts", axis=axis)


def _masked_mean(context: Context, x: Value) -> None:
    """Of the steps that count."""
    kept = context.step("Cast", [context.known_mask()], "counted", to="FLOAT32")
    kept = context.step("ExpandDims", [kept], "rows", axes=[2])
    chosen = context.step("Eltwise", [x, kept], "chosen", mode="MUL")
    keep = context.layer.flag("keepdims")
    sums = [
        context.step("Reduce", [value], name, mode="SUM", axes=[1], keep_dims=keep)
        for value, name in ((chosen, "sum"), (kept, "number"))
    ]
    context.emit("Eltwise", sums, mode="DIV")
    context.gives_mask = False

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of images as channels, contrast, and resizing with smooth edges."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.graph import Value

_MOST_PLACES = 1024
_KERNELS = {"triangle": "LINEAR", "keyscubic": "CUBIC"}


@HANDLERS.register("ExtractImagePatches")
def patches(context: Context) -> None:
    """The pixels of each window, one behind the other."""
    x = context.input(0)
    sizes, strides, rates = (
        context.node.ints(name) for name in ("ksizes", "strides", "rates")
    )
    if not all(len(v) == 4 and v[0] == v[3] == 1 for v in (sizes, strides, rates)):
        raise UnsupportedNodeError(f"ksizes {sizes}, strides {strides}, rates {rates}")
    dims = x.shape or ()
    if len(dims) != 4 or not all(isinstance(dim, int) for dim in dims[1:3]):
        raise UnsupportedNodeError(
            f"height and width of {x.name} are not known", "give fixed input_shapes"
        )
    if not 1 <= sizes[1] * sizes[2] <= _MOST_PLACES:
        raise UnsupportedNodeError(f"windows of {sizes[1]} x {sizes[2]}")
    pads, counts = [0, 0], []
    for axis in (1, 2):
        length = dims[axis]
        assert isinstance(length, int)
        extent = (sizes[axis] - 1) * rates[axis] + 1
        if context.node.string("padding") == "SAME":
            count = -(-length // strides[axis])
            total = max((count - 1) * strides[axis] + extent - length, 0)
        else:
            count, total = (length - extent) // strides[axis] + 1, 0
        if count < 1:
            raise UnsupportedNodeError("the window is larger than the image")
        pads += [total // 2, total - total // 2]
        counts.append(count)
    if any(pads):
        x = context.step("Pad", [x], "padded", pads=[*pads, 0, 0])
    parts = [
        _places(context, x, (row * rates[1], column * rates[2]), strides, counts)
        for row in range(sizes[1])
        for column in range(sizes[2])
    ]
    y = parts[0]
    if len(parts) > 1:
        y = context.step("Concat", parts, "patches", axis=3)
    context.results[0] = context.builder.alias(y, context.output_name())


def _places(
    context: Context,
    x: Value,
    starts: tuple[int, int],
    strides: tuple[int, ...],
    counts: list[int],
) -> Value:
    ends = [
        s + (n - 1) * stride + 1 for s, n, stride in zip(starts, counts, strides[1:])
    ]
    return context.step(
        "StridedSlice",
        [x],
        "place",
        axes=[1, 2],
        begins=list(starts),
        ends=ends,
        strides=list(strides[1:3]),
    )


@HANDLERS.register("AdjustContrastv2")
def contrast(context: Context) -> None:
    """The difference of each channel to its mean, times a factor."""
    x, factor = context.input(0), context.input(1)
    rank = context.rank(0)
    axes = [rank - 3, rank - 2]
    mean = context.step("Reduce", [x], "mean", mode="MEAN", axes=axes)
    far = context.step("Eltwise", [x, mean], "far", mode="SUB")
    far = context.step("Eltwise", [far, factor], "farther", mode="MUL")
    context.emit("Eltwise", [far, mean], mode="ADD")


@HANDLERS.register("ScaleAndTranslate")
def scale(context: Context) -> None:
    """What tf.image.resize makes of images, with antialias."""
    x, size = context.input(0), context.ints(1, "size")
    scales = np.asarray(context.values(2, "scale")).reshape(-1)
    moved = np.asarray(context.values(3, "translation"))
    kind = context.node.string("kernel_type", "lanczos3")
    if kind not in _KERNELS or moved.any():
        raise UnsupportedNodeError(
            f"kernel_type is {kind!r}, or translation is not 0",
            "resize by the methods bilinear or bicubic",
        )
    dims = (x.shape or ())[1:3]
    whole = [s / d for s, d in zip(size, dims) if isinstance(d, int)]
    if len(whole) != 2 or not np.allclose(whole, scales, 1e-6):
        raise UnsupportedNodeError(f"scale {scales} is not that of whole images")
    context.emit(
        "Resize",
        [x],
        mode=_KERNELS[kind],
        size=size,
        coordinates="HALF_PIXEL",
        cubic_coefficient=-0.5,
        exclude_outside=True,
        antialias=context.node.flag("antialias", True),
    )


@HANDLERS.register("MaxPoolV2")
def max_pool(context: Context) -> None:
    """MaxPool whose window and strides are inputs."""
    sizes, strides = context.ints(1, "ksize"), context.ints(2, "strides")
    padding = context.node.string("padding")
    if context.is_nchw():
        raise UnsupportedNodeError("data_format is NCHW")
    if any(len(v) != 4 or v[0] != 1 or v[3] != 1 for v in (sizes, strides)):
        raise UnsupportedNodeError(f"ksize {sizes}, strides {strides}")
    context.emit(
        "Pooling",
        [context.input(0)],
        mode="MAX",
        kernels=sizes[1:3],
        strides=strides[1:3],
        padding=padding,
    )

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of images, contrast, and sizes whose pixels are means of many."""

from __future__ import annotations

import itertools

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import (
    HANDLERS,
    Context,
)

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
            f"height and width of {x.name} are not known", context.static_hint
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
    parts = []
    for row, column in itertools.product(range(sizes[1]), range(sizes[2])):
        starts = [row * rates[1], column * rates[2]]
        ends = [
            start + (count - 1) * stride + 1
            for start, count, stride in zip(starts, counts, strides[1:])
        ]
        places = {"axes": [1, 2], "begins": starts, "ends": ends}
        own = context.step("StridedSlice", [x], **places, strides=list(strides[1:3]))
        parts.append(own)
    whole = context.step("Concat", parts, axis=3) if len(parts) > 1 else parts[0]
    context.pass_on(whole)


@HANDLERS.register("AdjustContrastv2")
def contrast(context: Context) -> None:
    """The difference of each channel to its mean, times a factor."""
    x, factor = context.input(0), context.input(1)
    rank = context.rank(0)
    axes = [rank - 3, rank - 2]
    mean = context.step("Reduce", [x], "mean", mode="MEAN", axes=axes)
    far = context.eltwise("MUL", context.eltwise("SUB", x, mean), factor)
    context.emit_eltwise("ADD", far, mean)


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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of images, contrast, sizes whose pixels are means of many, and the best boxes
of all classes.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import (
    HANDLERS,
    Context,
)
from mace.python.tools.importers.tf_operators.handlers.detection import (
    LOWEST,
    column_of,
    numbers_to,
    two_results,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_MOST_PLACES = 1024
# Each has operators of its own.
_MOST_IMAGES = 16
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


@HANDLERS.register("CombinedNonMaxSuppression")
def combined_non_max_suppression(context: Context) -> None:
    """The best boxes of all classes, of each image; behind them zeros."""
    boxes, scores = context.input(0), context.input(1)
    images, count, kinds, _ = context.static_shape(boxes)
    classes = context.static_shape(scores)[2]
    if kinds != 1:
        raise UnsupportedNodeError(f"each class has boxes of its own ({kinds})")
    if not 1 <= images <= _MOST_IMAGES:
        raise UnsupportedNodeError(f"{images} images; 1 to {_MOST_IMAGES} work")
    each, total = (
        int(context.element(i, f"max_{what}"))
        for i, what in ((2, "output_size_per_class"), (3, "total_size"))
    )
    if context.node.flag("pad_per_class"):
        total = min(total, each * classes)
    if each < 1 or total < 1:
        raise UnsupportedNodeError(f"at most {each} and {total} boxes")
    attrs = {
        "max_boxes": each,
        "iou_threshold": context.element(4, "iou_threshold"),
        "score_threshold": max(context.element(5, "score_threshold"), LOWEST),
    }
    found = [
        _best(context, boxes, scores, image, (count, classes, total), attrs)
        for image in range(images)
    ]
    for index, parts in enumerate(zip(*found)):
        whole = context.step("Concat", parts, axis=0) if images > 1 else parts[0]
        context.pass_on(whole, index)


def _best(
    context: Context,
    boxes: Value,
    scores: Value,
    image: int,
    sizes: tuple[int, int, int],
    attrs: Mapping[str, Any],
) -> tuple[Value, Value, Value, Value]:
    """Boxes, scores, classes and number of those of one image."""
    count, classes, total = sizes
    step, eltwise = context.step, context.eltwise
    own = context.cut(boxes, 0, image, image + 1)
    own = step("Reshape", [own], "boxes", shape=[1, count, 4])
    rated = context.cut(scores, 0, image, image + 1)
    rated = step("Transpose", [rated], "by_class", perm=[0, 2, 1])
    rows, number = two_results(context, "NonMaxSuppression", [own, rated], attrs)
    # The score of each row, and the lowest number where a row does not count.
    most = classes * min(attrs["max_boxes"], count)
    first = eltwise("MUL", column_of(context, rows, 1), count)
    places = eltwise("ADD", first, column_of(context, rows, 2))
    flat = step("Reshape", [rated], "flat", shape=[classes * count])
    values = step("Gather", [flat, places], "scores", axis=0)
    counts = eltwise("LESS", numbers_to(context, most), number)
    values = step("Where", [counts, values, context.number(LOWEST)], "counted")
    best = min(total, most)
    order = {"k": best, "axis": 0, "largest": True}
    values, chosen = two_results(context, "TopK", [values], order)
    rows = step("Gather", [rows, chosen], "chosen", axis=0)
    number = eltwise("MIN", number, total)
    is_valid = eltwise("LESS", numbers_to(context, best), number)
    kinds = context.cast(column_of(context, rows, 1), DataType.FLOAT32)
    corners = step("Reshape", [own], "corners", shape=[count, 4])
    corners = step("Gather", [corners, column_of(context, rows, 2)], "found", axis=0)
    if context.node.flag("clip_boxes", True):
        corners = eltwise("MIN", eltwise("MAX", corners, 0), 1)
    each = step("ExpandDims", [is_valid], "each", axes=[1])
    zero = context.number(0)
    results = []
    for mask, value in ((each, corners), (is_valid, values), (is_valid, kinds)):
        value = step("Where", [mask, value, zero], "result")
        if best < total:
            rest = [0] * (2 * ((value.rank or 1) - 1))
            value = step("Pad", [value], "padded", pads=[0, total - best, *rest])
        results.append(step("ExpandDims", [value], "of_image", axes=[0]))
    return results[0], results[1], results[2], number

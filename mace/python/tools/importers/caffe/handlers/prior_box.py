# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Prior boxes of detectors, which only depend on shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.caffe.layer import HANDLERS, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.dtypes import Array

_SAME = 1e-6
_MOST_NUMBERS = 1 << 24


@HANDLERS.register("PriorBox")
def _prior_box(layer: Layer) -> None:
    param = layer.proto.prior_box_param
    height, width = layer.static_shape(layer.bottom())[2:4]
    image = _image_size(layer, param)
    steps = _steps(param, image, (height, width))
    sizes = _box_sizes(param)
    if height * width * len(sizes) * 8 > _MOST_NUMBERS:
        raise UnsupportedNodeError(f"{height * width * len(sizes)} boxes are too many")
    y = (np.arange(height) + param.offset) * steps[0]
    x = (np.arange(width) + param.offset) * steps[1]
    half = np.asarray(sizes, np.float64) / 2  # width, height
    boxes = np.empty((height, width, len(sizes), 4))
    boxes[..., 0] = (x[None, :, None] - half[:, 0]) / image[1]
    boxes[..., 1] = (y[:, None, None] - half[:, 1]) / image[0]
    boxes[..., 2] = (x[None, :, None] + half[:, 0]) / image[1]
    boxes[..., 3] = (y[:, None, None] + half[:, 1]) / image[0]
    if param.clip:
        boxes = np.clip(boxes, 0, 1)
    variances = np.broadcast_to(_variances(param), boxes.shape)
    both = np.stack([boxes.reshape(-1), variances.reshape(-1)])[None]
    layer.set_top(0, layer.literal(both))


def _image_size(layer: Layer, param: Any) -> tuple[int, int]:
    if param.img_size and (param.img_h or param.img_w):
        raise UnsupportedNodeError("give either img_size, or img_h and img_w")
    if param.img_size:
        return param.img_size, param.img_size
    if param.img_h and param.img_w:
        return param.img_h, param.img_w
    height, width = layer.static_shape(layer.bottom(1))[2:4]
    return height, width


def _steps(
    param: Any, image: Sequence[int], size: Sequence[int]
) -> tuple[float, float]:
    if param.HasField("step") and (
        param.HasField("step_h") or param.HasField("step_w")
    ):
        raise UnsupportedNodeError("give either step, or step_h and step_w")
    vertical, horizontal = param.step_h or param.step, param.step_w or param.step
    if not vertical or not horizontal:
        return image[0] / size[0], image[1] / size[1]
    return vertical, horizontal


def _box_sizes(param: Any) -> list[tuple[float, float]]:
    """Width and height of the boxes at each place, in the order of SSD."""
    least, largest = list(param.min_size), list(param.max_size)
    if not least or any(size <= 0 for size in least):
        raise UnsupportedNodeError("min_size is missing or not positive")
    if largest and len(largest) != len(least):
        raise UnsupportedNodeError(f"{len(largest)} max_size for {len(least)} min_size")
    ratios = _ratios(param)
    sizes = []
    for index, size in enumerate(least):
        sizes.append((size, size))
        if largest:
            if largest[index] <= size:
                raise UnsupportedNodeError(
                    f"max_size {largest[index]} is not more than min_size {size}"
                )
            middle = math.sqrt(size * largest[index])
            sizes.append((middle, middle))
        sizes += [(size * math.sqrt(r), size / math.sqrt(r)) for r in ratios]
    return sizes


def _ratios(param: Any) -> list[float]:
    """The aspect ratios other than 1."""
    found = [1.0]
    for ratio in param.aspect_ratio:
        if ratio <= 0:
            raise UnsupportedNodeError(f"aspect_ratio {ratio} is not positive")
        if any(abs(ratio - other) < _SAME for other in found):
            continue
        found.append(ratio)
        if param.flip:
            found.append(1 / ratio)
    return [ratio for ratio in found if abs(ratio - 1) >= _SAME]


def _variances(param: Any) -> Array:
    given = list(param.variance) or [0.1]
    if len(given) not in (1, 4) or any(v <= 0 for v in given):
        raise UnsupportedNodeError(
            f"variance {given}; 1 or 4 positive numbers are valid"
        )
    return np.asarray(given, np.float64)

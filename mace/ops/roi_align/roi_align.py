# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for RoiAlign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.images import (
    count_regions,
    evaluate_in_nhwc,
    image_dims,
    image_shape,
    region_images,
)

_MOST_SAMPLES = 1024


class RoiAlign(OpRules):
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        channels = None
        if x.shape is not None:
            _, _, channels = image_dims(op, x.shape)
        count = count_regions(op)
        size = (op.attr("height"), op.attr("width"))
        return [OutputType(x.dtype, image_shape(op, count, size, channels))]

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, count = np.asarray(inputs[0]), np.size(inputs[1]) // 4
        size = (op.attr("height"), op.attr("width"))
        result = np.zeros((count, *size, x.shape[-1]))
        for index, image, region in region_images(inputs):
            rows, columns = (
                _weights(op, region[1 - axis], region[3 - axis], size[axis], length)
                for axis, length in enumerate(x.shape[1:3])
            )
            pixels = np.asarray(image, np.float64)
            if op.attr("mode") == "AVG":
                # All samples, of which each one is a sum of products.
                mean = [w.mean(2) if w.shape[2] else w.sum(2) for w in (rows, columns)]
                result[index] = np.einsum("ih,jw,hwc->ijc", *mean, pixels)
            else:
                result[index] = _largest(rows, columns, pixels)
        return [result]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        """One result for each region, which inputs 1 and 2 describe."""
        rows = set(axes) <= {1, 2} and set(axes.values()) == {0}
        count = None if op.output.shape is None else op.output.shape[0]
        lengths = {(op.input(index).shape or (None,))[0] for index in axes}
        return 0 if rows and lengths == {count} else None


def _weights(op: Op, low: Any, high: Any, outputs: int, length: int) -> Array:
    """[outputs, length, samples]: the weight of each element in each sample."""
    scale, two = np.float32(op.attr("scale")), np.float32(2)
    offset = np.float32(0.5 if op.attr("half_pixel") else 0)
    low, high = np.float32(low) * scale - offset, np.float32(high) * scale - offset
    extent = high - low
    if not op.attr("half_pixel"):
        extent = np.maximum(extent, np.float32(1))
    step = extent / np.float32(outputs)
    samples = op.attr("samples")
    if samples == 0:
        samples = int(np.clip(np.ceil(step), 0, _MOST_SAMPLES)) if step == step else 0
    result = np.zeros((outputs, length, samples))
    for i in range(outputs):
        for s in range(samples):
            inner = np.float32(2 * s + 1) / two * step / np.float32(samples)
            place = low + np.float32(i) * step + inner
            if not -1 <= place <= length or not length:
                continue
            place = max(place, np.float32(0))
            below = min(int(place), length - 1)
            rest = float(place) - below if below < length - 1 else 0.0
            result[i, below, s] += 1 - rest
            result[i, min(below + 1, length - 1), s] += rest
    return result


def _largest(rows: Array, columns: Array, pixels: Array) -> Array:
    result = np.zeros((len(rows), len(columns), pixels.shape[-1]))
    for i, j in np.ndindex(result.shape[:2]):
        products = [
            _products(rows[i, :, s], columns[j, :, t], pixels)
            for s in range(rows.shape[2])
            for t in range(columns.shape[2])
        ]
        if products:
            result[i, j] = np.max(products, 0)
    return result


def _products(row: Array, column: Array, pixels: Array) -> Array:
    """The largest product in one sample, by channel; 0 if it is outside."""
    if not row.any() or not column.any():
        return np.zeros(pixels.shape[-1])
    (ys, wy), (xs, wx) = _pair(row), _pair(column)
    return np.asarray(
        np.max(
            [a * b * pixels[y, x] for y, a in zip(ys, wy) for x, b in zip(xs, wx)], 0
        )
    )


def _pair(weights: Array) -> tuple[list[int], list[float]]:
    """Two neighbours and their weights; at the end, the last one and nothing."""
    first = int(np.nonzero(weights)[0][0])
    second = min(first + 1, len(weights) - 1)
    return [first, second], [weights[first], weights[second] if second > first else 0.0]

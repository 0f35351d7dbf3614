# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for RoiPool."""

from __future__ import annotations

from collections.abc import Sequence
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
from mace.python.tools.ir.shapes import Dim

_F32 = np.float32


class RoiPool(OpRules):
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        size = (op.attr("height"), op.attr("width"))
        depth: Dim = None
        if x.shape is not None:
            _, _, channels = image_dims(op, x.shape)
            depth = _depth(op, channels) if isinstance(channels, int) else None
            if op.attr("mode") == "MAX":
                depth = channels
        count = count_regions(op)
        return [OutputType(x.dtype, image_shape(op, count, size, depth))]

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, count = np.asarray(inputs[0]), np.size(inputs[1]) // 4
        size = (op.attr("height"), op.attr("width"))
        depth = _depth(op, x.shape[-1])
        result = np.zeros((count, *size, depth), x.dtype)
        for index, image, region in region_images(inputs):
            rows, columns = (
                _windows(op, region[1 - axis], region[3 - axis], size[axis], length)
                for axis, length in enumerate(x.shape[1:3])
            )
            for i, j in np.ndindex(*size):
                window = image[slice(*rows[i]), slice(*columns[j])]
                if not window.shape[0] * window.shape[1]:
                    continue
                if op.attr("mode") == "MAX":
                    result[index, i, j] = window.max((0, 1))
                else:
                    own = window[..., i * size[1] + j :: size[0] * size[1]]
                    result[index, i, j] = own.mean((0, 1), np.float64)
        return [result]


def _depth(op: Op, channels: int) -> int:
    if op.attr("mode") == "MAX":
        return channels
    places = op.attr("height") * op.attr("width")
    if channels % places:
        raise ValueError(
            f"{channels} channels are no multiple of {places} places of an output"
        )
    return int(channels // places)


def _rounded(x: Any) -> Any:
    """To the nearest integer, halves away from 0."""
    whole = np.trunc(x)
    return _F32(whole + np.copysign(_F32(abs(x - whole) >= 0.5), x))


def _windows(
    op: Op, low: Any, high: Any, outputs: int, length: int
) -> list[tuple[int, int]]:
    """Begin and end of the elements of each output along an axis."""
    scale, count = _F32(op.attr("scale")), _F32(outputs)
    with np.errstate(over="ignore", invalid="ignore"):
        if op.attr("mode") == "MAX":
            start = _rounded(_F32(low) * scale)
            end = _rounded(_F32(high) * scale)
            # As std::max takes NaN.
            extent = _largest(end - start + _F32(1), _F32(1))
            step = extent / count
            return [
                (
                    _inside(np.floor(_F32(i) * step) + start, length),
                    _inside(np.ceil(_F32(i + 1) * step) + start, length),
                )
                for i in range(outputs)
            ]
        start = _rounded(_F32(low)) * scale
        end = (_rounded(_F32(high)) + _F32(1)) * scale
        step = _largest(end - start, _F32(0.1)) / count
        places = [
            _F32(np.float64(i) * np.float64(step) + np.float64(start))
            for i in range(outputs + 1)
        ]
        return [
            (_inside(np.floor(a), length), _inside(np.ceil(b), length))
            for a, b in zip(places, places[1:])
        ]


def _largest(a: Any, b: Any) -> Any:
    return b if a < b else a


def _inside(x: Any, length: int) -> int:
    if not x > 0:
        return 0
    return int(x) if x < _F32(length) else length

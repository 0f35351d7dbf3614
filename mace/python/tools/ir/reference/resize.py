# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Images in another size, in float64: one matrix of weights per axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import EVALUATORS
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.window import scaled_size, spatial_axes


@EVALUATORS.register("Resize")
def _resize(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x: Array = inputs[0]
    scales: Sequence[float | None] = op.attr("scales") or (None, None)
    size = op.attr("size")
    if len(inputs) > 1 and inputs[1] is not None:
        size = [int(v) for v in inputs[1]]
    for i, axis in enumerate(spatial_axes(op)):
        length, scale = x.shape[axis], scales[i]
        if size:
            output = size[i]
        else:
            assert scale is not None
            output = scaled_size(length, scale)
        position = _positions(op, length, output, scale)
        if op.attr("mode") == "NEAREST":
            x = np.take(x, _nearest(op, position, length), axis)
            continue
        narrow = 1.0
        if op.attr("antialias"):
            narrow = min(1.0, scale or output / length)
        weights = _weights(op, position, length, narrow)
        # Elements without weight have no influence, not even Inf and NaN.
        moved = np.moveaxis(np.asarray(x, np.float64), axis, 0)
        rows = [
            np.tensordot(w[w != 0], moved[w != 0], 1) if moved.size else moved[:0]
            for w in weights
        ]
        x = np.moveaxis(np.reshape(rows, (output, *moved.shape[1:])), 0, axis)
    return [x]


def _positions(op: Op, length: int, output: int, scale: float | None) -> Array:
    """Where the outputs lie in the input."""
    i = np.arange(output, dtype=np.float64)
    width = output if scale is None else float(np.float32(scale)) * length

    def unscaled(position: Array) -> Array:
        if scale is None:
            return position * length / output
        quotient = position / float(np.float32(scale))
        # A scale is a float32, mostly of a fraction that has none.
        rounded = quotient.astype(np.float32).astype(np.float64)
        return np.where(2 * rounded == np.floor(2 * rounded), rounded, quotient)

    coordinates = op.attr("coordinates")
    if coordinates == "ALIGN_CORNERS":
        return i * 0 if output == 1 else i * (length - 1) / (width - 1)
    if coordinates == "ASYMMETRIC":
        return unscaled(i)
    if coordinates == "HALF_PIXEL_FLOOR":
        return unscaled(i + 0.5)
    if coordinates == "PYTORCH_HALF_PIXEL" and output == 1:
        return i
    result = unscaled(i + 0.5) - 0.5
    if coordinates == "HALF_PIXEL_SYMMETRIC":
        result = result + length / 2 * (1 - output / width)
    return result


def _nearest(op: Op, position: Array, length: int) -> Array:
    rounding = op.attr("rounding")
    if rounding == "PREFER_FLOOR":
        rounded = np.ceil(position - 0.5)
    elif rounding == "PREFER_CEIL":
        rounded = np.floor(position + 0.5)
    else:
        rounded = np.floor(position) if rounding == "FLOOR" else np.ceil(position)
    return np.clip(rounded.astype(np.int64), 0, length - 1)


def _weights(op: Op, position: Array, length: int, narrow: float) -> Array:
    """[outputs, inputs]: what each input contributes."""
    cubic = op.attr("mode") == "CUBIC"
    reach = int(np.ceil((2 if cubic else 1) / narrow))
    low = np.floor(position).astype(np.int64)
    result = np.zeros((len(position), length))
    rows = np.arange(len(position))
    for offset in range(-reach, reach + 2):
        element = low + offset
        distance = np.abs(element - position) * narrow
        if cubic:
            weight = _cubic(distance, op.attr("cubic_coefficient"))
        else:
            weight = np.maximum(0, 1 - distance)
        inside = np.clip(element, 0, length - 1)
        if op.attr("exclude_outside"):
            weight = np.where(inside == element, weight, 0)
        np.add.at(result, (rows, inside), weight)
    if op.attr("antialias") or op.attr("exclude_outside"):
        result /= result.sum(1, keepdims=True)
    return result


def _cubic(d: Array, a: float) -> Array:
    """Keys' convolution kernel."""
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d < 1, near, np.where(d < 2, far, 0))

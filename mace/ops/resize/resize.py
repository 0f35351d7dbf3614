# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Resize, one matrix of weights per axis, and
GridSample.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dims import floor_divide, multiply
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import DataFormat, Op
from mace.python.tools.ir.op_rules import (
    NARROW_TYPES,
    WIDE_TYPES,
    Bounds,
    BoundsOf,
    OpRules,
    OutputType,
)
from mace.python.tools.ir.op_rules.axes import of_images
from mace.python.tools.ir.op_rules.images import (
    channel_axis,
    data_format,
    image_dims,
    image_shape,
    spatial_axes,
)
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_ops import requantized, scale_of, zero_of
from mace.python.tools.ir.shapes import (
    Dim,
    compatible,
    format_shape,
    to_channels_first,
    to_channels_last,
)

# The number 1 in the weights of quantized images.
_ONE = 1 << 11
# The largest denominator of a scale by which lengths below 2^16 are multiplied exactly.
_MOST_PARTS = 256


class Resize(OpRules):
    layout_inputs = (0,)

    def computes_in(
        self, attrs: Mapping[str, Any], port: int, dtype: DataType
    ) -> Sequence[DataType]:
        if attrs.get("mode") == "NEAREST":
            return WIDE_TYPES if dtype in NARROW_TYPES else ()
        # Of floats between integers, the whole part is taken.
        integers = dtype in (*NARROW_TYPES, DataType.INT32)
        return (DataType.FLOAT32,) if integers and port == 0 else ()

    def infer(self, op: Op) -> list[OutputType]:
        x, size = op.input(0), op.get_input(1)
        if size is not None and not compatible(size.shape, (2,)):
            raise ValueError(f"the size must be [2], not {format_shape(size.shape)}")
        _check_attributes(op)
        given: Sequence[int] | None = op.attr("size") or None
        if size is not None and size.is_constant:
            given = [int(v) for v in size.numpy()]
        if x.shape is None:
            return [OutputType(x.dtype, (None,) * 4)]
        n, hw, c = image_dims(op, x.shape)
        if x.dtype is DataType.INT32 and op.attr("mode") != "NEAREST":
            raise ValueError(f"mode {op.attr('mode')} does not take {x.dtype.value}")
        if given is not None:
            for i in range(2):
                _check_length(op, hw[i], given[i], i)
            return [OutputType(x.dtype, image_shape(op, n, given, c))]
        if size is not None:
            dims = (None, None) if size.dims is None else tuple(size.dims)
            return [OutputType(x.dtype, image_shape(op, n, dims, c))]
        scaled = [
            _scaled_size(dim, scale)
            if isinstance(dim, int)
            else _open_size(dim, float(scale))
            for dim, scale in zip(hw, op.attr("scales"))
        ]
        return [OutputType(x.dtype, image_shape(op, n, scaled, c))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [_images(op, inputs, _resized)]

    def keeps_scale(self, op: Op) -> bool:
        return bool(op.attr("mode") == "NEAREST")

    def bounds(self, op: Op, known: BoundsOf) -> Bounds | None:
        # Cubic weights may be below 0.
        return None if op.attr("mode") == "CUBIC" else known(op.input(0))

    def quantized_constants(
        self, op: Op, quantization: Quantization | None
    ) -> Mapping[int, tuple[Constant, Quantization]] | None:
        has_rule = op.attr("mode") != "CUBIC" and not op.attr("antialias")
        return {} if has_rule else None

    def evaluate_quantized(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        if op.attr("mode") == "NEAREST":
            return self.evaluate(op, inputs)
        x = np.asarray(inputs[0], np.int64) - zero_of(op.input(0))
        sums = _images(op, [x, *inputs[1:]], _resized_integers)
        ratio = scale_of(op.input(0)) / scale_of(op.output)
        return [requantized(op, sums, np.asarray(ratio / np.float32(_ONE * _ONE)))]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return of_images(axes)


def _images(
    op: Op,
    inputs: Sequence[Any],
    resized: Callable[[Op, Array, int, int, float | None], Array],
) -> Array:
    """Resizes input 0 by a function of the operator, an array, an axis, its new length
    and its scale.
    """
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
            output = _scaled_size(length, scale)
        x = resized(op, x, axis, output, scale)
    return x


def _check_attributes(op: Op) -> None:
    size, scales = op.attr("size"), op.attr("scales")
    if size and op.get_input(1) is not None:
        raise ValueError("has both an input and an attribute size")
    if not (size or scales or op.get_input(1) is not None):
        raise ValueError("has neither a size nor scales")
    for name, values in (("size", size), ("scales", scales)):
        if values and len(values) != 2:
            raise ValueError(f"{name} has {len(values)} values, not 2")
    if any(not 0 < scale < np.inf for scale in scales):
        raise ValueError(f"scales {list(scales)} are not all above 0")


def _check_length(op: Op, length: Dim, output: int, index: int) -> None:
    if not isinstance(length, int):
        return
    if output < 0 or (length == 0 and output > 0):
        raise ValueError(f"a length of {length} cannot become one of {output}")
    if op.attr("scales") and output > 0:
        scale = op.attr("scales")[index]
        if not output - 0.501 <= scale * length < output + 1:
            raise ValueError(f"{output} is not {length} times the scale {scale}")


def _scaled_size(size: int, scale: float) -> int:
    """The new length: in float32, as frameworks compute it."""
    return int(np.floor(np.float32(size) * np.float32(scale)))


def _open_size(dim: Dim, scale: float) -> Dim:
    parts = Fraction(scale)
    if parts.denominator > _MOST_PARTS:
        return None  # the product may be rounded
    return floor_divide(multiply(dim, parts.numerator), parts.denominator)


def _resized(op: Op, x: Array, axis: int, output: int, scale: float | None) -> Array:
    length = x.shape[axis]
    position = _positions(op, length, output, scale)
    if op.attr("mode") == "NEAREST":
        return np.asarray(np.take(x, _nearest(op, position, length), axis))
    narrow = 1.0
    if op.attr("antialias"):
        narrow = min(1.0, scale or output / length)
    weights = _weights(op, position, length, narrow)
    # Elements with weight 0 have no influence, not even Inf and NaN.
    moved = np.moveaxis(np.asarray(x, np.float64), axis, 0)
    rows = [
        np.tensordot(w[w != 0], moved[w != 0], 1) if moved.size else moved[:0]
        for w in weights
    ]
    return np.moveaxis(np.reshape(rows, (output, *moved.shape[1:])), 0, axis)


def _resized_integers(
    op: Op, x: Array, axis: int, output: int, scale: float | None
) -> Array:
    """Sums in integers, of weights whose sum is _ONE."""
    position = _positions(op, x.shape[axis], output, scale)
    weights = _weights(op, position, x.shape[axis], 1.0).astype(np.float32)
    integers = np.rint(weights.astype(np.float64) * _ONE).astype(np.int64)
    if integers.size:
        # What rounding lacks goes to the first of the largest.
        largest = (np.arange(output), integers.argmax(1))
        integers[largest] += _ONE - integers.sum(1)
    moved = np.moveaxis(x, axis, -1) @ integers.transpose()
    return np.asarray(np.moveaxis(moved, -1, axis))


def _positions(op: Op, length: int, output: int, scale: float | None) -> Array:
    """The positions of the outputs in the input."""
    i = np.arange(output, dtype=np.float64)

    def unscaled(position: Array) -> Array:
        if scale is None:
            return position * length / output
        quotient = position / float(np.float32(scale))
        # A scale is a float32, usually rounded from a fraction.
        rounded = quotient.astype(np.float32).astype(np.float64)
        return np.where(2 * rounded == np.floor(2 * rounded), rounded, quotient)

    coordinates = op.attr("coordinates")
    if coordinates == "ALIGN_CORNERS":
        return i * 0 if output == 1 else i * (length - 1) / (output - 1)
    if coordinates == "ASYMMETRIC":
        return unscaled(i)
    if coordinates == "HALF_PIXEL_FLOOR":
        return unscaled(i + 0.5)
    if coordinates == "PYTORCH_HALF_PIXEL" and output == 1:
        return i
    result = unscaled(i + 0.5) - 0.5
    if coordinates == "HALF_PIXEL_SYMMETRIC":
        # The width of the output before it was rounded down.
        width = output if scale is None else float(np.float32(scale)) * length
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
    """[outputs, inputs]: the weight of each input."""
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


class GridSample(OpRules):
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x, grid = op.input(0), op.input(1)
        rank = x.rank if x.rank is not None else grid.rank
        if rank is None:
            return [OutputType(x.dtype, None)]
        if rank not in (4, 5):
            raise ValueError(f"an image of {rank} dimensions; 4 and 5 are supported")
        if op.attr("mode") == "CUBIC" and rank != 4:
            raise ValueError("mode CUBIC takes images of 4 dimensions only")
        axis = channel_axis(op, rank)
        shape = x.shape or (None,) * rank
        batch = shape[0]
        if not compatible(grid.shape, (batch, *(None,) * (rank - 2), rank - 2)):
            raise ValueError(
                f"a grid of shape {format_shape(grid.shape)} does not fit an image of "
                f"shape {format_shape(x.shape)}"
            )
        places = grid.shape or (None,) * rank
        outer = [d for i, d in enumerate(shape) if i not in (0, axis)]
        if 0 in outer and 0 not in (batch, shape[axis], *places):
            raise ValueError("an image without pixels")
        result = [batch, *places[1:-1]]
        result.insert(axis, shape[axis])
        return [OutputType(x.dtype, tuple(result))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, grid = (np.asarray(array) for array in inputs)
        first = data_format(op) is DataFormat.NCHW
        if first:
            x = x.transpose(to_channels_last(x.ndim))
        y = _sampled(op, x, grid.astype(np.float32))
        return [y.transpose(to_channels_first(y.ndim)) if first else y]


def _sampled(op: Op, x: Array, grid: Array) -> Array:
    axes = grid.shape[-1]
    shape = (*grid.shape[:-1], x.shape[-1])
    result = np.zeros(shape)
    if not result.size:
        return result
    taps = [
        _taps(op, grid[..., axes - 1 - axis], x.shape[1 + axis]) for axis in range(axes)
    ]
    batch = np.arange(len(x)).reshape(-1, *[1] * axes)
    for chosen in itertools.product(*taps):
        inside = np.all([index >= 0 for index, _ in chosen], 0)
        weight = np.prod([w for _, w in chosen], 0)[..., None]
        places = (batch, *[np.maximum(index, 0) for index, _ in chosen])
        pixels = x[places]
        pixels = np.where(inside[..., None], pixels.astype(np.float64), 0)
        result += weight * pixels
    return result


def _taps(op: Op, place: Array, length: int) -> list[tuple[Array, Array]]:
    """Indices, -1 for those outside, and weights of each element along an axis."""
    mode, padding = op.attr("mode"), op.attr("padding")
    one, two = np.float32(1), np.float32(2)
    # In float32, because positions decide between elements.
    if op.attr("align_corners"):
        low, high = 0.0, length - 1.0
        position = (place + one) / two * np.float32(length - 1)
    else:
        low, high = -0.5, length - 0.5
        position = ((place + one) * np.float32(length) - one) / two
    if mode == "NEAREST":
        position = np.rint(position)
    if padding == "BORDER" and mode != "CUBIC":
        # As in PyTorch, a cubic curve goes on to the nearest elements.
        position = np.clip(position, 0, length - 1)
    elif padding == "REFLECTION":
        position = _reflected(position, low, high)
    position = np.where(np.isnan(position), -3 if padding == "ZEROS" else 0, position)
    # All further away is outside, too.
    position = np.clip(position, -3, length + 2)
    if mode == "NEAREST":
        return [(_index(padding, position, low, high, length), np.ones(place.shape))]
    base = np.floor(position)
    t = (position - base).astype(np.float64)
    if mode == "LINEAR":
        weights, start = [1 - t, t], 0
    else:
        weights, start = [_grid_cubic(abs(t - k)) for k in range(-1, 3)], -1
    return [
        (_index(padding, base + start + k, low, high, length), w)
        for k, w in enumerate(weights)
    ]


def _index(padding: str, index: Array, low: float, high: float, length: int) -> Array:
    if padding == "ZEROS":
        inside = (index >= 0) & (index < length)
        return np.where(inside, index, -1).astype(np.int64)
    if padding == "REFLECTION":
        index = np.trunc(_reflected(index, low, high))
    return np.clip(index, 0, length - 1).astype(np.int64)


def _reflected(position: Array, low: float, high: float) -> Array:
    width = np.float32(high - low)
    if not width:
        return np.zeros_like(position)
    low, high = np.float32(low), np.float32(high)
    below = position < low
    distance = np.where(below, low - position, position - high)
    rest = np.fmod(distance, width)
    even = np.fmod(np.trunc(distance / width), 2) == 0
    reflected = np.where(below == even, low + rest, high - rest)
    outside = below | (position > high)
    return np.asarray(np.where(outside, reflected, position))


def _grid_cubic(d: Array) -> Array:
    """Keys' convolution kernel."""
    a = -0.75
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, far)

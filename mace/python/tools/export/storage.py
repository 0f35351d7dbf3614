# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Floating point numbers in 16 bits."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mace.python.tools.export.packing import BLOCK, pack_o16, unpack_o16
from mace.python.tools.ir.constant import Integers
from mace.python.tools.ir.dtypes import Array, DataType


class Storage(str, enum.Enum):
    """Type that large weights are stored in; kernels widen it."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    # With a scale and an offset per output channel, see `quantize` below.
    INT8 = "int8"


# For smaller weights, less than a page of memory would be saved, and digits lost.
SMALLEST_HALF = 1024
# float16 has fewer digits below it, and from 2**-25 on none.
_LEAST_NORMAL_FLOAT16 = 2.0**-14


def fits(array: Array, storage: Storage) -> bool:
    """Whether that type keeps what is large in the array.

    Rounding to it must make no number infinite; bfloat16 has the exponent of float32,
    but rounding up the largest numbers overflows it too. In float16, the largest number
    must also have all its digits: then those that become 0 are below 2**-11 of it, as
    is what rounding changes it by.
    """
    # GPUs have the same rule for what they store in float16 (FitsHalf,
    # mace/ops/opencl_op/stored_elements.cc).
    if storage is Storage.FLOAT32:
        return True
    # Two passes over the array instead of a copy.
    largest = float(max(array.max(initial=0), -array.min(initial=0)))
    if not np.isfinite(largest):
        # 16-bit types can store infinities and NaN; a scale for them is meaningless.
        return storage is not Storage.INT8
    if storage is Storage.FLOAT16 and 0 < largest < _LEAST_NORMAL_FLOAT16:
        return False
    limits = {
        Storage.FLOAT16: 65520.0,  # rounds to infinity from here on
        Storage.BFLOAT16: 3.3961775e38,
        Storage.INT8: np.inf,
    }
    return largest < limits[storage]


def encode(array: Array, storage: Storage) -> Array:
    """float32 numbers as float32, float16 or bfloat16, rounded to nearest even.
    bfloat16 is returned as uint16.
    """
    single = np.asarray(array, np.float32)
    if storage is Storage.FLOAT32:
        return single
    if storage is Storage.FLOAT16:
        with np.errstate(over="ignore"):
            return single.astype(np.float16)
    bits = np.ascontiguousarray(single).view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    # A NaN whose upper bits are zero must not become an infinity.
    rounded = np.where(np.isnan(single), bits | np.uint32(0x400000), rounded)
    upper = (rounded >> np.uint32(16)).astype(np.uint16)
    return np.asarray(upper.reshape(single.shape))


def stored_type(dtype: DataType, storage: Storage) -> DataType:
    """The element type in the file."""
    return DataType(storage.value) if dtype is DataType.FLOAT32 else dtype


# Weights of 8 bits, with a scale and an offset per output channel.
#
# A channel's weights w become scale * q + offset, with integers q from -128 to 127,
# such that its lowest and highest weight are the ends of the range. One scale for a
# whole tensor, as is common, loses much more precision: over the layers of three
# trained networks (text detection, recognition and direction of PP-OCR) the noise
# was 6 to 12 dB stronger on average and up to 23 dB stronger in the worst layer.
# Without the offset it was 1 to 2 dB stronger on average, and up to 4 dB. Smaller
# ranges, which clip the largest weights, were never better.
#
# Weights that a model has in 8 bits already, with one scale and zero point for each
# output at most, keep their integers.
#
# PACKED_O16_SCALED: [groups][ceil(O / groups / 16)] blocks, each of float32
# [2][16], scales and offsets, and then int8 [K][16].


# For smaller tensors, less than a page of memory would be saved. If a channel has few
# weights, its scale and offset (8 bytes) take much of what is saved.
SMALLEST = 1024
SMALLEST_CHANNEL = 32
# Products of scales and zero points are rounded to float32, which is seven digits.
EXACT_DB = 120.0


@dataclass
class Noise:
    """The rounding error of storing a tensor in 8 bits: sums of squares."""

    signal: float = 0.0
    noise: float = 0.0

    def add(self, exact: Array, stored: Array) -> None:
        """Counts a part of the tensor."""
        whole = exact.astype(np.float64)
        self.signal += float(np.square(whole).sum())
        self.noise += float(np.square(whole - stored).sum())

    @property
    def sqnr_db(self) -> float:
        """Signal to quantization noise ratio in decibels."""
        if self.noise == 0.0:
            return math.inf
        return 10 * math.log10(max(self.signal, 1e-300) / self.noise)


@dataclass(frozen=True)
class StoredInEightBits:
    """All weights of a model that are stored in 8 bits.

    Attributes:
        tensors: how many they are.
        float_bytes: their size in float32.
        stored_bytes: their size in the data file.
        worst: name of the tensor with the strongest noise.
        worst_sqnr_db: its signal to quantization noise ratio.
    """

    tensors: int
    float_bytes: int
    stored_bytes: int
    worst: str
    worst_sqnr_db: float

    def summary(self) -> str:
        """One line for people."""
        return (
            f"{self.tensors} tensors of weights stored in 8 bits, "
            f"{_size(self.float_bytes)} of float32 in "
            f"{_size(self.stored_bytes)}; {self._loss()}"
        )

    def _loss(self) -> str:
        if self.worst_sqnr_db > EXACT_DB:
            return "the model's own"
        return (
            f"least signal to quantization noise ratio {self.worst_sqnr_db:.1f} dB, "
            f"of {self.worst}"
        )


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


def is_large(shape: Sequence[int]) -> bool:
    """Whether weights of shape [O, ...] are worth storing in 8 bits."""
    size = math.prod(shape)
    return size >= SMALLEST and size >= SMALLEST_CHANNEL * shape[0]


def quantize(rows: Array) -> tuple[Array, Array]:
    """Rounds finite weights to 8 bits.

    Args:
        rows: [O, K] of float32, K at least 1.

    Returns:
        float32 [2, O], scales and offsets, and int8 [O, K].
    """
    low = rows.min(axis=1).astype(np.float64)
    high = rows.max(axis=1).astype(np.float64)
    scales = ((high - low) / 255.0).astype(np.float32)
    offsets = (low + 128.0 * scales.astype(np.float64)).astype(np.float32)
    # A channel of equal weights is its offset.
    divisors = np.where(scales > 0, scales, np.float32(1))
    steps = np.rint((rows - offsets[:, None].astype(np.float64)) / divisors[:, None])
    steps[scales == 0] = 0
    q = np.clip(steps, -128, 127).astype(np.int8)
    return np.stack([scales, offsets]), q


def dequantize(scaling: Array, q: Array) -> Array:
    """The weights [O, K] from the result of `quantize`, as kernels compute them."""
    scales, offsets = scaling[:, :, None].astype(np.float64)
    return np.asarray((scales * q + offsets).astype(np.float32))


def quantized_rows(integers: Integers) -> tuple[Array, Array] | None:
    """What the weights [O, ...] of a model of 8-bit weights are stored as, as they are.

    Args:
        integers: that the model has in their place, of 8 bits.

    Returns:
        What `quantize` does, with the model's own integers and scales; None if an
        output has several scales or zero points.
    """
    kinds = (DataType.INT8, DataType.UINT8)
    if integers.simulated or integers.numbers.dtype not in kinds:
        return None
    outputs = integers.numbers.shape[0]
    scales, zeros = (
        part.numpy().reshape(outputs, -1) for part in (integers.scale, integers.zero)
    )
    if scales.size == 0 or not np.isfinite(scales[:, 0]).all():
        return None
    if (scales != scales[:, :1]).any() or (zeros != zeros[:, :1]).any():
        return None
    numbers, offset = integers.numbers.numpy().reshape(outputs, -1), 0
    if integers.numbers.dtype is DataType.UINT8:
        numbers, offset = (numbers ^ np.uint8(0x80)).view(np.int8), 128
    scale = scales[:, 0].astype(np.float32)
    zero = zeros[:, 0].astype(np.float64) - offset
    offsets = (-zero * scale.astype(np.float64)).astype(np.float32)
    # A zero point of 0 is an offset of 0, not of -0.
    return np.stack([scale, offsets + np.float32(0)]), numbers


def pack_o16_scaled(
    filters: Array,
    groups: int,
    noise: Noise,
    given: tuple[Array, Array] | None = None,
) -> Iterator[Array]:
    """Packs a filter, one block of output channels at a time.

    Args:
        filters: float32 [O, ...], finite, O a multiple of `groups`.
        groups: of the convolution.
        noise: what is lost is added to it.
        given: what it becomes, as of `quantize`; None: that is computed.

    Yields:
        By turns float32 [2, 16] and int8 [K, 16]; zeros for channels beyond
        the last.
    """
    outs = filters.shape[0] // groups
    rows = filters.reshape(groups, outs, -1)
    for group in range(groups):
        for start in range(0, outs, BLOCK):
            part = rows[group, start : start + BLOCK]
            if given is None:
                scaling, q = quantize(part)
            else:
                first = group * outs + start
                scaling, q = (
                    given[0][:, first : first + len(part)],
                    given[1][first : first + len(part)],
                )
            noise.add(part, dequantize(scaling, q))
            padded = np.zeros((2, BLOCK), np.float32)
            padded[:, : len(part)] = scaling
            yield padded
            yield from pack_o16(q)


def unpack_o16_scaled(packed: bytes, dims: tuple[int, ...], groups: int = 1) -> Array:
    """The filter with logical shape `dims`, float32, from its bytes."""
    depth = math.prod(dims[1:])
    block = np.dtype([("scaling", "<f4", (2, BLOCK)), ("q", "i1", (depth, BLOCK))])
    blocks = np.frombuffer(packed, block)
    scales, offsets = blocks["scaling"].astype(np.float64).transpose(1, 0, 2)
    weights = scales[:, None] * blocks["q"] + offsets[:, None]
    return unpack_o16(
        weights.astype(np.float32).reshape(groups, -1, depth, BLOCK), dims, groups
    )

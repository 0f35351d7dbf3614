# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Constants in blocks of 16 output channels or columns.

PACKED_O16: from logical [O, ...] with K elements per output channel to
[groups][ceil(O / groups / 16)][K][16], zeros in the padding.

PACKED_O16_PAIRS: the last of the dimensions is padded to an even number first;
then [groups][ceil(O / groups / 16)][K / 2][16][2].

PACKED_N16_FOURS: from matrices of 8-bit integers [..., K, N] to int8
[...][ceil(N / 16)][ceil(K / 4)][16][4] and int32 [...][ceil(N / 16)][16], the sums of
the columns. uint8 is stored minus 128; zeros in the padding.

PACKED_O16_FOURS: from int8 [O, ...] whose last dimension is a multiple of 4 to
[groups][ceil(O / groups / 16)][K / 4][16][4], zeros in the padding.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator

import numpy as np

from mace.python.tools.ir.constant import Rows
from mace.python.tools.ir.dtypes import Array, DataType

BLOCK = 16
FOUR = 4


class Layout(enum.Enum):
    """The layout of a constant in the data file (mace.proto, ConstantLayout)."""

    PLAIN = 0
    PACKED_O16 = 1
    PACKED_O16_PAIRS = 2
    PACKED_O16_SCALED = 3  # storage.py
    PACKED_N16_FOURS = 4
    PACKED_O16_FOURS = 5


def pack_o16(filters: Array, groups: int = 1) -> Iterator[Array]:
    """Packs a filter, one block of output channels at a time.

    Args:
        filters: [O, ...], O a multiple of `groups`.
        groups: of the convolution.

    Yields:
        [K, 16], contiguous, of the same element type: the blocks in the order
        in which they lie in the file. A filter may have hundreds of
        megabytes, so there is never a packed copy of all of it.
    """
    return pack_rows_o16(lambda a, b: filters[a:b], filters.shape[0], groups)


def pack_rows_o16(rows: Rows, outs: int, groups: int = 1) -> Iterator[Array]:
    """As `pack_o16`, of a filter that is read in ranges of its `outs` output channels,
    so that there need not be a transposed copy of all of it either.
    """
    each = outs // groups
    for group in range(0, outs, max(each, 1)):
        for start in range(group, group + each, BLOCK):
            part = rows(start, min(start + BLOCK, group + each))
            block = np.empty((*part.shape[1:], BLOCK), part.dtype)
            # One copy transposes the filter and packs it.
            block[..., : len(part)] = np.moveaxis(part, 0, -1)
            block[..., len(part) :] = 0
            yield block.reshape(-1, BLOCK)


def unpack_o16(packed: Array, dims: tuple[int, ...], groups: int = 1) -> Array:
    """The filter that `pack_o16` packed, with logical shape `dims`.

    Args:
        packed: [groups, blocks, K, 16].
        dims: [O, ...].
        groups: of the convolution.
    """
    outs = dims[0] // groups
    blocks, depth = packed.shape[1:3]
    rows = packed.transpose(0, 1, 3, 2).reshape(groups, blocks * BLOCK, depth)
    return np.asarray(rows[:, :outs].reshape(dims))


def pack_o16_pairs(filters: Array, groups: int = 1) -> Iterator[Array]:
    """As `pack_o16`; yields [K / 2, 16, 2]."""
    padding = [(0, 0)] * (filters.ndim - 1) + [(0, filters.shape[-1] % 2)]
    if filters.shape[-1] % 2:
        filters = np.pad(filters, padding)
    for block in pack_o16(filters, groups):
        pairs = block.reshape(-1, 2, BLOCK).transpose(0, 2, 1)
        yield np.ascontiguousarray(pairs)


def unpack_o16_pairs(packed: Array, dims: tuple[int, ...], groups: int = 1) -> Array:
    """The filter that `pack_o16_pairs` packed, with logical shape `dims`.

    Args:
        packed: [groups, blocks, K / 2, 16, 2].
        dims: [O, ...].
        groups: of the convolution.
    """
    blocks = packed.shape[1]
    single = packed.transpose(0, 1, 2, 4, 3).reshape(groups, blocks, -1, BLOCK)
    padded = (*dims[:-1], dims[-1] + dims[-1] % 2)
    return unpack_o16(single, padded, groups)[..., : dims[-1]]


def pack_o16_fours(filters: Array, groups: int = 1) -> Iterator[Array]:
    """As `pack_o16`, of int8; yields [K / 4, 16, 4]."""
    for block in pack_o16(filters, groups):
        fours = block.reshape(-1, FOUR, BLOCK).transpose(0, 2, 1)
        yield np.ascontiguousarray(fours)


def unpack_o16_fours(packed: Array, dims: tuple[int, ...], groups: int = 1) -> Array:
    """The filter that `pack_o16_fours` packed, with logical shape `dims`.

    Args:
        packed: [groups, blocks, K / 4, 16, 4].
        dims: [O, ...].
        groups: of the convolution.
    """
    blocks = packed.shape[1]
    single = packed.transpose(0, 1, 2, 4, 3).reshape(groups, blocks, -1, BLOCK)
    return unpack_o16(single, dims, groups)


def pack_n16_fours(matrices: Array) -> Iterator[Array]:
    """Packs matrices of 8-bit integers, one block of columns at a time.

    Args:
        matrices: int8 or uint8 [..., K, N], not empty.

    Yields:
        int8 [ceil(K / 4), 16, 4], contiguous, for the blocks in the order in which
        they lie in the file; then their sums, int32 [16] each.
    """
    depth, columns = matrices.shape[-2:]
    sums = []
    for matrix in matrices.reshape(-1, depth, columns):
        for start in range(0, columns, BLOCK):
            part = matrix[:, start : start + BLOCK]
            block = np.zeros((-(-depth // FOUR) * FOUR, BLOCK), np.int8)
            block[:depth, : part.shape[1]] = _signed(part)
            sums.append(block.sum(axis=0, dtype=np.int64).astype(np.int32))
            fours = block.reshape(-1, FOUR, BLOCK).transpose(0, 2, 1)
            yield np.ascontiguousarray(fours)
    yield from sums


def unpack_n16_fours(packed: bytes, dims: tuple[int, ...], dtype: DataType) -> Array:
    """The matrices that `pack_n16_fours` packed.

    Args:
        packed: what it yielded.
        dims: [..., K, N].
        dtype: INT8 or UINT8.
    """
    depth, columns = dims[-2:]
    blocks, fours = -(-columns // BLOCK), -(-depth // FOUR)
    count = math.prod(dims[:-2]) * blocks * fours * BLOCK * FOUR
    flat = np.frombuffer(packed, np.int8, count)
    rows = flat.reshape(-1, blocks, fours, BLOCK, FOUR).transpose(0, 2, 4, 1, 3)
    whole = rows.reshape(-1, fours * FOUR, blocks * BLOCK)[:, :depth, :columns]
    if dtype is DataType.UINT8:
        whole = whole.view(np.uint8) ^ np.uint8(0x80)
    return np.asarray(whole.reshape(dims))


def _signed(matrix: Array) -> Array:
    if matrix.dtype == np.int8:
        return matrix
    return np.asarray(matrix ^ np.uint8(0x80)).view(np.int8)

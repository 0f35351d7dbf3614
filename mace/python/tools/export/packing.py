# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Filters in blocks of 16 output channels.

PACKED_O16: from logical [O, ...] with K elements per output channel to
[groups][ceil(O / groups / 16)][K][16], zeros in the padding.

PACKED_O16_PAIRS: the last of the dimensions is padded to an even number first;
then [groups][ceil(O / groups / 16)][K / 2][16][2].
"""

from __future__ import annotations

import enum
from collections.abc import Iterator

import numpy as np

from mace.python.tools.ir.dtypes import Array

BLOCK = 16


class Layout(enum.Enum):
    """The layout of a constant in the data file (mace.proto, ConstantLayout)."""

    PLAIN = 0
    PACKED_O16 = 1
    PACKED_O16_PAIRS = 2
    PACKED_O16_SCALED = 3  # eight_bit.py


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
    outs = filters.shape[0] // groups
    rows = filters.reshape(groups, outs, -1)
    for group in range(groups):
        for start in range(0, outs, BLOCK):
            part = rows[group, start : start + BLOCK]
            block = np.zeros((part.shape[1], BLOCK), filters.dtype)
            block[:, : part.shape[0]] = part.T
            yield block


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

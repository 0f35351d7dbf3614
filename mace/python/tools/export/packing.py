# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""PACKED_O16: filters in blocks of 16 output channels.

From logical [O, ...] with K elements per output channel to
[groups][ceil(O / groups / 16)][K][16], zeros in the padding.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir.dtypes import Array

BLOCK = 16


def pack_o16(filters: Array, groups: int = 1) -> Array:
    """Packs a filter.

    Args:
        filters: [O, ...], O a multiple of `groups`.
        groups: of the convolution.

    Returns:
        [groups, blocks, K, 16], contiguous, of the same element type.
    """
    outs = filters.shape[0] // groups
    depth = int(np.prod(filters.shape[1:], dtype=np.int64))
    blocks = -(-outs // BLOCK)
    packed = np.zeros((groups, blocks, depth, BLOCK), filters.dtype)
    rows = filters.reshape(groups, outs, depth)
    # Per block, so that no second copy of the whole filter is made.
    for group in range(groups):
        for block in range(blocks):
            part = rows[group, block * BLOCK : (block + 1) * BLOCK]
            packed[group, block, :, : part.shape[0]] = part.T
    return packed


def unpack_o16(packed: Array, dims: tuple[int, ...], groups: int = 1) -> Array:
    """The filter that `pack_o16` packed, with logical shape `dims`."""
    outs = dims[0] // groups
    blocks, depth = packed.shape[1:3]
    rows = packed.transpose(0, 1, 3, 2).reshape(groups, blocks * BLOCK, depth)
    return np.asarray(rows[:, :outs].reshape(dims))

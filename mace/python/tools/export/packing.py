# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""PACKED_O16: filters in blocks of 16 output channels.

From logical [O, ...] with K elements per output channel to
[groups][ceil(O / groups / 16)][K][16], zeros in the padding.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mace.python.tools.ir.dtypes import Array

BLOCK = 16


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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Channels first and channels last: the permutations between the two.

Entry i of a permutation is the axis that becomes axis i, as in NumPy's transpose.
"""

from __future__ import annotations


def to_channels_last(rank: int) -> tuple[int, ...]:
    """Moves axis 1, the channels, to the end."""
    return (0, *range(2, rank), 1)


def to_channels_first(rank: int) -> tuple[int, ...]:
    """Moves the last axis, the channels, after the batch."""
    return (0, rank - 1, *range(1, rank - 1))


NCHW_TO_NHWC = to_channels_last(4)
NHWC_TO_NCHW = to_channels_first(4)

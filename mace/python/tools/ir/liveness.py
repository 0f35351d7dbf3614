# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How much memory tensors take while operators run one after the other."""

from __future__ import annotations

import itertools
from collections.abc import Iterable


def live_bytes(steps: int, tensors: Iterable[tuple[int, int, int]]) -> tuple[int, ...]:
    """Bytes of the tensors that exist during each step.

    Args:
        tensors: of each the first and the last step in which it exists, and its size
            in bytes.
    """
    change = [0] * (steps + 1)
    for first, last, size in tensors:
        change[first] += size
        change[last + 1] -= size
    return tuple(itertools.accumulate(change))[:steps]

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of int32 that may stand for integers of 64 bits."""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op

_LIMITS = np.iinfo(np.int32)


def int32_of(op: Op, exact: Array) -> Array:
    """The results of an operator whose integers wrap around, unless they are `wide`.

    Args:
        op: with the attribute `wide`.
        exact: its results, in more bits.

    Raises:
        OverflowError: int32 cannot hold a result that stands for 64 bits.
    """
    exact = np.asarray(exact)
    if exact.size == 0:
        return exact.astype(np.int32)
    low, high = exact.min(), exact.max()
    if low >= _LIMITS.min and high <= _LIMITS.max:
        return exact.astype(np.int32)
    if op.attr("wide"):
        raise OverflowError(f"{op.type} {op.name!r}: a result exceeds 32 bits")
    return (exact & 0xFFFFFFFF).astype(np.uint32).astype(np.int32)

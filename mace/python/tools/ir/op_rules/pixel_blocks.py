# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Blocks of pixels that become channels, and back."""

from __future__ import annotations

from collections.abc import Sequence

from mace.python.tools.ir.dims import floor_divide, multiply
from mace.python.tools.ir.shapes import Dim


def multiplied_dims(dims: Sequence[Dim], factor: int) -> list[Dim]:
    """Each dimension times `factor`, as far as known."""
    return [multiply(dim, factor) for dim in dims]


def divided_dim(dim: Dim, divisor: int, what: str) -> Dim:
    """A dimension divided by `divisor`.

    Raises:
        ValueError: it is no multiple; calls the dimension `what`.
    """
    if isinstance(dim, int) and dim % divisor:
        raise ValueError(f"{dim} {what} are not divisible by {divisor}")
    return floor_divide(dim, divisor)

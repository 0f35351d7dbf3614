# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Times and sizes in units in which they have digits that count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# Below these, a smaller unit is used.
_LEAST_MS = 0.1
_LEAST_MB = 0.1


class Unit(NamedTuple):
    """A unit, and how many of it are a millisecond or a byte."""

    name: str
    factor: float


def time_unit(times_ms: Iterable[float]) -> Unit:
    """One unit for all times of a picture."""
    if max(times_ms, default=0.0) < _LEAST_MS:
        return Unit("\u00b5s", 1e3)
    return Unit("ms", 1.0)


def size_unit(sizes: Iterable[float]) -> Unit:
    """One unit for all numbers of bytes of a picture."""
    if max(sizes, default=0.0) < _LEAST_MB * 1e6:
        return Unit("kB", 1e-3)
    return Unit("MB", 1e-6)


def time_text(time_ms: float) -> str:
    """A measured time: it has no more than four significant digits."""
    unit = time_unit((time_ms,))
    digits = 1 if unit.factor > 1 or time_ms >= 10 else 3
    return f"{unit.factor * time_ms:.{digits}f} {unit.name}"


def size_text(size: float) -> str:
    """A number of bytes."""
    unit = size_unit((size,))
    digits = 2 if unit.name == "MB" else 1
    return f"{unit.factor * size:.{digits}f} {unit.name}"

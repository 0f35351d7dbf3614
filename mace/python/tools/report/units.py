# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures and names of results, as people read them."""

from __future__ import annotations

import itertools
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


# What separates the parts of a name in the frameworks' models.
_SEPARATORS = "/:._"
# A shorter prefix stays: leaving it out would save less than the ellipsis takes.
_FEWEST = 4


def common_prefix(names: Iterable[str]) -> str:
    """The longest beginning of all names that ends after a separator; '' if there is no
    long one, or only one name.
    """
    several = set(names)
    if len(several) < 2:
        return ""
    # What the first and the last in order of characters share, all share.
    first, last = min(several), max(several)
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, last))
    prefix = first[: sum(1 for _ in same)]
    end = 1 + max(prefix.rfind(separator) for separator in _SEPARATORS)
    return prefix[:end] if end >= _FEWEST else ""


def elided(name: str, prefix: str = "", most: int = 40) -> str:
    """A name without the prefix, and without its beginning if it is longer than `most`:
    layers differ in the ends of their names. It is cut after a separator, if there is
    one, and not inside a word.
    """
    rest = name.removeprefix(prefix) if prefix else name
    if len(rest) <= most:
        return rest if rest == name else f"\u2026{rest}"
    end = rest[-most + 1 :]
    # If only the separator at its very end is left, the name is cut in a word.
    cut = next((i + 1 for i, sign in enumerate(end[:-1]) if sign in _SEPARATORS), 0)
    whole = rest[-most] in _SEPARATORS
    return f"\u2026{end if whole else end[cut:]}"

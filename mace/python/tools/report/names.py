# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Short forms of long names: the whole name is shown when one points at it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

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

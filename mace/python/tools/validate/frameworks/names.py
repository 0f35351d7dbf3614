# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Suggests tensor names that are similar to a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def near_names(name: str, known: Iterable[str]) -> str:
    """ "'prob' (near: 'probs', 'prob_1')"; just the name if none is near."""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    if not near:
        return repr(name)
    return f"{name!r} (near: {', '.join(map(repr, near))})"

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Transposes that move behind an operator: what several operators answer."""

from __future__ import annotations

from collections.abc import Sequence

from mace.python.tools.ir.node import Op
from mace.python.tools.ir.op_rules.base import Perm, SunkTranspose


def sink_along_axis(op: Op, perm: Perm) -> SunkTranspose:
    """The operator has the attribute `axis`, and treats all others alike."""
    return SunkTranspose(perm, {"axis": perm[op.attr("axis")]})


def without_axes(perm: Perm, gone: Sequence[int]) -> Perm:
    """The permutation of the axes that are left, numbered anew."""
    dropped = {axis % len(perm) for axis in gone}
    kept = [source for axis, source in enumerate(perm) if axis not in dropped]
    return tuple(sorted(kept).index(source) for source in kept)

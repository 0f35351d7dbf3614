# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Transposes that move behind an operator: rules that several operators share."""

from __future__ import annotations

from collections.abc import Sequence

from mace.python.tools.ir.node import Op
from mace.python.tools.ir.op_rules.base import Perm, SunkTranspose


def sink_along_axis(op: Op, perm: Perm) -> SunkTranspose:
    """For operators with an attribute `axis` that treat all other axes alike."""
    return SunkTranspose(perm, {"axis": perm[op.attr("axis")]})


def without_axes(perm: Perm, gone: Sequence[int]) -> Perm:
    """The permutation of the remaining axes, renumbered."""
    dropped = {axis % len(perm) for axis in gone}
    kept = [source for axis, source in enumerate(perm) if axis not in dropped]
    return tuple(sorted(kept).index(source) for source in kept)

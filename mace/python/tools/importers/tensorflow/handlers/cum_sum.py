# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Cumsum."""

from __future__ import annotations

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.tensorflow.context import HANDLERS, Context


@HANDLERS.register("Cumsum")
def cum_sum(context: Context) -> None:
    """tf.cumsum."""
    axis = context.ints(1, "axis")
    if len(axis) != 1:
        raise UnsupportedNodeError(f"axis has {len(axis)} elements, not 1")
    context.emit(
        "CumSum",
        [context.input(0)],
        axis=axis[0],
        exclusive=context.node.flag("exclusive"),
        reverse=context.node.flag("reverse"),
    )

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements selected by a condition or an index."""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context


@HANDLERS.register("SelectV2")
def select_v2(context: Context) -> None:
    """tf.where with three arguments, which broadcast."""
    context.emit("Where", [context.input(i) for i in range(3)])


@HANDLERS.register("Select")
def select(context: Context) -> None:
    """Like SelectV2, but a vector selects along the first axis."""
    condition = context.input(0)
    rank = context.rank(1)
    if context.rank(0) == 1 and rank > 1:
        axes = list(range(1, rank))
        condition = context.step("ExpandDims", [condition], "rows", axes=axes)
    context.emit("Where", [condition, context.input(1), context.input(2)])


@HANDLERS.register("OneHot")
def one_hot(context: Context) -> None:
    """Indices outside of the depth give no 1."""
    depth = context.ints(1, "depth")
    if len(depth) != 1:
        raise UnsupportedNodeError(f"depth has {len(depth)} elements, not 1")
    values = context.step("Stack", [context.input(3), context.input(2)], "values")
    context.emit(
        "OneHot",
        [context.input(0), values],
        depth=depth[0],
        axis=context.node.integer("axis", -1),
    )

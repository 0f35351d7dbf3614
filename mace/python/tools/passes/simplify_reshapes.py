# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Merges consecutive operators that only change the shape.

This includes a Transpose that moves no element because the axes it moves have length
1. The pass comes last, because a Transpose can still cancel another one, but a
Reshape cannot.
"""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.reshapes import reshape_attribute
from mace.python.tools.passes.base import Pass


class SimplifyReshapes(Pass):
    """Reshape of Reshape, Squeeze, ExpandDims, trivial Transpose to Reshape."""

    name = "simplify_reshapes"
    requires = ("fold_flatten", "global_pooling")

    def run(self, graph: Graph) -> int:
        return sum(_turn(graph, op) or _join(op) for op in graph.ops)


def _turn(graph: Graph, op: Op) -> bool:
    """A Transpose that moves no element becomes a Reshape."""
    if op.type != "Transpose" or op.input(0).shape is None:
        return False
    shape = op.input(0).shape
    assert shape is not None
    moved = [axis for axis in op.attr("perm") if shape[axis] != 1]
    if moved != sorted(moved):
        return False
    wanted = reshape_attribute(op.input(0).shape, op.output.shape or ())
    if wanted is None:
        return False
    graph.replace_op(op, "Reshape", [op.input(0)], {"shape": wanted})
    return True


def _join(op: Op) -> bool:
    """Reads the input of the previous reshape, if one Reshape can do both."""
    if not rules_of(op.type).only_reshapes or op.get_input(1) is not None:
        return False
    before = op.input(0).producer
    if before is None or not rules_of(before.type).only_reshapes:
        return False
    source = before.input(0)
    wanted = reshape_attribute(source.shape, op.output.shape or ())
    if op.output.shape is None or wanted is None:
        return False
    op.type = "Reshape"
    op.attrs.clear()
    op.set_attr("shape", wanted)
    op.set_inputs([source])
    return True

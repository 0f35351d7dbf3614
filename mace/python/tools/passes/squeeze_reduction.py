# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fuses the removal of reduced axes into the reduction.

Reduce [N, 1, 1, C] > Reshape or Squeeze [N, C]
"""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op
from mace.python.tools.ir.shapes import normalize_axis, same_shape
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import only_reader


class SqueezeReduction(Pass):
    """Converts a Reduce with keep_dims and the removal of its axes to one Reduce."""

    name = "squeeze_reduction"
    requires = ("simplify_reshapes",)
    floats_only = True

    def run(self, graph: Graph) -> int:
        return sum(_rewrite(graph, op) for op in graph.ops if op.type == "Reduce")


def _rewrite(graph: Graph, op: Op) -> bool:
    shape = op.output.shape
    reader = only_reader(graph, op.output)
    if shape is None or reader is None or not op.attr("keep_dims"):
        return False
    if reader.type not in ("Reshape", "Squeeze") or reader.get_input(1) is not None:
        return False
    rank = len(shape)
    axes = {normalize_axis(axis, rank) for axis in op.attr("axes")}
    kept = tuple(dim for axis, dim in enumerate(shape) if axis not in axes)
    if not axes or not same_shape(kept, reader.output.shape):
        return False
    op.set_attr("keep_dims", False)
    graph.merge_into(op, reader)
    return True

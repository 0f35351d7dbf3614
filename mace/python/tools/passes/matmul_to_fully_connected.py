# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns a product with a constant matrix into a FullyConnected."""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op
from mace.python.tools.passes.base import Pass


class MatMulToFullyConnected(Pass):
    """MatMul by a constant to FullyConnected, whose weights are packed."""

    name = "matmul_to_fully_connected"
    requires = ("fold_constants",)

    def run(self, graph: Graph) -> int:
        return sum(_rewrite(graph, op) for op in graph.ops if op.type == "MatMul")


def _rewrite(graph: Graph, op: Op) -> bool:
    constant = op.input(1).constant
    if constant is None or len(constant.shape) != 2 or op.input(0).is_constant:
        return False
    if op.attr("transpose_a") or 0 in constant.shape:
        return False
    if 0 in constant.shape:
        return False  # A MatMul makes zeros of it; there is nothing to pack.
    if op.attr("transpose_b"):
        weights = op.input(1)
    else:
        shape = (constant.shape[1], constant.shape[0])
        turned = constant.moved(lambda w: w.T, shape)
        weights = graph.add_constant(f"{op.input(1).name}/transposed", turned)
    graph.replace_op(op, "FullyConnected", [op.input(0), weights])
    return True

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fuses the transpose of a matrix product's second matrix into the product.

Kernels pack the second matrix anyway, in either order. They would have to transpose
the first matrix, so fusing its transpose would gain nothing.
"""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import only_reader

_PORT = 1


class TransposeIntoMatmul(Pass):
    """Converts a Transpose of the last two axes, followed by MatMul, to one MatMul. If
    a Transpose moves more axes, as for the keys of attention, a Transpose of the other
    axes remains, which moves whole rows.
    """

    name = "transpose_into_matmul"
    requires = ("sink_transposes",)

    def run(self, graph: Graph) -> int:
        return sum(_rewrite(graph, op) for op in graph.ops if op.type == "MatMul")


def _rewrite(graph: Graph, op: Op) -> bool:
    value = op.input(_PORT)
    turn = value.producer
    if turn is None or turn.type != "Transpose" or only_reader(graph, value) is not op:
        return False
    perm = tuple(turn.attr("perm"))
    rank = len(perm)
    if rank < 2 or perm[-2] != rank - 1:
        return False
    rest = (*perm[:-2], perm[-1], perm[-2])
    matrices = turn.input(0)
    if rest != tuple(range(rank)):
        shape = (
            None if value.shape is None else (*value.shape[:-2], *value.shape[:-3:-1])
        )
        name = graph.unique_name(f"{value.name}/rows")
        moved = graph.add_value(name, value.dtype, shape)
        graph.add_op("Transpose", [matrices], [moved], {"perm": rest}, name)
        matrices = moved
    op.set_input(_PORT, matrices)
    op.set_attr("transpose_b", not op.attr("transpose_b"))
    return True

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces powers with small integer exponents by products.

x ^ 2, x * x    > SQUARE x
x ^ 3           > x * SQUARE x

A power takes 20 times as long, and passes that recognise groups of operators then have
to know only one form.
"""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import eltwise, scalar


class SimplifyPowers(Pass):
    """Eltwise POW by 2 and 3, and MUL of a value by itself."""

    name = "simplify_powers"
    requires = ("fold_constants",)

    def run(self, graph: Graph) -> int:
        return sum(_rewrite(graph, op) for op in graph.ops if op.type == "Eltwise")


def _rewrite(graph: Graph, op: Op) -> bool:
    if eltwise(op.output, op.attr("mode")) is not op:
        return False
    x, other = op.input(0), op.get_input(1)
    # Integers of 64 bits do not exceed int32 in silence.
    wide = {"wide": True} if op.attr("wide") else {}
    if op.attr("mode") == "MUL" and other is x:
        graph.replace_op(op, "Eltwise", [x], {"mode": "SQUARE", **wide})
        return True
    exponent = scalar(other) if op.attr("mode") == "POW" else None
    # A constant of higher rank would raise the rank of the result.
    if exponent not in (2.0, 3.0) or x.rank != op.output.rank:
        return False
    if exponent == 2.0:
        graph.replace_op(op, "Eltwise", [x], {"mode": "SQUARE", **wide})
        return True
    name = graph.unique_name(f"{op.output.name}/square")
    square = graph.add_value(name, x.dtype, x.shape)
    graph.add_op("Eltwise", [x], [square], {"mode": "SQUARE", **wide})
    graph.replace_op(op, "Eltwise", [square, x], {"mode": "MUL", **wide})
    return True

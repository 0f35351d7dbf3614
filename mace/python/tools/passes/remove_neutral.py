# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Removes arithmetic with a constant that changes nothing.

x * 1, x / 1, x ^ 1, x + 0, x - 0       > x

Frameworks write them for parameters that are rarely set, such as the factor in
Keras' x * sigmoid(beta * x); passes that recognise groups of operators need not know
them then.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.shapes import same_shape
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import has_activation

_NEUTRAL = {"MUL": 1, "DIV": 1, "POW": 1, "ADD": 0, "SUB": 0}
_COMMUTATIVE = ("MUL", "ADD")


class RemoveNeutral(Pass):
    """Eltwise with ones or zeros."""

    name = "remove_neutral"
    requires = ("fold_constants",)

    def run(self, graph: Graph) -> int:
        return sum(_remove(graph, op) for op in graph.ops if op.type == "Eltwise")


def _remove(graph: Graph, op: Op) -> bool:
    mode, second = op.attr("mode"), op.get_input(1)
    if mode not in _NEUTRAL or second is None or has_activation(op):
        return False
    operands = [(op.input(0), second)]
    if mode in _COMMUTATIVE:
        operands.append((second, op.input(0)))
    for x, other in operands:
        if _holds_only(other, _NEUTRAL[mode]) and not _widens(x, other, op.output):
            op.set_inputs([x, other])
            return graph.bypass(op)
    return False


def _holds_only(value: Value, number: int) -> bool:
    return value.constant is not None and bool(np.all(value.numpy() == number))


def _widens(x: Value, other: Value, result: Value) -> bool:
    """Whether the constant may enlarge a dimension, or add one."""
    assert other.constant is not None
    if other.constant.size == 1 and x.rank is not None:
        return len(other.constant.shape) > x.rank
    return other.constant.shape != () and not same_shape(x.shape, result.shape)

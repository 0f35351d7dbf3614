# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fuses the addition of a residual block's shortcut into its convolution."""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.shapes import same_shape
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import has_activation, only_reader, producer

_RESIDUAL = 3


class FuseResidual(Pass):
    """Conv2D followed by a sum of equal shapes to Conv2D with residual."""

    name = "fuse_residual"
    requires = ("fold_affine_forward",)

    def run(self, graph: Graph) -> int:
        count = 0
        place = {op: index for index, op in enumerate(graph.ops)}
        for op in graph.ops:
            if op.type == "Eltwise" and op.attr("mode") == "ADD":
                count += _rewrite(graph, op, place)
        return count


def _rewrite(graph: Graph, op: Op, place: dict[Op, int]) -> bool:
    a, b = op.input(0), op.input(1)
    if has_activation(op) or a is b:
        return False
    choices = [
        (conv, other)
        for conv, other in ((_convolution(graph, a), b), (_convolution(graph, b), a))
        if conv is not None and _fits(conv, other)
    ]
    if not choices:
        return False
    # The later convolution: the other operand is then already computed, so no tensor is
    # needed longer than before.
    conv, other = max(choices, key=lambda choice: place.get(choice[0], 0))
    graph.merge_into(conv, op)
    conv.set_input(_RESIDUAL, other)
    return True


def _convolution(graph: Graph, value: Value) -> Op | None:
    conv = producer(value, "Conv2D")
    if conv is None or conv.get_input(_RESIDUAL) is not None:
        return None
    if has_activation(conv) or only_reader(graph, value) is None:
        return None
    return conv


def _fits(conv: Op, other: Value) -> bool:
    return not other.is_constant and same_shape(conv.output.shape, other.shape)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns clipping to zero and to an upper limit into RELU and RELUX.

max(x, 0)           > RELU
min(relu(x), limit) > RELUX, in either order of the bounds
"""

from __future__ import annotations

from typing import Any

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import (
    eltwise,
    only_reader,
    producer,
    scalar,
)


class ClipToRelux(Pass):
    """Eltwise MAX and MIN with constants to Activation."""

    name = "clip_to_relux"
    requires = ("fold_constants",)

    def run(self, graph: Graph) -> int:
        return sum(
            _clip(graph, op)
            for op in graph.ops
            if op.type == "Eltwise" and op.output.dtype.is_float
        )


def _clip(graph: Graph, op: Op) -> bool:
    relu = _bound(graph, op, "MAX")
    if relu is not None and relu[1] == 0:
        inner = _inner(graph, relu[0], "MIN")
        if inner is not None and inner[1] > 0:
            return _replace(graph, op, inner[0], "RELUX", inner[1])
        return _replace(graph, op, relu[0], "RELU")
    upper = _bound(graph, op, "MIN")
    if upper is None or upper[1] <= 0:
        return False
    value, limit = upper
    before = producer(value, "Activation")
    if before is not None and only_reader(graph, value) is not None:
        kind = before.attr("activation")
        if kind == "RELUX":
            limit = min(limit, before.attr("activation_limit"))
        if kind in ("RELU", "RELUX"):
            return _replace(graph, op, before.input(0), "RELUX", limit)
    inner = _inner(graph, value, "MAX")
    if inner is not None and inner[1] == 0:
        return _replace(graph, op, inner[0], "RELUX", limit)
    return False


def _bound(graph: Graph, op: Op, mode: str) -> tuple[Value, float] | None:
    """The operand and the constant of a plain MAX or MIN."""
    if op.type != "Eltwise" or eltwise(op.output, mode) is not op:
        return None
    for index in (0, 1):
        number, other = scalar(op.get_input(index)), op.get_input(1 - index)
        if number is None or other is None or other.is_constant:
            continue
        # A bound with more axes than the other operand would add axes.
        if other.rank == op.output.rank:
            return other, number
    return None


def _inner(graph: Graph, value: Value, mode: str) -> tuple[Value, float] | None:
    if value.producer is None or only_reader(graph, value) is None:
        return None
    return _bound(graph, value.producer, mode)


def _replace(graph: Graph, op: Op, value: Value, kind: str, limit: float = 0.0) -> bool:
    attrs: dict[str, Any] = {"activation": kind}
    if kind == "RELUX":
        attrs["activation_limit"] = limit
    graph.replace_op(op, "Activation", [value], attrs)
    return True

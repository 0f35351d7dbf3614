# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces operators that a device of the model lacks by simpler ones.

Importers do not know for what a model is made: they emit Attention, and pooling of
volumes, as one operator each. The rules of the operator say what it consists of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.passes.base import Pass


class ExpandComposites(Pass):
    """Expands operators that the target does not take."""

    name = "expand_composites"
    provides = ("no_composites",)

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if rules_of(op.type).is_composite and not graph.target.takes(op.type):
                _expand(graph, op)
                count += 1
        return count


class _Emitter:
    """Adds operators of which the last one takes the place of `op`."""

    def __init__(self, graph: Graph, op: Op) -> None:
        self._builder = GraphBuilder.of(graph)
        self._op = op

    def __call__(
        self, op_type: str, inputs: Sequence[Value | None], attrs: Mapping[str, Any], /
    ) -> Value:
        name = f"{self._op.name}/{op_type}"
        result = self._builder.one(op_type, inputs, None, attrs, name)
        if result.producer is not None:
            result.producer.subgraph = self._op.subgraph
        return result

    def constant(self, array: Array) -> Value:
        """See `op_rules.Emitter`."""
        graph = self._builder.graph
        name = graph.unique_name(f"{self._op.name}/constant")
        return self._builder.constant(name, np.asarray(array))


def _expand(graph: Graph, op: Op) -> None:
    emit = _Emitter(graph, op)
    result = rules_of(op.type).expand(op, emit)
    made = result.producer
    if made is None or result.uses or len(made.outputs) > 1:
        result = emit("Identity", [result], {})
        made = result.producer
    assert made is not None
    output = op.output
    graph.remove_op(op)
    graph.replace_output(made, result, output)
    graph.remove_value(result)

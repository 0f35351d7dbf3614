# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantized operators beside those in floats, each with the inputs of its float one."""

from __future__ import annotations

from collections.abc import Mapping

from mace.python.tools.ir import DataFormat, Graph
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.passes.manager import run_last_passes
from mace.python.tools.quantize.insert import (
    Plan,
    QuantizeOptions,
    insert,
)
from mace.python.tools.quantize.ranges import Range


def add_shadows(
    graph: Graph,
    ranges: Mapping[str, Range],
    options: QuantizeOptions,
    plan: Plan,
    means: Mapping[str, Array] | None = None,
) -> dict[str, str]:
    """Adds to a graph in floats a quantized twin of each operator that is to be
    quantized. What the twin makes differs from what the operator makes by the error of
    this operator alone.

    Args:
        ranges, options, plan, means: as in `insert`.

    Returns:
        By the name of the operator's result, the name of the twin's, an output of the
        graph. Without operators that choose among the elements of their input, and
        without those whose result the model's own file rounds.
    """
    twins: list[str] = []
    shadows: dict[str, str] = {}
    known = dict(ranges)
    chosen = set(plan.quantized)
    for op in graph.ops:
        result = op.output
        if op.name not in chosen or rules_of(op.type).keeps_range(op):
            continue
        if result.name not in ranges:
            continue
        name = graph.unique_name(f"{result.name}/shadow")
        made = graph.add_value(name, result.dtype, result.shape)
        twin = graph.add_op(op.type, op.inputs, [made], op.attrs, name)
        twin.subgraph = op.subgraph
        twins.append(twin.name)
        shadows[result.name] = name
        known[name] = ranges[result.name]
    insert(graph, known, options, twins, means)
    # Both are compared. As outputs, the passes keep them in floats.
    for name in (*shadows, *shadows.values()):
        if graph.values[name] not in graph.outputs:
            graph.outputs.append(graph.values[name])
            graph.formats[name] = DataFormat.NONE
    graph.sort()
    run_last_passes(graph)
    return shadows

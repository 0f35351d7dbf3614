# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs operators and graphs in plain NumPy.

Slow and simple on purpose: it is the reference for tests of passes, and it folds
constants. The formulas are in the operators' folders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Graph, Op
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.quantized_ops import is_quantized


def evaluate_op(op: Op, inputs: Sequence[Array | None]) -> list[Array]:
    """The outputs of one operator, in the inferred types."""
    rules = rules_of(op.type)
    with np.errstate(all="ignore"):
        compute = rules.evaluate_quantized if is_quantized(op) else rules.evaluate
        results = compute(op, inputs)
        return [
            np.asarray(array, dtype=value.dtype.numpy)
            for array, value in zip(results, op.outputs)
        ]


def run_graph(
    graph: Graph,
    inputs: Mapping[str, Array],
    fetch: Sequence[str] | None = None,
) -> dict[str, Array]:
    """Runs a sorted graph.

    Args:
        graph: whose operators are in order.
        inputs: an array for each input by name, in the shape it has in this
            graph.
        fetch: values wanted; None: the outputs.
    """
    names = [v.name for v in graph.outputs] if fetch is None else fetch
    known: dict[str, Array] = dict(inputs)
    left = {v.name: len(v.uses) for v in graph.values.values()}
    for op in graph.ops:
        arrays = [
            None if v is None else (v.numpy() if v.is_constant else known[v.name])
            for v in op.inputs
        ]
        for value, array in zip(op.outputs, evaluate_op(op, arrays)):
            known[value.name] = array
        for used in op.inputs:
            if used is None or used.is_constant:
                continue
            left[used.name] -= 1
            if not left[used.name] and used.name not in names:
                del known[used.name]
    return {
        name: known[name] if name in known else graph.values[name].numpy()
        for name in names
    }

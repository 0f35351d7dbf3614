# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Merges operators that compute the same result."""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op
from mace.python.tools.passes.base import Pass


class MergeEqualOps(Pass):
    """Operators with the same type, inputs and attributes become one."""

    name = "merge_equal_ops"
    requires = ("remove_no_ops",)

    def run(self, graph: Graph) -> int:
        seen: dict[object, Op] = {}
        count = 0
        for op in graph.ops:
            inputs = tuple(id(value) for value in op.inputs)
            key = (op.type, inputs, len(op.outputs), tuple(sorted(op.attrs.items())))
            first = seen.setdefault(key, op)
            # Outputs of the model keep their producers and names.
            if first is op or any(v in graph.outputs for v in op.outputs):
                continue
            for mine, value in zip(first.outputs, op.outputs):
                graph.replace_uses(value, mine)
            graph.remove_op(op)
            count += 1
        return count

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Removes operators whose output equals their input."""

from __future__ import annotations

from mace.python.tools.ir import Graph
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.passes.base import Pass


class RemoveNoOps(Pass):
    """Identity (dropout and the like), reshape to the same shape, ..."""

    name = "remove_no_ops"
    provides = ("no_identities",)

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if len(op.outputs) != 1 or op.get_input(0) is None:
                continue
            if rules_of(op.type).is_identity(op) and graph.bypass(op):
                count += 1
        return count

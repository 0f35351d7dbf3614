# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fuses an activation that only limits results into the operator before it."""

from __future__ import annotations

from mace.python.tools.ir import Graph
from mace.python.tools.ir.quantized_ops import has_limits
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.fuse_activation import fuse_activation


class FuseLimits(Pass):
    """RELU and RELUX as `fuse_activation` does: quantized operators have them, too."""

    name = "fuse_limits"
    requires = ("fuse_residual",)

    def run(self, graph: Graph) -> int:
        return sum(
            fuse_activation(graph, op)
            for op in graph.ops
            if op in graph and op.type == "Activation" and has_limits(op)
        )

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Computes operators that do not depend on the model's inputs."""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir import Graph, Op
from mace.python.tools.ir.fold import fold_op
from mace.python.tools.passes.base import Pass


class FoldConstants(Pass):
    """Also converts a computed shape of a Reshape to its attribute."""

    name = "fold_constants"
    requires = ("remove_no_ops",)

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if op.type == "Reshape" and _take_shape(op):
                count += 1
            # An output of the model must be produced by an operator.
            elif op.type != "Identity" and not _makes_output(graph, op):
                count += fold_op(graph, op)
        return count


def _makes_output(graph: Graph, op: Op) -> bool:
    return any(value in graph.outputs for value in op.outputs)


def _take_shape(op: Op) -> bool:
    shape = op.get_input(1)
    if shape is None or not shape.is_constant:
        return False
    op.set_attr("shape", np.asarray(shape.numpy()).reshape(-1))
    op.set_input(1, None)
    return True

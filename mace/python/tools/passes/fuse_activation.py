# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fuses an activation into the operator before it."""

from __future__ import annotations

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.ir import Graph, Op
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import (
    activation_attrs,
    has_activation,
    only_reader,
)


class FuseActivation(Pass):
    """Activation into any operator that declares the attribute."""

    name = "fuse_activation"
    requires = ("fuse_residual",)

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if op not in graph or op.type != "Activation":
                continue
            before = op.input(0).producer
            if before is None or only_reader(graph, op.input(0)) is not op:
                continue
            # The slopes of PRELU are an input, which other operators do not have.
            if not _takes_activation(before) or op.get_input(1) is not None:
                continue
            before.attrs.update(activation_attrs(op))  # type: ignore[arg-type]
            graph.merge_into(before, op)
            count += 1
        return count


def _takes_activation(op: Op) -> bool:
    if op.type == "Activation" or len(op.outputs) != 1 or has_activation(op):
        return False
    schema = default_catalogue()[op.type]
    return "activation" in schema.attributes and op.output.dtype.is_float

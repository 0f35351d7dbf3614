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
    """Activation, perhaps after Reshape, into any operator with the attribute."""

    name = "fuse_activation"
    requires = ("fuse_limits",)
    floats_only = True

    def run(self, graph: Graph) -> int:
        return sum(
            fuse_activation(graph, op)
            for op in graph.ops
            if op in graph and op.type == "Activation"
        )


def fuse_activation(graph: Graph, op: Op) -> bool:
    """Fuses an Activation into the operator before it, if that can have it."""
    last = op.input(0).producer
    if last is None or only_reader(graph, op.input(0)) is not op:
        return False
    before = _before_reshape(graph, last)
    # The slopes of PRELU are an input, which other operators do not have.
    if before is None or op.get_input(1) is not None:
        return False
    if not _takes_activation(before):
        return False
    before.attrs.update(activation_attrs(op))  # type: ignore[arg-type]
    if before is not last:
        before.output.source = None
    graph.merge_into(last, op)
    return True


def _before_reshape(graph: Graph, op: Op) -> Op | None:
    """The operator itself, or the one before if it is a Reshape."""
    if op.type != "Reshape":
        return op
    return op.input(0).producer if only_reader(graph, op.input(0)) is op else None


def _takes_activation(op: Op) -> bool:
    if op.type == "Activation" or len(op.outputs) != 1 or has_activation(op):
        return False
    schema = default_catalogue()[op.type]
    return "activation" in schema.attributes and op.output.dtype.is_float

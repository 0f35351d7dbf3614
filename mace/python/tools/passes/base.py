# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a pass is, and what it may promise to the rest of the conversion."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import ClassVar

from mace.python.tools.ir import DataFormat, Graph, Op
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.images import DATA_FORMAT


class Pass(abc.ABC):
    """A rewrite that keeps what the graph computes.

    The manager finds all of this folder. Running a pass on its own result changes
    nothing.

    Attributes:
        name: the class's in snake case.
        requires: names of passes that must have run before.
        last: whether it runs once, after all others have come to rest. None of these
            runs on its result: it makes operators that they do not know.
        floats_only: whether it makes operators that have no quantized form. It runs on
            what stays in floats of a model that is being quantized.
        provides: names of invariants (`INVARIANTS`) that hold from then
            on; the manager checks them after every later pass.
    """

    name: ClassVar[str]
    requires: ClassVar[tuple[str, ...]] = ()
    provides: ClassVar[tuple[str, ...]] = ()
    last: ClassVar[bool] = False
    floats_only: ClassVar[bool] = False

    @abc.abstractmethod
    def run(self, graph: Graph) -> int:
        """Rewrites the graph in place.

        The graph is sorted before; the manager sorts and prunes it after.

        Returns:
            The number of rewrites.
        """


class OpPass(Pass):
    """A pass that looks at one operator after the other.

    Attributes:
        op_types: the operators that it looks at; none for all.
    """

    op_types: ClassVar[tuple[str, ...]] = ()

    def run(self, graph: Graph) -> int:
        return sum(
            self.rewrite(graph, op)
            for op in graph.ops
            # A rewrite may remove operators that follow.
            if op in graph and (not self.op_types or op.type in self.op_types)
        )

    @abc.abstractmethod
    def rewrite(self, graph: Graph, op: Op) -> bool:
        """Rewrites what ends in, begins with or is `op`; whether it did."""


def _no_identities(graph: Graph) -> list[str]:
    """Identity remains only between the model's inputs, constants and outputs."""
    return [
        f"{op.name} is an Identity that does nothing"
        for op in graph.ops
        if op.type == "Identity" and op.output not in graph.outputs
    ]


def _channels_last(graph: Graph) -> list[str]:
    """No operator, input or output has channels first."""
    problems = [
        f"{op.name} still has a {DATA_FORMAT}"
        for op in graph.ops
        if DATA_FORMAT in op.attrs
    ]
    problems += [
        f"{name} is still NCHW"
        for name, data_format in graph.formats.items()
        if data_format is DataFormat.NCHW
    ]
    return problems


def _no_composites(graph: Graph) -> list[str]:
    """No operator is left that a device lacks and simpler ones can replace."""
    return [
        f"{op.name} is still a {op.type}"
        for op in graph.ops
        if not graph.target.takes(op.type) and rules_of(op.type).is_composite
    ]


INVARIANTS: dict[str, Callable[[Graph], list[str]]] = {
    "no_identities": _no_identities,
    "channels_last": _channels_last,
    "no_composites": _no_composites,
}

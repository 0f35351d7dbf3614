# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Properties of the graph that passes establish for the rest of the conversion."""

from __future__ import annotations

from collections.abc import Callable

from mace.python.tools.ir import DataFormat, Graph
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.images import DATA_FORMAT


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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What an importer made of each node of the framework's model."""

from __future__ import annotations

import contextlib
import enum
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Graph, Op
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.shapes import Shape, elements


class Outcome(str, enum.Enum):
    """What became of a node."""

    # Operators, or a result that is known before the run.
    CONVERTED = "converted"
    REFUSED = "refused"
    # It reads what a refused node computes, and its inputs are not known without that.
    NOT_REACHED = "not reached"


@dataclass(frozen=True)
class MadeOperator:
    """An operator of MACE that takes part in computing a node.

    Attributes:
        types: of its outputs.
        shape: of its first output.
        macs: multiply-accumulates; None if they depend on shapes that are open.
        bytes: of inputs, constants and outputs; None likewise.
    """

    type: str
    types: tuple[DataType, ...]
    shape: Shape | None
    macs: int | None
    bytes: int | None

    @classmethod
    def of(cls, op: Op) -> MadeOperator:
        """An operator of a graph."""
        values = [value for value in (*op.inputs, *op.outputs) if value is not None]
        sizes = [
            None if count is None else count * value.dtype.numpy.itemsize
            for value in values
            for count in [elements(value.shape)]
        ]
        known = [size for size in sizes if size is not None]
        return cls(
            op.type,
            tuple(value.dtype for value in op.outputs),
            op.outputs[0].shape,
            rules_of(op.type).macs(op),
            sum(known) if len(known) == len(sizes) else None,
        )


@dataclass
class NodeEntry:
    """One node.

    Attributes:
        name, type: in the framework.
        reason: why it is refused.
        hint: what the user can do; '' if nothing is known to help.
        operators: what it became; none where its result is known before the run.
    """

    name: str
    type: str
    outcome: Outcome = Outcome.CONVERTED
    reason: str = ""
    hint: str = ""
    operators: tuple[MadeOperator, ...] = ()

    def not_reached(self) -> None:
        """Notes that its inputs are not known, unless it is refused itself."""
        if self.outcome is not Outcome.REFUSED:
            self.outcome = Outcome.NOT_REACHED


@dataclass
class Journal:
    """The nodes that the outputs need, in the order in which they were imported."""

    entries: list[NodeEntry] = field(default_factory=list)

    @contextlib.contextmanager
    def node(self, name: str, node_type: str, graph: Graph) -> Iterator[NodeEntry]:
        """While a node is imported into `graph`."""
        entry = NodeEntry(name, node_type)
        self.entries.append(entry)
        before = graph.op_count
        yield entry
        made = list(itertools.islice(graph.newest_ops(), graph.op_count - before))
        entry.operators = tuple(map(MadeOperator.of, reversed(made)))

    def refuse(self, name: str, node_type: str, reason: str, hint: str) -> None:
        """Notes why a node, the current one if it has that name, is refused."""
        current = self.entries[-1] if self.entries else None
        if current is None or current.name != name:
            current = next((e for e in self.entries if e.name == name), None)
        if current is None:
            current = NodeEntry(name, node_type)
            self.entries.append(current)
        if current.outcome is Outcome.REFUSED:  # for another reason as well
            reason = f"{current.reason}; {reason}"
            hint = current.hint or hint
        current.outcome, current.reason, current.hint = Outcome.REFUSED, reason, hint

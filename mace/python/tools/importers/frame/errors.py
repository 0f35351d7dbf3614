# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What importers refuse, and the report of all nodes that cannot be converted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mace.python.tools.custom_ops import (
    fault_of,
)
from mace.python.tools.errors import MaceError, UnsupportedError
from mace.python.tools.importers.frame.journal import Journal
from mace.python.tools.ir.evaluate import (
    ShapeError,
    computes_with_integers,
    saturated_operands,
)
from mace.python.tools.ir.graph import Graph, GraphError, Op, Value
from mace.python.tools.ir.shapes import elements
from mace.python.tools.ir.verify import op_problems
from mace.python.tools.wording import nearest_names, on_one_line


class ImportModelError(MaceError):
    """The model file cannot be read, or contradicts the deployment file."""


@dataclass(frozen=True)
class UnsupportedNode:
    """Why one node cannot be converted.

    Attributes:
        node: its name in the framework.
        op: its type in the framework.
        reason: what is not supported ('attribute mode is cubic').
        hint: what the user can do; '' if nothing is known to help.
    """

    node: str
    op: str
    reason: str
    hint: str = ""


class UnsupportedNodesError(UnsupportedError):
    """All nodes of a model that cannot be converted, as one table."""

    def __init__(self, model: str, nodes: Iterable[UnsupportedNode]) -> None:
        self.model = model
        self.nodes = tuple(nodes)
        count = len(self.nodes)
        what = "node" if count == 1 else "nodes"
        rows = [("node", "operator", "reason", "hint")]
        rows += [(n.node, n.op, n.reason, n.hint or "-") for n in self.nodes]
        super().__init__(
            f"{model}: {count} {what} cannot be converted\n" + _table(rows)
        )


class UnsupportedNodes:
    """Collects nodes that cannot be converted, to report all in one message."""

    def __init__(self, model: str, journal: Journal | None = None) -> None:
        self._model = model
        self._journal = journal or Journal()
        self._nodes: list[UnsupportedNode] = []

    def add(self, node: str, op: str, reason: str, hint: str = "") -> None:
        """Notes one node."""
        self._nodes.append(UnsupportedNode(node, op, reason, hint))
        self._journal.refuse(node, op, reason, hint)

    def finish(self, graph: Graph) -> Graph:
        """Removes what no output of an imported graph needs, and sorts the rest.

        Element types are checked only here, because those of values that only lead to
        constants do not matter.

        Raises:
            UnsupportedNodesError: MACE does not compute with some of them.
        """
        graph.prune()
        for op in graph.ops:
            problems = op_problems(op) + _lost_integers(op)
            if problems:
                self.add(op.name, op.type, "; ".join(problems))
        self.raise_if_any()
        graph.sort()
        return graph

    def __bool__(self) -> bool:
        return bool(self._nodes)

    @property
    def nodes(self) -> Sequence[UnsupportedNode]:
        """Those that were noted."""
        return self._nodes

    def raise_if_any(self) -> None:
        """Raises UnsupportedNodesError if a node was noted."""
        if self._nodes:
            raise UnsupportedNodesError(self._model, self._nodes)


def _lost_integers(op: Op) -> list[str]:
    """Constants that the operator computes with, and that became other numbers."""
    if not computes_with_integers(op):
        return []
    return [
        f"{value.name} has integers beyond the 32 bits in which MACE computes"
        for value in saturated_operands(op)
    ]


# The beginning of the reason for a node that violates its operator's specification.
MALFORMED = "malformed node: "


class UnsupportedNodeError(Exception):
    """Raised by a handler for a node it cannot convert.

    The importer's loop turns it into a row of `UnsupportedNodes` and goes on,
    treating the node's outputs as unknown.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


# An input that decides how a model computes has few elements: a rate, a mode, sizes.
_MOST_ELEMENTS = 64
# The values that are looked at to find what decides another one.
_MOST_VALUES = 1000


def static_hint(value: Value, hint: str) -> str:
    """What to do where a value must be known while the model is converted.

    Args:
        hint: for a value that not only small inputs decide.
    """
    names = _deciding_inputs(value)
    if not names:
        return hint
    flags = " ".join(f"--set {name}=VALUE" for name in names)
    verb = "is" if len(names) == 1 else "are"
    return (
        f"if {' and '.join(names)} {verb} the same in every run, say so: {flags} "
        "(constants of a deployment file or of mace.load)"
    )


def untaken(
    error: UnsupportedNodeError | ShapeError, condition: Value
) -> UnsupportedNodeError:
    """The refusal of a branch, which may be one that no run takes and nothing could
    compute.
    """
    hint = ""
    reason = str(error)
    if isinstance(error, UnsupportedNodeError):
        reason, hint = error.reason, error.hint
    return UnsupportedNodeError(reason, static_hint(condition, hint))


def _deciding_inputs(value: Value) -> list[str]:
    """The inputs of the model of whose elements alone a value is computed, if each is a
    number or a few integers; none if something else decides it.
    """
    inputs: dict[str, None] = {}
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if found.is_constant or id(found) in seen:
            continue
        seen.add(id(found))
        op = found.producer
        if len(seen) > _MOST_VALUES or (op is not None and op.type == "Shape"):
            return []
        if op is not None:
            waiting += [item for item in op.inputs if item is not None]
            continue
        count = elements(found.shape)
        if count is None or count > (1 if found.dtype.is_float else _MOST_ELEMENTS):
            return []
        inputs[found.name] = None
    return list(inputs)


# Python and NumPy exceptions of handlers at nodes whose inputs or numbers contradict
# each other (for example a shape of 2**40).
MALFORMED_NODE_ERRORS = (
    ArithmeticError,
    AttributeError,
    GraphError,
    IndexError,
    KeyError,
    MemoryError,
    TypeError,
    ValueError,
)


def malformed_node(error: Exception) -> UnsupportedNodeError:
    """The row of a node that failed with one of `MALFORMED_NODE_ERRORS`."""
    fault = fault_of(error)
    if fault:
        # A mistake in a handler or rule of the user's own is as likely.
        return UnsupportedNodeError(f"{type(error).__name__}: {error}", f"see {fault}")
    return UnsupportedNodeError(
        f"{MALFORMED}{type(error).__name__}: {error}", "export the model again"
    )


def refusal_of(convert: Callable[[], None]) -> UnsupportedNodeError | None:
    """Converts a node; why it cannot be converted, None if it is.

    Raises:
        MaceError: what is wrong with the model as a whole.
    """
    try:
        # Infinities and NaN are allowed in a model.
        with np.errstate(all="ignore"):
            convert()
    except UnsupportedNodeError as error:
        return error
    except ShapeError as error:
        return UnsupportedNodeError(str(error))
    except MaceError:
        raise
    except MALFORMED_NODE_ERRORS as error:
        return malformed_node(error)
    return None


class UnknownTensorError(ImportModelError):
    """A name of the deployment that the model does not have."""


def unknown_tensor(
    key: str, name: str, model: Path, known: Iterable[str]
) -> UnknownTensorError:
    """The error for a tensor name of the deployment that is not in the model.

    Args:
        key: of the deployment file ('input_tensors').
        name: what it says.
        model: the file.
        known: names that would be accepted.
    """
    names = list(known)
    near = nearest_names(name, names)
    if near:
        hint = "near names: " + ", ".join(near)
    else:
        shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        hint = f"the model has: {shown}"
    return UnknownTensorError(f"{key}: {model} has no tensor {name!r}; {hint}")


def missing_inputs(names: Iterable[str]) -> ImportModelError:
    """The error for inputs of the model that its outputs need and nobody names."""
    return ImportModelError(
        f"input_tensors: the outputs also need {', '.join(names)}, which the "
        "deployment file does not name"
    )


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    rows = [tuple(map(on_one_line, row)) for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
        for row in rows
    ]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([lines[0], rule, *lines[1:]])

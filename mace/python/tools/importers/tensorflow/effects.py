# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Variables that a run of the model changes.

A node that changes a variable often has no output: TensorFlow runs the node because of
a control dependency, or because a function runs each of its stateful nodes. So the data
inputs of the model's outputs do not lead to such a node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mace.python.tools.importers.tensorflow.node import Function, Tensor
from mace.python.tools.importers.tf_operators.context import variable_id
from mace.python.tools.importers.tf_operators.node import Node

# A variable that the analysis cannot name: it may be any.
ANY = "?"

_RESOURCES = {"VarHandleOp"}
# Variables of TensorFlow 1, whose output is a reference that any node may read.
_REFERENCES = {"VariableV2", "Variable", "TemporaryVariable"}
_PASS_RESOURCES = {"Identity", "IdentityN", "Enter", "Switch", "Exit", "NextIteration"}
_PASS_REFERENCES = {"RefIdentity", "RefEnter", "RefSwitch", "RefExit"}
_ONLY_READ = {
    "DisableCopyOnRead",
    "ReadVariableOp",
    "ReadVariableXlaSplitND",
    "ResourceGather",
    "ResourceGatherNd",
    "VarIsInitializedOp",
    "VariableShape",
    "_ReadVariablesOp",
}
# How the types begin that change a variable of TensorFlow 1, whose reference any other
# node may read, and those that change a resource.
_CHANGE_REFERENCES = (
    *("Assign", "Scatter", "Apply", "SparseApply", "StridedSliceAssign"),
    *("CountUpTo", "DestroyTemporaryVariable"),
)
_CHANGE_RESOURCES = ("Assign", "Resource")
_NO_CHANGES = _ONLY_READ | {"ScatterNd", "ScatterNdNonAliasingAdd"}
# The first of a caller's inputs that is an argument of the functions it calls.
_FIRST_ARGUMENT = {
    "PartitionedCall": 0,
    "StatefulPartitionedCall": 0,
    "While": 0,
    "StatelessWhile": 0,
    "If": 1,
    "StatelessIf": 1,
    "Case": 1,
    "StatelessCase": 1,
}
_DEEPEST = 64


class Change(NamedTuple):
    """A node that changes a variable.

    Attributes:
        node, op: of the model, with the names of the calls in front.
        variable: as `variable_id` has it, or ANY.
    """

    node: str
    op: str
    variable: str


class _Variable(NamedTuple):
    name: str
    is_resource: bool


_REFERENCE = _Variable("", False)


@dataclass(frozen=True)
class _Frame:
    """The graph, or one call of a function."""

    nodes: Mapping[str, Node]
    arguments: Mapping[str, _Variable | None]
    prefix: str = ""
    depth: int = 0


class Effects:
    """Finds what a run changes.

    Args:
        functions: that nodes call, by name.
        taken: the function that a branch calls, by the full name of its node, where
            the converter has decided.
    """

    def __init__(
        self, functions: Mapping[str, Function], taken: Mapping[str, str]
    ) -> None:
        self._functions = functions
        self._taken = taken
        self._seen: set[tuple[str, tuple[_Variable | None, ...]]] = set()

    def changes(
        self, nodes: Mapping[str, Node], roots: Iterable[str], given: Collection[str]
    ) -> list[Change]:
        """The changes of a run that computes the nodes `roots` of a graph.

        Args:
            given: nodes whose outputs the application gives.
        """
        pending, executed = list(roots), set(given)
        while pending:
            name = pending.pop()
            if name in executed or name not in nodes:
                continue
            executed.add(name)
            node = nodes[name]
            pending += [source for source, _ in node.inputs]
            pending += node.controls
        frame = _Frame(nodes, {})
        kept = [n for n in nodes.values() if n.name in executed - set(given)]
        return list(self._of(frame, kept))

    def _of(self, frame: _Frame, nodes: Iterable[Node]) -> Iterator[Change]:
        for node in nodes:
            called = list(self._called(frame, node))
            for name in called:
                yield from self._of_call(frame, node, name)
            if called:
                continue
            found = [self._variable(frame, tensor) for tensor in node.inputs]
            variables = [v for v in found if v is not None]
            if not variables and node.op.startswith(_CHANGE_RESOURCES):
                variables = [_Variable(ANY, True)]
            for variable in variables:
                if _is_change(node.op, variable):
                    yield Change(frame.prefix + node.name, node.op, variable.name)

    def _called(self, frame: _Frame, node: Node) -> Iterator[str]:
        decided = self._taken.get(frame.prefix + node.name)
        if decided is not None:
            yield decided
            return
        for attribute in node.attrs.values():
            kind = attribute.WhichOneof("value")
            if kind == "func":
                yield str(attribute.func.name)
            elif kind == "list":
                yield from (str(function.name) for function in attribute.list.func)

    def _of_call(self, frame: _Frame, node: Node, name: str) -> Iterator[Change]:
        """The changes of a function, all of whose stateful nodes run."""
        function = self._functions.get(name)
        if function is None or frame.depth == _DEEPEST:
            return
        called = self._frame(frame, node, function)
        key = name, tuple(called.arguments.values())
        if key in self._seen:
            return
        self._seen.add(key)
        yield from self._of(called, function.nodes.values())

    def _frame(self, frame: _Frame, node: Node, function: Function) -> _Frame:
        arguments: dict[str, _Variable | None]
        first = _FIRST_ARGUMENT.get(node.op)
        if first is None:
            # If the function changes one of its arguments, that may be any variable.
            arguments = dict.fromkeys(function.arguments, _Variable(ANY, True))
        else:
            passed = [self._variable(frame, tensor) for tensor in node.inputs[first:]]
            arguments = dict(zip(function.arguments, passed))
        prefix = f"{frame.prefix}{node.name}/"
        return _Frame(function.nodes, arguments, prefix, frame.depth + 1)

    def _variable(self, frame: _Frame, tensor: Tensor) -> _Variable | None:
        """The variable that a tensor stands for; None if it is none."""
        only_resources = False
        for _ in range(_DEEPEST):
            name, index = tensor
            if name in frame.arguments:
                found = frame.arguments[name]
                break
            node = frame.nodes.get(name)
            if node is None:
                return None
            if node.op in _RESOURCES | _REFERENCES:
                found = _Variable(variable_id(node), node.op in _RESOURCES)
                break
            if node.op in _FIRST_ARGUMENT:
                found = self._result(frame, node, index)
                break
            if not node.inputs:
                return None
            if node.op in _PASS_RESOURCES:
                only_resources = True
            elif not (node.op in _PASS_REFERENCES or _is_change(node.op, _REFERENCE)):
                return None
            tensor = node.inputs[index if node.op == "IdentityN" else 0]
        else:
            return None
        if found is not None and only_resources and not found.is_resource:
            return None  # the value of a reference
        return found

    def _result(self, frame: _Frame, node: Node, index: int) -> _Variable | None:
        if frame.depth == _DEEPEST:
            return None
        for name in self._called(frame, node):
            function = self._functions.get(name)
            if function is not None and index < len(function.results):
                called = self._frame(frame, node, function)
                found = self._variable(called, function.results[index])
                if found is not None:
                    return found
        return None


def _is_change(op: str, variable: _Variable) -> bool:
    if op in _NO_CHANGES:
        return False
    if variable.name == ANY:
        return op.startswith((*_CHANGE_REFERENCES, *_CHANGE_RESOURCES))
    if variable.is_resource:
        return op not in _PASS_RESOURCES
    return op.startswith(_CHANGE_REFERENCES)

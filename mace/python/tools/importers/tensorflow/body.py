# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts nodes: those of the graph, and those of the functions that it calls.

Calls are replaced by what they compute, branches by the one that is taken, and a loop
by its rounds, if the converter knows the condition. Otherwise each run takes one of
both branches, and counts the rounds.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np

from mace.python.tools.importers.emit.control_flow import Choice, while_loop
from mace.python.tools.importers.emit.rounds import (
    LoopsAhead,
    Maker,
    Part,
    check_rounds,
    state_inside,
)
from mace.python.tools.importers.frame.budget import budget, expanded
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodeError,
    UnsupportedNodes,
    refusal_of,
    static_hint,
)
from mace.python.tools.importers.frame.known import known_elements
from mace.python.tools.importers.tensorflow.effects import ANY, Effects
from mace.python.tools.importers.tensorflow.node import Function, Tensor
from mace.python.tools.importers.tf_operators.context import (
    HANDLERS,
    Context,
    Item,
    ReadVariable,
    no_variables,
)
from mace.python.tools.importers.tf_operators.node import Node, tensor_name
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.graph import Value

_ASSIGNMENTS = {
    "AssignVariableOp",
    "AssignAddVariableOp",
    "AssignSubVariableOp",
    "Assign",
    "AssignAdd",
    "AssignSub",
}
_FIRST_CONTROL_FLOW = {"Enter", "Exit", "NextIteration", "Switch", "Merge", "LoopCond"}
_STATIC = "make it a constant, or fix the input shapes it follows from"
_KEPT = (
    "make its value an input and an output of the signature, and name both in states"
)
_DEEPEST = 64

# How often each choice of functions is called.
_Calls = Mapping[tuple[str, ...], int]


@dataclass
class Scope:
    """The nodes of the graph, or of one call of a function.

    Attributes:
        nodes: by name.
        values: of inputs and of the nodes that were converted.
        prefix: of the names of this call's nodes in the converted graph.
    """

    nodes: Mapping[str, Node]
    values: dict[Tensor, Item] = field(default_factory=dict)
    prefix: str = ""


class Body:
    """Converts the nodes of one model."""

    def __init__(
        self,
        path: Path,
        builder: GraphBuilder,
        functions: Mapping[str, Function],
        unsupported: UnsupportedNodes,
        read: ReadVariable = no_variables,
    ) -> None:
        self._path = path
        self._builder = builder
        self._functions = functions
        self._unsupported = unsupported
        self._read = read
        self._depth = 0
        self._reads: set[str] = set()
        self._taken: dict[str, str] = {}
        self._known_calls: dict[str, tuple[int, _Calls]] = {}
        self._ahead = LoopsAhead()

    def ordered(self, scope: Scope, roots: Iterable[str]) -> list[Node]:
        """The nodes that some need, producers first.

        Raises:
            ImportModelError: a node is missing, or needs itself.
        """
        order: list[Node] = []
        done: set[str] = set()
        on_path: set[str] = set()
        stack = [(root, False) for root in reversed(list(roots))]
        given = {node for node, _ in scope.values}
        while stack:
            name, leaving = stack.pop()
            if leaving:
                on_path.discard(name)
                done.add(name)
                order.append(scope.nodes[name])
                continue
            if name in done or (name in given and name not in scope.nodes):
                continue
            if name in on_path:
                raise ImportModelError(
                    f"{self._path}: node {name} depends on itself (a loop of "
                    "TensorFlow 1); freeze the model with lower_control_flow=False"
                )
            if name not in scope.nodes:
                readers = [
                    f"node {n.name}"
                    for n in scope.nodes.values()
                    if any(source == name for source, _ in n.inputs)
                ]
                # Without one, it is a result of a function.
                raise ImportModelError(
                    f"{self._path}: {(*readers, 'a function')[0]} reads {name!r}, "
                    "which the file does not hold: freeze the model again"
                )
            on_path.add(name)
            stack.append((name, True))
            if name in given:
                continue
            for source in reversed(scope.nodes[name].inputs):
                if source not in scope.values:
                    stack.append((source[0], False))
        return order

    def convert(self, scope: Scope, node: Node) -> bool:
        """Adds the outputs of a node to the scope; false if they are not known, because
        of nodes that are in the table of unsupported ones.
        """
        named = replace(node, name=scope.prefix + node.name)
        flow = _FLOW.get(node.op)
        handler = HANDLERS.find(node.op)
        if flow is None and handler is None:
            self._unsupported.add(named.name, node.op, *_why(node))
            return False
        if any(source not in scope.values for source in node.inputs):
            return False  # caused by a node that is already in the table
        items = [scope.values[i] for i in node.inputs]
        context = Context(named, self._builder, items, self._read)
        known = True

        def run() -> None:
            nonlocal known
            if flow is not None:
                known = flow(self, context)
            elif handler is not None:
                tensors = [i for i in context.items if isinstance(i, Value)]
                with (
                    self._builder.counted.require_reads(tensors),
                    self._builder.results_of(node.result_types),
                ):
                    handler(context)

        refusal = refusal_of(run)
        if refusal is not None:
            self._unsupported.add(named.name, node.op, refusal.reason, refusal.hint)
        self._reads |= context.reads
        for index, value in context.results.items():
            scope.values[node.name, index] = value
        return known

    def check_effects(
        self, nodes: Mapping[str, Node], roots: Iterable[str], given: Collection[str]
    ) -> None:
        """Notes nodes that change a variable which the converted nodes read: its value
        is a constant of the converted model, and another one in TensorFlow's next run.

        Args:
            roots: the nodes of the model's outputs.
            given: the nodes of its inputs.
        """
        if not self._reads:
            return
        for change in Effects(self._functions, self._taken).changes(
            nodes, roots, given
        ):
            if change.variable in self._reads or change.variable == ANY:
                what = "" if change.variable == ANY else f" ({change.variable})"
                self._unsupported.add(
                    change.node,
                    change.op,
                    f"it changes a variable that the outputs depend on{what}",
                    _KEPT,
                )

    def _call(
        self, name: str, inputs: Sequence[Item], prefix: str
    ) -> list[Item] | None:
        """The results of a function; None if some are not known."""
        function = self._functions.get(name)
        if function is None:
            raise UnsupportedNodeError(
                f"it calls {name!r}, which the file does not hold",
                "freeze the model again",
            )
        if len(function.arguments) != len(inputs):
            raise UnsupportedNodeError(
                f"it calls {name!r}, which takes {len(function.arguments)} tensors, "
                f"with {len(inputs)}"
            )
        if self._depth == _DEEPEST:
            raise UnsupportedNodeError(f"{_DEEPEST} functions call each other")
        values = {(a, 0): value for a, value in zip(function.arguments, inputs)}
        scope = Scope(function.nodes, values, f"{prefix}/")
        if self._depth == 0:
            budget().check_nodes(self._least(name), f"what {name!r} calls")
        needed = self.ordered(scope, [node for node, _ in function.results])
        budget().add_nodes(max(1, len(needed)), "what it calls, with others,")
        self._depth += 1
        try:
            for node in needed:
                self.convert(scope, node)
        finally:
            self._depth -= 1
        results = [scope.values.get(tensor) for tensor in function.results]
        known = [result for result in results if result is not None]
        return known if len(known) == len(results) else None

    def _least(self, name: str) -> int:
        """How many nodes a call becomes at least, with the calls inside and the rounds
        of loops there.
        """
        return expanded([name], self._nodes_and_calls)

    def _nodes_and_calls(self, name: str) -> tuple[int, _Calls]:
        """The nodes of a function that are needed, and what they call for sure."""
        if name in self._known_calls:
            return self._known_calls[name]
        function = self._functions.get(name)
        if function is None:
            return 0, {}
        needed = {source for source, _ in function.results}
        waiting = list(needed)
        calls: Counter[tuple[str, ...]] = Counter()
        while waiting:
            node = function.nodes.get(waiting.pop())
            if node is None:
                continue
            if node.op in _FLOW:
                calls.update(self._calls_of(function, node))
            more = {source for source, _ in node.inputs} - needed
            needed |= more
            waiting += more
        self._known_calls[name] = len(needed), calls
        return self._known_calls[name]

    def _calls_of(self, function: Function, node: Node) -> _Calls:
        if _FLOW[node.op] is not Body.loop:
            return {tuple(map(node.function, _FIRST_CALLS[node.op])): 1}
        loop = self._loop(node)
        if loop is None:
            return {(node.function("cond"),): 1}  # what is wrong, the call says
        state = state_inside(_part(function), node.inputs)
        return self._ahead.calls(*loop, state)

    def _loop(self, node: Node) -> tuple[tuple[str, Part], tuple[str, Part]] | None:
        """Condition and body of a loop, with their names; None if one is missing."""
        names = node.function("cond"), node.function("body")
        if not all(name in self._functions for name in names):
            return None
        condition, body = ((name, _part(self._functions[name])) for name in names)
        return condition, body

    def _check_rounds(self, node: Node, items: Sequence[Item]) -> int | None:
        """See `check_rounds`."""
        loop = self._loop(node)
        if loop is None:
            return None  # the call says so
        (condition, first), (body, second) = loop
        return check_rounds(
            first,
            second,
            items,
            lambda: self._least(condition) + self._least(body),
            "nodes",
        )

    def called(self, context: Context) -> bool:
        """A call of a function."""
        node = context.node
        return _give(context, self._call(node.function("f"), context.items, node.name))

    def branch(self, context: Context) -> bool:
        """The branch that is taken; both, if each run decides."""
        node, value = context.node, context.input(0)
        if not value.is_constant:
            return _give(context, self._both(node, value, context.items[1:]))
        condition = _truth(value, "its condition")
        name = node.function("then_branch" if condition else "else_branch")
        self._taken[node.name] = name
        return _give(context, self._call(name, context.items[1:], node.name))

    def _both(
        self, node: Node, condition: Value, items: Sequence[Item]
    ) -> list[Item] | None:
        """The results of the branch that each run takes."""
        if condition.shape != ():
            raise UnsupportedNodeError(
                "its condition, which each run computes, is no scalar"
            )
        choice = Choice(self._builder, condition, node.name)
        yes, no = choice.both(
            *(
                partial(
                    self._inside,
                    node.function(f"{side}_branch"),
                    items,
                    node.name,
                    side,
                )
                for side in ("then", "else")
            )
        )
        hint = static_hint(condition, "")
        return [*choice.results(yes, no, hint, ", or lists of tensors")]

    def _inside(
        self, function: str, items: Sequence[Item], name: str, place: str
    ) -> list[Item]:
        """The results of a function that each run may call.

        Raises:
            UnsupportedNodeError: some are not known.
        """
        outside, self._unsupported = (
            self._unsupported,
            UnsupportedNodes(str(self._path)),
        )
        try:
            found = self._call(function, items, f"{name}/{place}")
            if found is None or self._unsupported:
                first = self._unsupported.nodes[0]
                raise UnsupportedNodeError(
                    f"it computes {first.op} ({first.node}): {first.reason}", first.hint
                )
            return found
        finally:
            self._unsupported = outside

    def _counted_loop(
        self, node: Node, items: Sequence[Item], number: int
    ) -> list[Item]:
        """A loop whose rounds each run counts, from this one on."""
        body = node.function("body")

        def condition(items: Sequence[Item], place: str) -> Value:
            name = f"{node.name}/{number}/condition"
            (found,) = self._inside(node.function("cond"), items, name, place)
            assert isinstance(found, Value)
            return found

        return while_loop(
            self._builder,
            node.name,
            items,
            condition,
            lambda items, place: self._inside(
                body, items, f"{node.name}/{number}", place
            ),
            _kept(self._functions[body]),
        )

    def loop(self, context: Context) -> bool:
        """All rounds of a loop, one behind the other; or a loop of the engine, if each
        run counts them.
        """
        node = context.node
        items: Sequence[Item] | None = context.items
        rounds = self._check_rounds(node, context.items)
        before = budget().added
        for number in itertools.count():
            if number == 1 and rounds is not None:
                budget().check_rest(before, rounds - 1)
            assert items is not None
            place = f"{node.name}/{number}"
            found = self._call(node.function("cond"), items, f"{place}/condition")
            if found is None:
                return False
            (condition,) = found
            if not isinstance(condition, Value):
                raise UnsupportedNodeError("its condition is a list of tensors")
            if not condition.is_constant and condition.shape == ():
                return _give(context, self._counted_loop(node, items, number))
            if not _truth(condition, f"its condition in round {number}"):
                return _give(context, items)
            items = self._call(node.function("body"), items, place)
            if items is None:
                return False
        raise AssertionError


def _part(function: Function) -> Part:
    """Of a loop."""
    arguments = {(name, 0): i for i, name in enumerate(function.arguments)}

    def look(tensor: Hashable) -> Maker | None:
        assert isinstance(tensor, tuple)
        if tensor in arguments:
            return arguments[tensor]
        node = function.nodes.get(tensor[0])
        if node is None or tensor[1] != 0:
            return None
        return node.tensor() if node.op == "Const" else (node.op, node.inputs)

    return Part(look, function.results)


def _kept(function: Function) -> list[int]:
    """The places of the arguments that a body returns as they are."""
    kept = []
    for index, (argument, result) in enumerate(
        zip(function.arguments, function.results)
    ):
        source = result
        while (node := function.nodes.get(source[0])) and node.op == "Identity":
            source = node.inputs[0]
        if source == (argument, 0):
            kept.append(index)
    return kept


def _truth(value: Value, what: str) -> bool:
    array = np.asarray(known_elements(value, what, _STATIC).numpy())
    # As TensorFlow has it: a tensor that is no scalar is true if it is not empty.
    return bool(array.reshape(())) if array.ndim == 0 else array.size > 0


def _give(context: Context, items: Sequence[Item] | None) -> bool:
    """Makes the results of a function those of the node that calls it."""
    for index, item in enumerate(items or ()):
        if isinstance(item, Value):
            item = context.builder.alias(item, tensor_name(context.node.name, index))
        context.results[index] = item
    return items is not None


_Flow = Callable[[Body, Context], bool]
_FLOW: Mapping[str, _Flow] = MappingProxyType(
    {
        "PartitionedCall": Body.called,
        "StatefulPartitionedCall": Body.called,
        "If": Body.branch,
        "StatelessIf": Body.branch,
        "While": Body.loop,
        "StatelessWhile": Body.loop,
    }
)


# Of each but loops, the attributes of functions one of which it calls for sure.
_FIRST_CALLS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "PartitionedCall": ("f",),
        "StatefulPartitionedCall": ("f",),
        "If": ("then_branch", "else_branch"),
        "StatelessIf": ("then_branch", "else_branch"),
    }
)


def _why(node: Node) -> tuple[str, str]:
    if node.op in _ASSIGNMENTS:
        return "it changes a variable", _KEPT
    if node.op in _FIRST_CONTROL_FLOW:
        return (
            "control flow of TensorFlow 1",
            "freeze the model with lower_control_flow=False",
        )
    if node.op.startswith(("Quantize", "Requantiz")):
        return (
            "an operator on TensorFlow's eight bits",
            "convert the float model (without quantize_nodes) and say quantize: 1",
        )
    return "operator not supported", HANDLERS.similar(node.op)

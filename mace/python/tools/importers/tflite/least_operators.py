# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How many operators subgraphs become at least, before any of them is imported.

Calls and loops multiply: a few hundred bytes can stand for more operators than there
is memory for. Most loops count to a constant of the file, so that such a file is
refused at once, also if the loop lies in another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from mace.python.tools.importers.emit.rounds import (
    LoopsAhead,
    Maker,
    Part,
    check_rounds,
    state_inside,
)
from mace.python.tools.importers.frame.budget import expanded
from mace.python.tools.importers.tflite.reader import Network, Operator
from mace.python.tools.ir.graph import Value

# Of operators that call subgraphs, the options of subgraphs one of which runs for sure.
_CALLS: Mapping[str, tuple[str, ...]] = {
    "CALL": ("subgraph",),
    "IF": ("then_subgraph_index", "else_subgraph_index"),
    "STABLEHLO_COMPOSITE": ("subgraph",),
    "WHILE": ("cond_subgraph_index", "body_subgraph_index"),
}

# How often each choice of subgraphs is called.
_Calls = Mapping[tuple[int, ...], int]


class LeastOperators:
    """Counts the operators of the subgraphs of one network."""

    def __init__(self, subgraphs: Sequence[Network]) -> None:
        self._subgraphs = subgraphs
        self._known: dict[int, tuple[int, _Calls]] = {}
        self._parts: dict[int, Part] = {}
        self._ahead = LoopsAhead()

    def of(self, subgraph: Network) -> int:
        """Those that a call becomes, with the calls inside and the rounds of loops."""
        return expanded([self._index(subgraph)], self._operators_and_calls)

    def check_rounds(
        self, condition: Network, body: Network, state: Sequence[Value]
    ) -> int | None:
        """See `rounds.check_rounds`."""
        return check_rounds(
            self._part(self._index(condition)),
            self._part(self._index(body)),
            state,
            lambda: self.of(condition) + self.of(body),
            "operators",
        )

    def _index(self, subgraph: Network) -> int:
        return next(i for i, n in enumerate(self._subgraphs) if n is subgraph)

    def _part(self, index: int) -> Part:
        if index not in self._parts:
            self._parts[index] = _part(self._subgraphs[index])
        return self._parts[index]

    def _operators_and_calls(self, index: int) -> tuple[int, _Calls]:
        if index not in self._known:
            operators = self._subgraphs[index].operators
            calls: Counter[tuple[int, ...]] = Counter()
            for operator in operators:
                calls.update(self._calls_of(index, operator))
            self._known[index] = len(operators), calls
        return self._known[index]

    def _calls_of(self, outside: int, operator: Operator) -> _Calls:
        options = _CALLS.get(operator.type, ())
        called = tuple(int(operator.options[option]) for option in options)
        if not called or not all(0 < n < len(self._subgraphs) for n in called):
            return {}  # what is wrong, the call says
        if operator.type != "WHILE":
            return {called: 1}
        condition, body = ((index, self._part(index)) for index in called)
        state = state_inside(self._part(outside), operator.inputs)
        return self._ahead.calls(condition, body, state)


def _part(subgraph: Network) -> Part:
    """Of a loop."""
    arguments = {index: number for number, index in enumerate(subgraph.inputs)}
    makers = {
        index: operator
        for operator in subgraph.operators
        if len(operator.outputs) == 1
        for index in operator.outputs
    }

    def look(tensor: Hashable) -> Maker | None:
        assert isinstance(tensor, int)
        if tensor in arguments:
            return arguments[tensor]
        operator = makers.get(tensor)
        if operator is None:
            known = tensor >= 0 and subgraph.tensors[tensor].buffer.size > 0
            return subgraph.tensors[tensor].array() if known else None
        plain = not operator.options.get("activation", 0)
        return (operator.type, operator.inputs) if plain else None

    return Part(look, subgraph.outputs)

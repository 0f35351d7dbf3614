# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How many rounds a loop has, before any of them is converted.

Most conditions compare a counter with a number. What such a condition depends on is
computed alone, which takes microseconds for each round; a loop that becomes too many
nodes, or never ends, is thus refused at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, Union

import numpy as np

from mace.python.tools.importers.frame.budget import budget
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value

_Key = TypeVar("_Key", bound=Hashable)

# What is known of a tensor: it is an argument with this number, a constant, or what an
# operator computes of others.
Maker = Union[int, Array, tuple[str, Sequence[Hashable]]]

_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "addv2": np.add,
    "equal": np.equal,
    "greater": np.greater,
    "greaterequal": np.greater_equal,
    "identity": lambda x: x,
    "less": np.less,
    "lessequal": np.less_equal,
    "logicaland": np.logical_and,
    "logicalnot": np.logical_not,
    "logicalor": np.logical_or,
    "mul": np.multiply,
    "notequal": np.not_equal,
    "sub": np.subtract,
}
# Of the tensor with a number, as far as it is known.
State = Callable[[int], "Array | None"]

# A condition on more numbers is no counter.
MOST_ELEMENTS = 16
_MOST_OPERATORS = 64


@dataclass(frozen=True)
class Part:
    """The condition or the body of a loop.

    Attributes:
        look: what is known of a tensor; None: nothing.
        results: the tensors that it returns.
    """

    look: Callable[[Hashable], Maker | None]
    results: Sequence[Hashable]


def small_constant(item: object) -> Array | None:
    """The elements of a value that may be a counter."""
    if not isinstance(item, Value) or item.constant is None:
        return None
    return np.asarray(item.numpy()) if item.constant.size <= MOST_ELEMENTS else None


def state_inside(outside: Part, tensors: Sequence[Hashable]) -> State:
    """Of a loop in a part that is not being converted yet."""

    def state(number: int) -> Array | None:
        maker = outside.look(tensors[number])
        return maker if isinstance(maker, np.ndarray) else None

    return state


def check_rounds(
    condition: Part,
    body: Part,
    state: Sequence[object],
    least: Callable[[], int],
    nodes: str,
) -> int | None:
    """Refuses a loop of too many rounds before the first one, if its condition counts
    them; returns their number.

    Args:
        state: before the first round.
        least: how many nodes a round becomes at least.
        nodes: what the framework calls them.
    """
    rounds = count_rounds(
        condition,
        body,
        lambda number: small_constant(state[number]),
        budget().spare_nodes,
    )
    if rounds is not None:
        each = max(1, least())
        what = f"{rounds} or more rounds of {each} {nodes}"
        budget().check_nodes(rounds * each, what)
    return rounds


class LoopsAhead:
    """Counts the rounds of loops in parts that are not converted yet: of all of them
    together as many as the budget has nodes, since more are refused in any case.
    """

    def __init__(self) -> None:
        self._counted = 0

    def calls(
        self, condition: tuple[_Key, Part], body: tuple[_Key, Part], state: State
    ) -> dict[tuple[_Key, ...], int]:
        """How often a loop calls its parts at least, as `budget.expanded` asks for it.

        Args:
            condition, body: what identifies each, and what it is.
            state: as for `count_rounds`.
        """
        most = max(0, budget().spare_nodes - self._counted)
        rounds = count_rounds(condition[1], body[1], state, most)
        if rounds is None:
            return {(condition[0],): 1}
        self._counted += rounds
        return {(condition[0],): rounds + 1, (body[0],): rounds}


class _UnknownError(Exception):
    """The condition depends on something else."""


def count_rounds(condition: Part, body: Part, state: State, most: int) -> int | None:
    """The number of rounds, or more than `most`; None if it cannot be told.

    Args:
        state: what its tensors are before the first round; None: each run decides.
    """
    try:
        asks = _Program(condition, [0])
        needed: set[int] = set()
        waiting = asks.arguments
        while waiting - needed:
            needed |= waiting
            waiting = _Program(body, sorted(needed)).arguments
        order = sorted(needed)
        steps = _Program(body, order)
        values = {number: _small(state(number)) for number in order}
        with np.errstate(all="ignore"):
            for count in range(most + 1):
                (goes_on,) = asks.run(values)
                if not goes_on.all():
                    return count
                values = dict(zip(order, steps.run(values)))
    except (_UnknownError, IndexError, TypeError, ValueError):
        return None
    return most + 1


def _small(array: Array | None) -> Array:
    if array is None or array.size > MOST_ELEMENTS:
        raise _UnknownError
    return array


class _Program:
    """The operators that some results of a part need, in order."""

    def __init__(self, part: Part, numbers: Sequence[int]) -> None:
        self._part = part
        self._known: dict[Hashable, Array] = {}
        self._given: dict[Hashable, int] = {}
        self._steps: list[tuple[Hashable, Callable[..., Any], Sequence[Hashable]]] = []
        self._results = [part.results[number] for number in numbers]
        for result in self._results:
            self._add(result, 0)

    @property
    def arguments(self) -> set[int]:
        """The numbers of the arguments that are read."""
        return set(self._given.values())

    def _add(self, tensor: Hashable, depth: int) -> None:
        if tensor in self._known or tensor in self._given:
            return
        if any(made == tensor for made, _, _ in self._steps):
            return
        maker = self._part.look(tensor)
        if isinstance(maker, int):
            self._given[tensor] = maker
        elif isinstance(maker, np.ndarray):
            self._known[tensor] = _small(maker)
        elif isinstance(maker, tuple):
            kind, sources = maker
            operator = _OPERATORS.get(kind.replace("_", "").lower())
            if operator is None or depth + len(self._steps) > _MOST_OPERATORS:
                raise _UnknownError
            for source in sources:
                self._add(source, depth + 1)
            self._steps.append((tensor, operator, sources))
        else:
            raise _UnknownError

    def run(self, arguments: Mapping[int, Array]) -> list[Array]:
        """The results."""
        values = dict(self._known)
        values.update((t, arguments[number]) for t, number in self._given.items())
        for made, operator, sources in self._steps:
            values[made] = np.asarray(operator(*(values[s] for s in sources)))
        return [values[result] for result in self._results]

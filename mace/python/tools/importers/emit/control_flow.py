# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Choices that each run makes between two branches, and loops whose steps it counts.

Both branches become nodes; the CPU runs only what the branch needs that is taken. If
one of them cannot be converted, a run that takes it ends with the reason. The engine
repeats the nodes of one step (mace/ops/loop).
"""

from __future__ import annotations

import contextvars
import itertools
import logging
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

import numpy as np

from mace.python.tools.importers.frame.budget import budget
from mace.python.tools.importers.frame.errors import UnsupportedNodeError, untaken
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.evaluate import ShapeError
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import compatible, format_shape

_T = TypeVar("_T")
_LOG = logging.getLogger(__name__)
_CHOSEN = (DataType.FLOAT32, DataType.INT32)
_HANDED_ON = (*_CHOSEN, DataType.BOOL)
# The conditions of the branches that are being converted, as int32.
_TAKEN: contextvars.ContextVar[tuple[Value, ...]] = contextvars.ContextVar(
    "taken", default=()
)


class Choice:
    """A choice by a condition that each run computes.

    Attributes:
        condition: bool [].
    """

    def __init__(self, builder: GraphBuilder, condition: Value, name: str) -> None:
        """Begins it.

        Args:
            condition: of one element, which no pass knows yet.
            name: of the node that chooses.
        """
        self._builder = builder
        self._name = name
        if condition.dtype is not DataType.BOOL:
            condition = self._cast(condition, DataType.BOOL)
        if condition.shape:
            condition = self._one("Reshape", condition, shape=[])
        self.condition = condition
        self._failures: dict[bool, UnsupportedNodeError] = {}

    def both(self, yes: Callable[[], _T], no: Callable[[], _T]) -> list[_T | None]:
        """What two functions make of the branches; None for one that cannot be
        converted.

        Raises:
            UnsupportedNodeError: neither can, or they become too much.
        """
        found: list[_T | None] = []
        refusals = budget().refusals
        for side, make in ((True, yes), (False, no)):
            token = _TAKEN.set((*_TAKEN.get(), self._is(side)))
            try:
                with budget().choice(self.condition.name):
                    found.append(make())
            except (UnsupportedNodeError, ShapeError) as error:
                failure = untaken(error, self.condition)
                if budget().refusals > refusals:
                    raise failure from error  # the file becomes too much
                self._failures[side] = failure
                found.append(None)
            finally:
                _TAKEN.reset(token)
        if len(self._failures) == 2:
            raise self._failures[True]
        for side, failure in self._failures.items():
            _LOG.warning(
                "%s: if %s is %s, a run fails, because that branch cannot be "
                "converted: %s%s",
                self._name,
                self.condition.name,
                str(side).lower(),
                failure.reason,
                f"; {failure.hint}" if failure.hint else "",
            )
        return found

    def between(self, yes: Value | None, no: Value | None) -> Value:
        """The result of the branch that is taken.

        Args:
            yes, no: with one shape and type; None for that of a branch which cannot be
                converted.
        """
        known = yes if no is None else no
        assert known is not None
        if yes is no:
            return known
        dtype = known.dtype
        sides = [
            self._failing(side, dtype) if value is None else self._numbers(value)
            for side, value in ((True, yes), (False, no))
        ]
        chosen = self._one("Where", self.condition, *sides)
        return chosen if dtype in _CHOSEN else self._cast(chosen, dtype)

    def results(
        self,
        yes: Sequence[object] | None,
        no: Sequence[object] | None,
        hint: str,
        others: str = "",
    ) -> list[Value]:
        """All results of the branch that is taken, as `between` has each.

        Args:
            yes, no: of `both`.
            hint: what a user can do if they differ.
            others: what results may be besides tensors, which no run can choose.

        Raises:
            UnsupportedNodeError: there are others, or they differ in shape or type.
        """
        found = []
        for pair in itertools.zip_longest(yes or (), no or ()):
            sides = [item if isinstance(item, Value) else None for item in pair]
            kinds = {(side.shape, side.dtype) for side in sides if side is not None}
            if len(kinds) != 1 or any(a is not b for a, b in zip(sides, pair)):
                raise UnsupportedNodeError(
                    "each run decides on branches with results of other shapes or "
                    f"types{others}",
                    hint,
                )
            found.append(self.between(*sides))
        return found

    def _failing(self, side: bool, dtype: DataType) -> Value:
        """One element, which ends the run if that branch is taken."""
        failure = self._failures[side]
        taken = self._is(side)
        for outer in _TAKEN.get():
            taken = self._one("Eltwise", taken, outer, mode="MIN")
        kind = dtype if dtype in _CHOSEN else DataType.INT32
        zero = self._zero(kind)
        message = f"the branch that this run takes was not converted: {failure.reason}"
        if failure.hint:
            message += f"; {failure.hint}"
        failed = self._cast(taken, DataType.BOOL)
        return self._one("Fail", failed, zero, message=message)

    def _is(self, side: bool) -> Value:
        """Whether the condition is that, int32 []."""
        number = self._cast(self.condition, DataType.INT32)
        if side:
            return number
        zero = self._zero(DataType.INT32)
        return self._cast(
            self._one("Eltwise", number, zero, mode="EQUAL"), DataType.INT32
        )

    def _zero(self, kind: DataType) -> Value:
        name = self._builder.graph.unique_name(f"{self._name}/zero")
        return self._builder.constant(name, np.zeros((), kind.numpy))

    def _numbers(self, value: Value) -> Value:
        return value if value.dtype in _CHOSEN else self._cast(value, DataType.INT32)

    def _cast(self, value: Value, to: DataType) -> Value:
        return self._one("Cast", value, to=to.value.upper())

    def _one(self, op_type: str, *inputs: Value, **attrs: object) -> Value:
        label = f"{self._name}/{op_type}"
        return self._builder.one(op_type, inputs, None, attrs, label)


class EngineLoop:
    """A loop whose steps the run counts.

    Attributes:
        step: the number of a step, int32 [].
        states: their values in a step.
    """

    def __init__(
        self,
        builder: GraphBuilder,
        name: str,
        trips: Value | None,
        go: Value | None,
        initial: Sequence[Value],
    ) -> None:
        """Begins it.

        Args:
            name: of the node that it becomes.
            trips: how many steps there are at most; None: no limit.
            go: whether there is a first one; None: there is.
            initial: the states before it.
        """
        self._builder = builder
        self._name = name
        self._trips = trips
        self._types = [value.dtype for value in initial]
        for value in initial:
            if value.quantization is not None:
                raise UnsupportedNodeError(
                    f"it hands on {value.name}, a quantized tensor; a loop whose steps "
                    "the run counts hands on floats and plain integers"
                )
        # There is at least one.
        given = [self._wide(value) for value in initial]
        if not given:
            zero = builder.graph.unique_name(f"{name}/zero")
            given = [builder.constant(zero, np.int32(0))]
        self._enters, self.step, *self._current = self._all(
            "LoopBegin", [go, trips, *given], {}, 2 + len(given)
        )
        self.states = [
            self._narrow(value, dtype)
            for value, dtype in zip(self._current, self._types)
        ]

    def end(
        self, again: Value | None, following: Sequence[Value], scanned: Sequence[Value]
    ) -> tuple[list[Value], list[Value]]:
        """The states after the last step, and the values of all steps, stacked.

        Args:
            again: whether another step may follow; None: it may.
            following: the next value of each state.
            scanned: values of a step.
        """
        for state, value in zip(self.states, following):
            if (
                not compatible(state.shape, value.shape)
                or state.dtype is not value.dtype
            ):
                raise UnsupportedNodeError(
                    f"a step makes {value.dtype.value} {format_shape(value.shape)} "
                    f"({value.name}) of {state.dtype.value} "
                    f"{format_shape(state.shape)}; a loop whose steps the run counts "
                    "must keep the shapes of what it hands on"
                )
        current = self._current
        ahead = [self._wide(value) for value in following] or current
        collected = [self._wide(value) for value in scanned]
        _, *ended = self._all(
            "LoopEnd",
            [
                *(self._enters, self.step, again, self._trips),
                *(*current, *ahead, *collected),
            ],
            {"states": len(current)},
            1 + len(current) + len(scanned),
        )
        types = [value.dtype for value in scanned]
        return (
            [self._narrow(*pair) for pair in zip(ended, self._types)],
            [self._narrow(*pair) for pair in zip(ended[len(current) :], types)],
        )

    def _all(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        attrs: dict[str, object],
        count: int,
    ) -> list[Value]:
        unique = self._builder.graph.unique_name
        names = [unique(f"{self._name}/{op_type}_{index}") for index in range(count)]
        values = self._builder.op(op_type, inputs, names, attrs)
        for value in values:
            value.source = None  # no tensor of the framework's
        return values

    def _wide(self, value: Value) -> Value:
        return value if value.dtype in _HANDED_ON else self._cast(value, DataType.INT32)

    def _narrow(self, value: Value, dtype: DataType) -> Value:
        return value if dtype in _HANDED_ON else self._cast(value, dtype)

    def _cast(self, value: Value, to: DataType) -> Value:
        attrs = {"to": to.value.upper()}
        return self._builder.one("Cast", [value], None, attrs, f"{self._name}/Cast")


def while_loop(
    builder: GraphBuilder,
    name: str,
    initial: Sequence[_T],
    condition: Callable[[Sequence[_T], str], Value],
    body: Callable[[Sequence[_T], str], Sequence[_T]],
    kept: Collection[int] = (),
) -> list[_T]:
    """What a loop hands on after its last step; it goes on while a condition holds.

    Args:
        name: of the node that it becomes.
        initial: what it hands on before its first step: values, and what no step
            changes.
        condition, body: become nodes for what is handed on, in a place that is named:
            whether there is a step, and what a step hands on.
        kept: the places of what no step changes, as weights.

    Raises:
        UnsupportedNodeError: a step changes the shape of a value, or something that is
            none.
    """

    def handed_on(values: Sequence[Value]) -> list[_T]:
        known = iter(values)
        return [
            item if index in kept or not isinstance(item, Value) else next(known)  # type: ignore[misc]
            for index, item in enumerate(initial)
        ]

    def values_of(items: Sequence[_T]) -> list[Value]:
        found: list[Value] = []
        for index, (item, first) in enumerate(zip(items, initial)):
            if index in kept:
                continue
            if isinstance(item, Value) and isinstance(first, Value):
                found.append(item)
            elif item is not first and item != first:
                raise UnsupportedNodeError(
                    "each run decides how many steps the loop has, and a step changes "
                    "a list of tensors"
                )
        return found

    go = _flag(builder, name, condition(initial, "first"))
    loop = EngineLoop(builder, name, None, go, values_of(initial))
    following = body(handed_on(loop.states), "step")
    again = _flag(builder, name, condition(following, "next"))
    ended, _ = loop.end(again, values_of(following), [])
    return handed_on(ended)


def _flag(builder: GraphBuilder, name: str, value: Value) -> Value:
    if value.dtype is DataType.BOOL:
        return value
    return builder.one("Cast", [value], None, {"to": "BOOL"}, f"{name}/Cast")

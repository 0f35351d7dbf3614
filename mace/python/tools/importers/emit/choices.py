# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Choices that each run makes between two branches, both of which become nodes.

The CPU runs only what the branch needs that is taken. If one of the branches cannot be
converted, a run that takes it ends with the reason.
"""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from mace.python.tools.importers.frame.budget import budget
from mace.python.tools.importers.frame.errors import UnsupportedNodeError, untaken
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.evaluate import ShapeError
from mace.python.tools.ir.graph import Value

_T = TypeVar("_T")
_LOG = logging.getLogger(__name__)
_CHOSEN = (DataType.FLOAT32, DataType.INT32)
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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A loop that the engine runs (mace/ops/loop)."""

from __future__ import annotations

from collections.abc import Sequence

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import Node
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import compatible, format_shape


class EngineLoop:
    """A loop whose steps the run counts.

    Attributes:
        step: the number of a step, int32 [].
        states: their values in a step.
    """

    def __init__(
        self,
        node: Node,
        trips: Value | None,
        go: Value | None,
        initial: Sequence[Value],
    ) -> None:
        """Begins it.

        Args:
            trips: how many steps there are at most; None: no limit.
            go: whether there is a first one; None: there is.
            initial: the states before it.
        """
        self._node = node
        self._trips = trips
        self._count = len(initial)
        # There is at least one.
        given = [*initial] or [node.literal(0, DataType.INT32)]
        self._enters, self.step, *self._current = node.make_all(
            "LoopBegin", [go, trips, *given], {}, 2 + len(given)
        )
        self.states = self._current[: self._count]

    def end(
        self, again: Value | None, following: Sequence[Value], scanned: Sequence[Value]
    ) -> tuple[list[Value], list[Value]]:
        """The states after the last step, and the values of all steps, stacked.

        Args:
            again: whether another step may follow; None: it may.
            following: the next value of each state.
            scanned: values of a step.
        """
        current = self._current
        for state, value in zip(current, following):
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
        values = [*current, *(following if self._count else current), *scanned]
        _, *ended = self._node.make_all(
            "LoopEnd",
            [self._enters, self.step, again, self._trips, *values],
            {"states": len(current)},
            1 + len(current) + len(scanned),
        )
        return ended[: self._count], ended[len(current) :]

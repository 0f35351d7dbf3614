# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for LoopBegin, LoopEnd and Fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.shapes import compatible, format_shape, product

# The inputs before the values.
BEGIN_VALUES, END_VALUES = 2, 4


class LoopBegin(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        _check_scalars(op, ("go", "trips"))
        initial = _values(op, BEGIN_VALUES)
        if len(op.outputs) != 2 + len(initial):
            raise ValueError(
                f"it has {len(initial)} initial values and {len(op.outputs)} outputs"
            )
        return [
            OutputType(DataType.BOOL, ()),
            OutputType(DataType.INT32, ()),
            *(OutputType(value.dtype, value.shape) for value in initial),
        ]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        go, trips, *initial = inputs
        enters = (go is None or bool(np.all(go))) and (
            trips is None or int(np.max(trips)) > 0
        )
        return [np.array(enters), np.array(0), *initial]


class LoopEnd(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        _check_scalars(op, ("enters", "step", "again", "trips"))
        values, states = _values(op, END_VALUES), op.attr("states")
        if len(values) < 2 * states or len(op.outputs) != 1 + len(values) - states:
            raise ValueError(
                f"it has {states} states, {len(values)} values and {len(op.outputs)} "
                "outputs"
            )
        results = [OutputType(DataType.BOOL, ())]
        for state, following in zip(values[:states], values[states:]):
            if state.dtype is not following.dtype or not compatible(
                state.shape, following.shape
            ):
                raise ValueError(
                    f"a round makes {following.dtype.value} "
                    f"{format_shape(following.shape)} ({following.name}) of "
                    f"{state.dtype.value} {format_shape(state.shape)} ({state.name}); "
                    "what a loop hands on must keep its shape"
                )
            results.append(OutputType(state.dtype, state.shape))
        for scanned in values[2 * states :]:
            trips = op.input(3) if op.inputs[3] is not None else None
            rounds = (
                max(int(trips.numpy().item()), 0)
                if trips is not None and trips.is_constant
                else None
            )
            shape = None if scanned.shape is None else (rounds, *scanned.shape)
            results.append(OutputType(scanned.dtype, shape))
        return results

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        """Of scanned values the one of this round alone."""
        enters, step, again, trips, *values = inputs
        states, last = op.attr("states"), None if trips is None else int(np.max(trips))
        more = (
            bool(enters)
            and (again is None or bool(np.all(again)))
            and (last is None or int(step) + 1 < last)
        )
        results = [np.array(more)]
        results += values[states : 2 * states] if enters else values[:states]
        for value in values[2 * states :]:
            collected = np.zeros((max(last or 0, 0), *np.shape(value)))
            if enters and int(step) < len(collected):
                collected[int(step)] = value
            results.append(collected)
        return results


class Fail(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        _check_scalars(op, ("condition",))
        x = op.input(1)
        return [OutputType(x.dtype, x.shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        condition, x = inputs
        if np.any(condition):
            raise ValueError(op.attr("message"))
        return [x]


def _check_scalars(op: Op, names: Sequence[str]) -> None:
    for name, value in zip(names, op.inputs):
        if value is not None and product(value.shape or ()) not in (1, None):
            raise ValueError(
                f"{name} has the shape {format_shape(value.shape)}, not one element"
            )


def _values(op: Op, first: int) -> list[Value]:
    values = op.inputs[first:]
    if not values or None in values:
        raise ValueError("a value is missing")
    return [value for value in values if value is not None]

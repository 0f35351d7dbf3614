# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""exp(x) - 1 and log(1 + x) with all their digits where x is near 0.

Written as they are spelled, the sum with 1 rounds x away: a third of the digits is lost
at 1e-3, and all of them below 6e-8.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.graph import Value


class _Steps:
    """Adds operators under the name of a framework's node."""

    def __init__(self, builder: GraphBuilder, name: str) -> None:
        self._builder = builder
        self._name = name

    def op(self, op_type: str, *inputs: Value, **attrs: Any) -> Value:
        return self._builder.one(op_type, inputs, None, attrs, self._name)

    def two(self, mode: str, a: Value, b: Value) -> Value:
        return self.op("Eltwise", a, b, mode=mode)

    def number(self, number: float) -> Value:
        return self._builder.constant(f"{self._name}/number", np.float32(number))


def expm1(builder: GraphBuilder, x: Value, name: str) -> Value:
    """exp(x) - 1 as tanh(x / 2) (exp(x) + 1), of which no part rounds x away."""
    steps = _Steps(builder, name)
    half = steps.two("MUL", x, steps.number(0.5))
    tanh = steps.op("Activation", half, activation="TANH")
    more = steps.two("ADD", steps.op("Eltwise", x, mode="EXP"), steps.number(1))
    return steps.two("MUL", tanh, more)


def log1p(builder: GraphBuilder, x: Value, name: str) -> Value:
    """log(1 + x). Near 0 it is 2 atanh(x / (2 + x))."""
    steps = _Steps(builder, name)
    two = steps.number(2)
    share = steps.two("DIV", x, steps.two("ADD", x, two))
    near = steps.two("MUL", steps.op("Trigonometric", share, mode="ATANH"), two)
    far = steps.op("Eltwise", steps.two("ADD", x, steps.number(1)), mode="LOG")
    size = steps.op("Eltwise", x, mode="ABS")
    is_near = steps.two("LESS", size, steps.number(0.5))
    return steps.op("Where", is_near, near, far)

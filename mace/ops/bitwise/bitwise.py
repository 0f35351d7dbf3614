# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Bitwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.base import int32_of
from mace.python.tools.ir.shapes import broadcast


def _amount(b: Array, most: int) -> Array:
    """Shifts by all bits where the number of bits is outside of 0 to 31."""
    wide = b.astype(np.int64)
    return np.where((wide < 0) | (wide > 31), most, wide)


_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
    "SHIFT_LEFT": lambda a, b: np.left_shift(a.astype(np.int64), _amount(b, 32)),
    "SHIFT_RIGHT": lambda a, b: np.right_shift(a.astype(np.int64), _amount(b, 31)),
}


class Bitwise(OpRules):
    inputs_share_axes = True
    broadcasts = True

    def infer(self, op: Op) -> list[OutputType]:
        a, b = op.input(0), op.get_input(1)
        if (b is None) != (op.attr("mode") == "NOT"):
            raise ValueError(f"mode {op.attr('mode')} takes {1 if b else 2} inputs")
        if b is None:
            return [OutputType(a.dtype, a.shape)]
        if a.shape is None or b.shape is None:
            return [OutputType(a.dtype, None)]
        return [OutputType(a.dtype, broadcast(a.shape, b.shape))]

    def can_exceed(self, op: Op) -> bool:
        return bool(op.attr("mode") == "SHIFT_LEFT")

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        if op.attr("mode") == "NOT":
            return [np.invert(inputs[0])]
        wide = _BINARY[op.attr("mode")](np.asarray(inputs[0]), np.asarray(inputs[1]))
        return [int32_of(op, wide)]

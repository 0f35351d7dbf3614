# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import (
    NARROW_TYPES,
    WIDE_TYPES,
    Bounds,
    BoundsOf,
    OpRules,
    OutputType,
    hull,
)
from mace.python.tools.ir.op_rules.axes import broadcast_axis
from mace.python.tools.ir.shapes import Dim, broadcast


class Where(OpRules):
    def computes_in(
        self, attrs: Mapping[str, Any], port: int, dtype: DataType
    ) -> Sequence[DataType]:
        return WIDE_TYPES if dtype in NARROW_TYPES else ()

    def infer(self, op: Op) -> list[OutputType]:
        condition, a, b = (op.input(i) for i in range(3))
        if a.dtype is not b.dtype:
            raise ValueError(f"{a.dtype.value} and {b.dtype.value} operands")
        if condition.shape is None or a.shape is None or b.shape is None:
            return [OutputType(a.dtype, None)]
        shape = broadcast(condition.shape, broadcast(a.shape, b.shape))
        return [OutputType(a.dtype, shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [np.where(*inputs)]

    def bounds(self, op: Op, known: BoundsOf) -> Bounds | None:
        return hull((known(op.input(1)), known(op.input(2))))

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        condition, a, b = inputs
        if condition is None or a is None or b is None:
            return None

        def chosen(yes: bool | None, one: Dim, other: Dim) -> Dim:
            if one == other:
                return one
            return None if yes is None else one if yes else other

        return np.asarray(np.frompyfunc(chosen, 3, 1)(condition, a, b), object)

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return broadcast_axis(op, axes)

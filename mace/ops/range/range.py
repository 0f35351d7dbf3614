# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dims import Dim, add, ceil_divide, maximum, multiply, subtract
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.movement import check_one_element, symbols
from mace.python.tools.ir.shapes import static


class Range(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        values = [op.input(i) for i in range(3)]
        dtype = values[0].dtype
        for value in values:
            if value.dtype is not dtype:
                raise ValueError(f"{dtype.value} and {value.dtype.value} inputs")
            check_one_element(value)
        if not all(value.is_constant for value in values):
            return [OutputType(dtype, (_open_count(values),))]
        count = _count(*(value.numpy().reshape(()) for value in values))
        return [OutputType(dtype, (count,))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        start, limit, delta = (np.asarray(x).reshape(()) for x in inputs)
        steps = np.arange(_count(start, limit, delta))
        wide = np.float64 if start.dtype.kind == "f" else np.int64
        return [wide(start) + steps * wide(delta)]

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        count = static(op.output.shape)
        start, delta = inputs[0], inputs[2]
        if count is None or start is None or delta is None:
            return None
        numbers = [
            add(start.reshape(-1)[0], multiply(i, delta.reshape(-1)[0]))
            for i in range(count[0])
        ]
        return symbols(numbers)


def _open_count(values: Sequence[Value]) -> Dim:
    """How many numbers there are, if they start, end and step at dimensions."""
    if values[0].dtype is not DataType.INT32:
        return None
    start, limit, delta = (
        value.numpy().reshape(-1).tolist()[0]
        if value.is_constant
        else None
        if value.dims is None
        else value.dims.reshape(-1)[0]
        for value in values
    )
    if not isinstance(delta, int) or delta <= 0:
        return None
    return ceil_divide(maximum(subtract(limit, start), 0), delta)


def _count(start: Array, limit: Array, delta: Array) -> int:
    if delta == 0:
        raise ValueError("delta is 0")
    count = math.nan
    with np.errstate(all="ignore"):
        if start.dtype.kind == "f":
            count = float(np.ceil(np.float64(limit - start) / np.float64(delta)))
        else:
            count = -((int(start) - int(limit)) // int(delta))
    if not abs(count) < 2**31:
        raise ValueError(f"from {start} to {limit} there are no {count} elements")
    return max(int(count), 0)

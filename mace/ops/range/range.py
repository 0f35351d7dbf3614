# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.shapes import static


class Range(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        values = [op.input(i) for i in range(3)]
        dtype = values[0].dtype
        for value in values:
            if value.dtype is not dtype:
                raise ValueError(f"{dtype.value} and {value.dtype.value} inputs")
            shape = static(value.shape)
            if shape is not None and math.prod(shape) != 1:
                raise ValueError(f"an input has the shape {list(shape)}")
        if not all(value.is_constant for value in values):
            return [OutputType(dtype, (None,))]
        count = _count(*(value.numpy().reshape(()) for value in values))
        return [OutputType(dtype, (count,))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        start, limit, delta = (np.asarray(x).reshape(()) for x in inputs)
        steps = np.arange(_count(start, limit, delta))
        wide = np.float64 if start.dtype.kind == "f" else np.int64
        return [wide(start) + steps * wide(delta)]


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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for MatMulInteger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.matrices import product_macs, product_shape
from mace.python.tools.ir.shapes import compatible, format_shape


class MatMulInteger(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        _check_zero(op, 0, -2)
        _check_zero(op, 1, -1)
        return [OutputType(DataType.INT32, product_shape(op.input(0), op.input(1)))]

    def macs(self, op: Op) -> int | None:
        return product_macs(op)

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        a, b = (np.asarray(i, np.int64) for i in inputs[:2])
        if len(inputs) > 2 and inputs[2] is not None:
            zero = np.asarray(inputs[2], np.int64)
            a = a - (zero.reshape(-1, 1) if zero.ndim else zero)
        if len(inputs) > 3 and inputs[3] is not None:
            b = b - np.asarray(inputs[3], np.int64)
        return [(a @ b).astype(np.int32)]


def _check_zero(op: Op, operand: int, axis: int) -> None:
    x, zero = op.input(operand), op.get_input(operand + 2)
    if zero is None:
        return
    name = "ab"[operand]
    if zero.dtype is not x.dtype:
        raise ValueError(
            f"{name} is {x.dtype.value}, its zero point {zero.dtype.value}"
        )
    if x.shape is None or len(x.shape) < 2 or zero.shape in (None, (), (1,)):
        return
    if not compatible(zero.shape, (x.shape[axis],)):
        raise ValueError(
            f"the zero point of {name} must be [1] or {format_shape((x.shape[axis],))}"
        )

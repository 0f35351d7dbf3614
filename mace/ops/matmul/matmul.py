# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for MatMul."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.matrices import product_shape


class MatMul(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        a, b = op.input(0), op.input(1)
        shape = product_shape(a, b, op.attr("transpose_a"), op.attr("transpose_b"))
        return [OutputType(a.dtype, shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        a, b = (np.asarray(i, np.float64) for i in inputs[:2])
        if op.attr("transpose_a"):
            a = a.swapaxes(-1, -2)
        if op.attr("transpose_b"):
            b = b.swapaxes(-1, -2)
        return [a @ b]

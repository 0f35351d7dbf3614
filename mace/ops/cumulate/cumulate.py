# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Cumulate."""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OutputType
from mace.python.tools.ir.op_rules.movement import Scan

_LEAST, _LARGEST = -(2**31), 2**31 - 1


class Cumulate(Scan):
    def infer(self, op: Op) -> list[OutputType]:
        if op.attr("mode") == "LOG_SUM_EXP" and not op.input(0).dtype.is_float:
            raise ValueError("LOG_SUM_EXP of integers")
        return super().infer(op)

    def can_exceed(self, op: Op) -> bool:
        return op.output.dtype is DataType.INT32 and op.attr("mode") == "PROD"

    def accumulated(self, op: Op, x: Array) -> tuple[Array, float]:
        is_float = x.dtype.kind == "f"
        # Products of integers may have any size.
        x = x.astype(np.float64 if is_float else object)
        least, largest = (-np.inf, np.inf) if is_float else (_LEAST, _LARGEST)
        function, of_none = {
            "PROD": (np.multiply, 1),
            "MAX": (np.maximum, least),
            "MIN": (np.minimum, largest),
            "LOG_SUM_EXP": (np.logaddexp, -np.inf),
        }[op.attr("mode")]
        with np.errstate(all="ignore"):
            return function.accumulate(x, 0) if x.size else x, of_none

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for CumSum."""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules.movement import Scan


class CumSum(Scan):
    def can_exceed(self, op: Op) -> bool:
        return op.output.dtype is DataType.INT32

    def accumulated(self, op: Op, x: Array) -> tuple[Array, float]:
        dtype = np.float64 if x.dtype.kind == "f" else np.int64
        return np.cumsum(x, 0, dtype=dtype), 0

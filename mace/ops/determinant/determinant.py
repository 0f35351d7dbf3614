# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Determinant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.shapes import format_shape


class Determinant(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is None:
            return [OutputType(x.dtype, None)]
        last = x.shape[-2:]
        known = all(isinstance(dim, int) for dim in last)
        if len(last) < 2 or (known and last[0] != last[1]):
            raise ValueError(f"{format_shape(x.shape)} are no square matrices")
        return [OutputType(x.dtype, x.shape[:-2])]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [np.asarray(np.linalg.det(np.asarray(inputs[0], np.float64)))]

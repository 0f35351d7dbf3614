# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for LookupTable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.shapes import compatible

_ENTRIES = 256


class LookupTable(OpRules):
    elementwise = True

    def infer(self, op: Op) -> list[OutputType]:
        x, table = op.input(0), op.input(1)
        rank = None if table.shape is None else len(table.shape)
        if table.shape is not None and (
            rank not in (1, 2) or not compatible(table.shape[-1:], (_ENTRIES,))
        ):
            raise ValueError("the table must be [256] or [C, 256]")
        if rank == 2 and x.shape is not None:
            assert table.shape is not None
            if not compatible(x.shape[-1:], table.shape[:1]):
                raise ValueError("there must be a table for each channel of the input")
        return [OutputType(table.dtype, x.shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, table = inputs
        bytes_ = np.asarray(x).view(np.uint8)
        if table.ndim == 1:
            return [table[bytes_]]
        return [table[np.arange(len(table)), bytes_]]

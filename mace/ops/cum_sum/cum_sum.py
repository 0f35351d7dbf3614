# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for CumSum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.axes import beside, of_first
from mace.python.tools.ir.op_rules.integers import int32_of
from mace.python.tools.ir.op_rules.transposes import sink_along_axis
from mace.python.tools.ir.shapes import normalize_axis


class CumSum(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is not None:
            normalize_axis(op.attr("axis"), len(x.shape))
        return [OutputType(x.dtype, x.shape)]

    def can_exceed(self, op: Op) -> bool:
        return op.output.dtype is DataType.INT32

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, axis = np.asarray(inputs[0]), op.attr("axis")
        dtype = np.float64 if x.dtype.kind == "f" else np.int64
        x = np.moveaxis(x, axis, 0)
        if op.attr("reverse"):
            x = x[::-1]
        sums = np.cumsum(x, 0, dtype=dtype)
        if op.attr("exclusive"):
            sums = np.concatenate([np.zeros_like(sums[:1]), sums[:-1]])
        if op.attr("reverse"):
            sums = sums[::-1]
        sums = np.moveaxis(sums, 0, axis)
        return [sums if x.dtype.kind == "f" else int32_of(op, sums)]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return sink_along_axis(op, perm)

    def is_identity(self, op: Op) -> bool:
        shape = op.input(0).shape
        if shape is None or op.attr("exclusive"):
            return False
        return bool(shape[op.attr("axis")] == 1)

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        # Elements before another one count if it does.
        return beside(op, axes) if op.attr("reverse") else of_first(axes)

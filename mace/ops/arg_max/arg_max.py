# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for ArgMax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.axes import beside
from mace.python.tools.ir.op_rules.movement import sink_along_axis
from mace.python.tools.ir.shapes import format_shape, normalize_axis


class ArgMax(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is None:
            return [OutputType(DataType.INT32, None)]
        axis = normalize_axis(op.attr("axis"), len(x.shape))
        if x.shape[axis] == 0:
            raise ValueError(f"axis {axis} of {format_shape(x.shape)} has length 0")
        return [OutputType(DataType.INT32, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, axis = inputs[0], op.attr("axis")
        find = np.argmax if op.attr("mode") == "MAX" else np.argmin
        if not op.attr("last"):
            return [np.asarray(find(x, axis, keepdims=True))]
        from_behind = find(np.flip(x, axis), axis, keepdims=True)
        return [np.asarray(x.shape[axis] - 1 - from_behind)]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return sink_along_axis(op, perm)

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return beside(op, axes)

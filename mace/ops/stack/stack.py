# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OutputType
from mace.python.tools.ir.op_rules.axes import of_all
from mace.python.tools.ir.op_rules.movement import MovementRules, given_inputs
from mace.python.tools.ir.shapes import compatible, normalize_axis


class Stack(MovementRules):
    joins_elements = True

    def infer(self, op: Op) -> list[OutputType]:
        values = given_inputs(op)
        shape = values[0].shape
        if shape is None:
            return [OutputType(values[0].dtype, None)]
        if not all(compatible(v.shape, shape) for v in values):
            raise ValueError("the shapes differ")
        axis = normalize_axis(op.attr("axis"), len(shape) + 1)
        dims = (*shape[:axis], len(values), *shape[axis:])
        return [OutputType(values[0].dtype, dims)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [np.stack(inputs, op.attr("axis"))]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        axis, shape = of_all(op, axes), op.input(0).shape
        if axis is None or shape is None:
            return None
        added = normalize_axis(op.attr("axis"), len(shape) + 1)
        return axis + 1 if added <= axis else axis

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Concat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dims import add
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.axes import of_all
from mace.python.tools.ir.op_rules.movement import (
    MovementRules,
    given_inputs,
    sink_along_axis,
)
from mace.python.tools.ir.shapes import compatible, format_shape, normalize_axis


class Concat(MovementRules):
    joins_elements = True
    inputs_share_axes = True

    def infer(self, op: Op) -> list[OutputType]:
        values = given_inputs(op)
        shapes = [v.shape for v in values if v.shape is not None]
        if len(shapes) != len(values):
            return [OutputType(values[0].dtype, None)]
        axis = normalize_axis(op.attr("axis"), len(shapes[0]))
        result = list(shapes[0])
        for shape in shapes[1:]:
            rest = (*shape[:axis], result[axis], *shape[axis + 1 :])
            if not compatible(rest, tuple(result)):
                raise ValueError(f"{format_shape(shape)} does not fit the first")
            for i, dim in enumerate(shape):
                if i == axis:
                    result[i] = add(result[i], dim)
                elif not isinstance(result[i], int):
                    result[i] = dim
        return [OutputType(values[0].dtype, tuple(result))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [np.concatenate(inputs, op.attr("axis"))]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return sink_along_axis(op, perm)

    def is_identity(self, op: Op) -> bool:
        return len(op.inputs) == 1

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        axis, shape = of_all(op, axes), op.input(0).shape
        if axis is None or shape is None:
            return None
        return None if axis == normalize_axis(op.attr("axis"), len(shape)) else axis

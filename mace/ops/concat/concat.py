# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Concat, Split and Stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dims import add, floor_divide
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.axes import beside, of_all
from mace.python.tools.ir.op_rules.movement import (
    MovementRules,
    given_inputs,
    sink_along_axis,
)
from mace.python.tools.ir.shapes import Dim, compatible, format_shape, normalize_axis


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


class Split(OpRules):
    keeps_elements = True

    def infer(self, op: Op) -> list[OutputType]:
        x, count = op.input(0), len(op.outputs)
        if x.shape is None:
            return [OutputType(x.dtype, None)] * count
        axis = normalize_axis(op.attr("axis"), len(x.shape))
        dim, sizes = x.shape[axis], op.attr("sizes")
        parts: Sequence[Dim] = sizes
        if not sizes:
            if isinstance(dim, int) and dim % count:
                raise ValueError(f"{dim} cannot be cut into {count} equal parts")
            parts = [floor_divide(dim, count)] * count
        elif len(sizes) != count or (isinstance(dim, int) and sum(sizes) != dim):
            raise ValueError(f"sizes {list(sizes)} do not cut {dim} in {count}")
        return [
            OutputType(x.dtype, (*x.shape[:axis], part, *x.shape[axis + 1 :]))
            for part in parts
        ]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, axis, sizes = inputs[0], op.attr("axis"), op.attr("sizes")
        if not sizes:
            return list(np.split(x, len(op.outputs), axis))
        return list(np.split(x, np.cumsum(sizes)[:-1], axis))

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return sink_along_axis(op, perm)

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return beside(op, axes)


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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Reshape, Squeeze, ExpandDims and Identity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.axes import broadcast_axis, of_first, without
from mace.python.tools.ir.op_rules.movement import (
    MovementRules,
    ReshapeRules,
    reshape_attribute,
    reshape_before_transpose,
    reshaped,
    without_axes,
)
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import (
    format_shape,
    normalize_axis,
    permute,
    static,
    to_ints,
)


class Reshape(ReshapeRules):
    def infer(self, op: Op) -> list[OutputType]:
        x, shape_value = op.input(0), op.get_input(1)
        if shape_value is not None:
            if op.attr("shape"):
                raise ValueError("has both an input and an attribute shape")
            if shape_value.rank not in (None, 1):
                found = format_shape(shape_value.shape)
                raise ValueError(f"the input shape is {found}, not of one dimension")
        if shape_value is None:
            wanted = op.attr("shape")
        elif shape_value.is_constant:
            wanted = shape_value.numpy().reshape(-1).tolist()
        elif shape_value.dims is not None and None not in shape_value.dims:
            wanted = list(shape_value.dims)
        else:
            rank = shape_value.shape[0] if shape_value.shape else None
            known = isinstance(rank, int)
            return [OutputType(x.dtype, (None,) * int(rank or 0) if known else None)]
        return [OutputType(x.dtype, reshaped(x.shape, wanted, op.attr("allow_zero")))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = inputs[0]
        wanted = inputs[1].tolist() if len(inputs) > 1 else op.attr("shape")
        shape = reshaped(x.shape, wanted, op.attr("allow_zero"))
        return [x.reshape(to_ints(shape))]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        turned, target = op.input(0).shape, op.output.shape
        if turned is None or target is None or op.get_input(1) is not None:
            return None
        source = permute(turned, tuple(perm.index(axis) for axis in range(len(perm))))
        found = reshape_before_transpose(source, perm, target)
        if found is None:
            return None
        made, output_perm = found
        shape = reshape_attribute(source, made)
        if shape is None:
            return None
        return SunkTranspose(output_perm, {"shape": shape, "allow_zero": False})

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        return super().symbolic(op, inputs) if len(inputs) == 1 else None

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        """The only axis with as many elements before and behind."""
        axis = of_first(axes)
        before, after = static(op.input(0).shape), static(op.output.shape)
        if axis is None or before is None or after is None or 0 in before:
            return None
        outer, inner = math.prod(before[:axis]), math.prod(before[axis + 1 :])
        places = [
            place
            for place, length in enumerate(after)
            if length == before[axis]
            and math.prod(after[:place]) == outer
            and math.prod(after[place + 1 :]) == inner
        ]
        return places[0] if len(places) == 1 else None


class Squeeze(ReshapeRules):
    def infer(self, op: Op) -> list[OutputType]:
        x, axes = op.input(0), op.attr("axes")
        if x.shape is None:
            return [OutputType(x.dtype, None)]
        if not axes:
            if any(not isinstance(dim, int) for dim in x.shape):
                return [OutputType(x.dtype, None)]
            return [OutputType(x.dtype, tuple(d for d in x.shape if d != 1))]
        gone = {normalize_axis(axis, len(x.shape)) for axis in axes}
        for axis in gone:
            if isinstance(x.shape[axis], int) and x.shape[axis] != 1:
                raise ValueError(f"axis {axis} is not 1")
        kept = tuple(d for i, d in enumerate(x.shape) if i not in gone)
        return [OutputType(x.dtype, kept)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = inputs[0]
        axes = {normalize_axis(axis, x.ndim) for axis in op.attr("axes")}
        return [np.squeeze(x, tuple(axes) or None)]

    def quantization(self, op: Op) -> list[Quantization | None]:
        given, shape = op.input(0).quantization, op.input(0).shape
        if given is None or given.per_tensor or shape is None:
            return super().quantization(op)
        axes = op.attr("axes") or [i for i, dim in enumerate(shape) if dim == 1]
        gone = {normalize_axis(axis, len(shape)) for axis in axes}
        # An axis with several scales does not have length 1, and is kept.
        return [given.on_axis(given.axis - sum(axis < given.axis for axis in gone))]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        axes = op.attr("axes")
        if not axes:
            return None
        moved = sorted({perm[axis] for axis in axes})
        return SunkTranspose(without_axes(perm, axes), {"axes": moved})

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        axis, shape = of_first(axes), op.input(0).shape
        if axis is None or shape is None or not op.attr("axes"):
            return None
        return without({normalize_axis(a, len(shape)) for a in op.attr("axes")}, axis)


class ExpandDims(ReshapeRules):
    def infer(self, op: Op) -> list[OutputType]:
        x, axes = op.input(0), op.attr("axes")
        if x.shape is None:
            return [OutputType(x.dtype, None)]
        rank = len(x.shape) + len(axes)
        ones = {normalize_axis(axis, rank) for axis in axes}
        if len(ones) != len(axes):
            raise ValueError(f"axes {list(axes)} repeat")
        rest = iter(x.shape)
        shape = tuple(1 if i in ones else next(rest) for i in range(rank))
        return [OutputType(x.dtype, shape)]

    def quantization(self, op: Op) -> list[Quantization | None]:
        given, shape = op.input(0).quantization, op.input(0).shape
        if given is None or given.per_tensor or shape is None:
            return super().quantization(op)
        axes = op.attr("axes")
        rank = len(shape) + len(axes)
        ones = {normalize_axis(axis, rank) for axis in axes}
        kept = [axis for axis in range(rank) if axis not in ones]
        return [given.on_axis(kept[given.axis])]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [np.expand_dims(inputs[0], tuple(op.attr("axes")))]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        axis, shape = of_first(axes), op.input(0).shape
        if axis is None or shape is None:
            return None
        rank = len(shape) + len(op.attr("axes"))
        added = {normalize_axis(a, rank) for a in op.attr("axes")}
        return [i for i in range(rank) if i not in added][axis]


class Identity(MovementRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        return [OutputType(x.dtype, x.shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [inputs[0]]

    def quantization(self, op: Op) -> list[Quantization | None]:
        return [op.input(0).quantization]

    def is_identity(self, op: Op) -> bool:
        return True

    def known_outputs(self, op: Op) -> list[Constant] | None:
        # The same constant, however large, with its recipe.
        constant = op.input(0).constant
        return None if constant is None else [constant]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return broadcast_axis(op, axes)

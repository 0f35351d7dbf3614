# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Squeeze."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.axes import of_first, without
from mace.python.tools.ir.op_rules.movement import ReshapeRules, without_axes
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import normalize_axis


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

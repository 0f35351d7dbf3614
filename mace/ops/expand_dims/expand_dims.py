# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for ExpandDims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OutputType
from mace.python.tools.ir.op_rules.axes import of_first
from mace.python.tools.ir.op_rules.movement import ReshapeRules
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import normalize_axis


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

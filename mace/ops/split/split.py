# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dims import floor_divide
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.axes import beside
from mace.python.tools.ir.op_rules.movement import sink_along_axis
from mace.python.tools.ir.shapes import Dim, normalize_axis


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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Gather."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules import OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.movement import MovementRules, without_axes
from mace.python.tools.ir.shapes import Dim, normalize_axis


class Gather(MovementRules):
    keeps_elements = True

    def infer(self, op: Op) -> list[OutputType]:
        params, indices = op.input(0), op.input(1)
        if params.shape is None or indices.shape is None:
            return [OutputType(params.dtype, None)]
        axis = normalize_axis(op.attr("axis"), len(params.shape))
        _check_indices(indices, params.shape[axis])
        before, after = params.shape[:axis], params.shape[axis + 1 :]
        return [OutputType(params.dtype, (*before, *indices.shape, *after))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [np.take(inputs[0], inputs[1], op.attr("axis"))]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        rank = op.input(1).rank
        if rank not in (0, 1):
            return None
        axis = op.attr("axis")
        output = perm if rank == 1 else without_axes(perm, [axis])
        return SunkTranspose(output, {"axis": perm[axis]})

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        params, indices = inputs
        if params is None or indices is None:
            return None
        if not all(isinstance(index, int) for index in indices.flat):
            return None
        return self._moved(op, [params], [indices.astype(np.int64)])

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        if len(axes) != 1:
            return None
        ((port, moved),) = axes.items()
        data, indices = op.input(0).shape, op.input(1).shape
        if data is None or indices is None:
            return None
        axis = normalize_axis(op.attr("axis"), len(data))
        if port == 1:
            return axis + moved
        if moved == axis:
            return None
        return moved + (len(indices) - 1 if moved > axis else 0)


def _check_indices(indices: Value, size: Dim) -> None:
    if not indices.is_constant or not isinstance(size, int):
        return
    for index in indices.numpy().reshape(-1).tolist():
        if not -size <= index < size:
            raise ValueError(f"index {index} is outside a length of {size}")

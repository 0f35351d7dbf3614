# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for GatherElements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OutputType
from mace.python.tools.ir.op_rules.movement import MovementRules
from mace.python.tools.ir.shapes import Dim, normalize_axis


class GatherElements(MovementRules):
    keeps_elements = True

    def infer(self, op: Op) -> list[OutputType]:
        params, indices = op.input(0), op.input(1)
        if params.shape is not None and indices.shape is not None:
            axis = normalize_axis(op.attr("axis"), len(params.shape))
            _check_shape(params.shape, indices.shape, axis)
            length = params.shape[axis]
            if indices.is_constant and isinstance(length, int):
                _check_indices(indices.numpy(), length)
        return [OutputType(params.dtype, indices.shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        params, indices = np.asarray(inputs[0]), np.asarray(inputs[1])
        axis = op.attr("axis") % params.ndim
        # Other axes may be longer than those of the indices.
        kept = tuple(
            slice(None) if i == axis else slice(dim)
            for i, dim in enumerate(indices.shape)
        )
        return [np.take_along_axis(params[kept], indices, axis)]

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        params, indices = inputs
        if params is None or indices is None:
            return None
        if not all(isinstance(index, int) for index in indices.flat):
            return None
        return self._moved(op, [params], [indices.astype(np.int64)])

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        # Indices have the axes of the output.
        return axes[1] if set(axes) == {1} else None


def _check_shape(params: Sequence[Dim], indices: Sequence[Dim], axis: int) -> None:
    if len(params) != len(indices):
        raise ValueError(
            f"the indices have {len(indices)} dimensions, params {len(params)}"
        )
    for i, (own, wanted) in enumerate(zip(params, indices)):
        known = isinstance(own, int) and isinstance(wanted, int)
        if i != axis and known and wanted > own:  # type: ignore[operator]
            raise ValueError(
                f"dimension {i} of the indices is {wanted}, that of params only {own}"
            )


def _check_indices(indices: Array, length: int) -> None:
    for index in indices.reshape(-1).tolist():
        if not -length <= index < length:
            raise ValueError(f"index {index} is outside a length of {length}")

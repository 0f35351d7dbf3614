# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for GatherNd."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OutputType
from mace.python.tools.ir.op_rules.movement import MovementRules
from mace.python.tools.ir.shapes import Shape


class GatherNd(MovementRules):
    keeps_elements = True

    def infer(self, op: Op) -> list[OutputType]:
        params, indices = op.input(0), op.input(1)
        if params.shape is None or indices.shape is None:
            return [OutputType(params.dtype, None)]
        batch = op.attr("batch_dims")
        if len(indices.shape) <= batch or len(params.shape) < batch:
            raise ValueError(
                f"params of {len(params.shape)} dimensions and indices of "
                f"{len(indices.shape)} have no {batch} batch dimensions"
            )
        for own, other in zip(params.shape[:batch], indices.shape[:batch]):
            if isinstance(own, int) and isinstance(other, int) and own != other:
                raise ValueError(f"batch dimensions of {own} and {other}")
        axes = indices.shape[-1]
        if not isinstance(axes, int):
            return [OutputType(params.dtype, None)]
        if batch + axes > len(params.shape):
            raise ValueError(
                f"indices along {axes} axes for params of {len(params.shape)} "
                f"dimensions, {batch} of which are batch dimensions"
            )
        if indices.is_constant:
            _check_positions(indices.numpy(), params.shape[batch:])
        shape = (*indices.shape[:-1], *params.shape[batch + axes :])
        return [OutputType(params.dtype, shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        params, indices = np.asarray(inputs[0]), np.asarray(inputs[1])
        batch = op.attr("batch_dims")
        shape = (*indices.shape[:-1], *params.shape[batch + indices.shape[-1] :])
        outer = math.prod(params.shape[:batch])
        flat = params.reshape((outer, *params.shape[batch:]))
        count = math.prod(indices.shape[batch:-1])
        positions = indices.reshape((outer, count, indices.shape[-1]))
        rows = np.broadcast_to(np.arange(outer)[:, None], (outer, count))
        place = (rows, *np.moveaxis(positions, -1, 0))
        return [flat[place].reshape(shape)]

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        params, indices = inputs
        if params is None or indices is None:
            return None
        if not all(isinstance(index, int) for index in indices.flat):
            return None
        return self._moved(op, [params], [indices.astype(np.int64)])

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        shape = op.input(1).shape
        if set(axes) != {1} or shape is None:
            return None
        return axes[1] if op.attr("batch_dims") <= axes[1] < len(shape) - 1 else None


def _check_positions(indices: Array, dims: Shape) -> None:
    """Refuses constant positions outside of their axes."""
    for axis, dim in enumerate(dims[: indices.shape[-1]]):
        along = indices[..., axis]
        if isinstance(dim, int) and along.size:
            for index in (int(along.min()), int(along.max())):
                if not -dim <= index < dim:
                    raise ValueError(f"index {index} is outside a length of {dim}")

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Trim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.shapes import format_shape, normalize_axis


class Trim(OpRules):
    largest_shape = True

    def infer(self, op: Op) -> list[OutputType]:
        x, count = op.input(0), op.input(1)
        if count.shape is not None and not all(
            dim == 1 for dim in count.shape if isinstance(dim, int)
        ):
            raise ValueError(
                f"count has the shape {format_shape(count.shape)}; it takes one element"
            )
        if x.shape is None:
            return [OutputType(x.dtype, None)]
        axis = normalize_axis(op.attr("axis"), len(x.shape))
        shape = list(x.shape)
        dim = shape[axis]
        if not isinstance(dim, int):
            shape[axis] = None
        elif count.is_constant:
            shape[axis] = _kept(dim, count.numpy())
        return [OutputType(x.dtype, tuple(shape))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = np.asarray(inputs[0])
        axis = normalize_axis(op.attr("axis"), x.ndim)
        kept = _kept(x.shape[axis], inputs[1])
        return [x[(slice(None),) * axis + (slice(kept),)]]


def _kept(dim: int, count: Any) -> int:
    return int(np.clip(np.asarray(count).reshape(-1)[0], 0, dim))

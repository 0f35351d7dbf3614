# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for OneHot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.shapes import compatible, format_shape, normalize_axis


class OneHot(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        indices, values = op.input(0), op.input(1)
        if not compatible(values.shape, (2,)):
            found = format_shape(values.shape)
            raise ValueError(f"the values must be [2], not {found}")
        if indices.shape is None:
            return [OutputType(values.dtype, None)]
        axis = normalize_axis(op.attr("axis"), len(indices.shape) + 1)
        dims = list(indices.shape)
        dims.insert(axis, op.attr("depth"))
        return [OutputType(values.dtype, tuple(dims))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        indices, (off, on) = np.asarray(inputs[0]), inputs[1]
        depth, axis = op.attr("depth"), op.attr("axis")
        if op.attr("wrap"):
            indices = np.where(indices < 0, indices + depth, indices)
        rank = indices.ndim + 1
        places = np.arange(depth).reshape(
            [-1 if i == axis % rank else 1 for i in range(rank)]
        )
        met = np.expand_dims(indices, axis) == places
        return [np.where(met, on, off).astype(np.asarray(inputs[1]).dtype)]

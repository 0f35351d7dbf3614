# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for FullyConnected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OutputType
from mace.python.tools.ir.op_rules.activations import activate, check_fused
from mace.python.tools.ir.op_rules.axes import beside_last
from mace.python.tools.ir.op_rules.matrices import (
    WeightedSums,
    dense_shape,
    matrix_extents,
    product_macs,
)


class FullyConnected(WeightedSums):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        columns, depth = matrix_extents(op.input(1))
        check_fused(op)
        shape = dense_shape(x, depth, columns, op.get_input(2), op.get_input(3))
        return [OutputType(x.dtype, shape)]

    def macs(self, op: Op) -> int | None:
        return product_macs(op)

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, weights = (np.asarray(i, np.float64) for i in inputs[:2])
        result = x @ weights.T
        for added in inputs[2:]:  # bias and residual
            if added is not None:
                result = result + added
        return [activate(op, result)]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return beside_last(op, axes)

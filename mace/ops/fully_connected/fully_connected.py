# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for FullyConnected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OutputType
from mace.python.tools.ir.op_rules.activations import activate, check_fused
from mace.python.tools.ir.op_rules.matrices import product_macs
from mace.python.tools.ir.op_rules.weighted_sums import WeightedSums
from mace.python.tools.ir.shapes import compatible, format_shape


class FullyConnected(WeightedSums):
    def infer(self, op: Op) -> list[OutputType]:
        x, weights = op.input(0), op.input(1)
        if weights.shape is None or len(weights.shape) != 2:
            raise ValueError("the weights must have 2 dimensions")
        out, depth = weights.shape
        if 0 in (out, depth):
            raise ValueError("the weights have no elements")
        check_fused(op)
        bias = op.get_input(2)
        if bias is not None and not compatible(bias.shape, (out,)):
            raise ValueError(f"the bias must be [{out}]")
        if x.shape is None:
            return [OutputType(x.dtype, None)]
        if not x.shape or not compatible(x.shape[-1:], (depth,)):
            raise ValueError(f"the innermost dimension must be {depth}")
        shape = (*x.shape[:-1], out)
        residual = op.get_input(3)
        if residual is not None and not compatible(residual.shape, shape):
            raise ValueError(f"the residual must be {format_shape(shape)}")
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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for DynamicQuantizeMatMul."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.activations import activate, check_fused
from mace.python.tools.ir.op_rules.matrices import (
    dense_shape,
    matrix_extents,
    product_macs,
)
from mace.python.tools.ir.shapes import compatible

# A range that is narrower counts as 0: scales stay far from subnormal numbers.
_LEAST_SPAN = np.float32(2**-100)


class DynamicQuantizeMatMul(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        depth, columns = matrix_extents(op.input(1))
        check_fused(op)
        _check_columns(op.input(2), "scales", columns)
        _check_columns(op.get_input(3), "zero points", columns)
        shape = dense_shape(x, depth, columns, op.get_input(4), op.get_input(5))
        return [OutputType(x.dtype, shape)]

    def macs(self, op: Op) -> int | None:
        return product_macs(op)

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        """To the bit, but for activations that are not limits."""
        x = np.asarray(inputs[0], np.float32)
        weights, weight_scales = inputs[1:3]
        zeros, bias, residual = (*inputs[3:], None, None, None)[:3]
        rows = x.reshape(-1, x.shape[-1])
        ranges = rows if op.attr("range") == "ROW" else rows.reshape(1, -1)
        scale, zero = row_scales(ranges)
        steps = np.rint(rows / scale) + zero
        integers = np.where(np.isnan(steps), 0, np.clip(steps, 0, 255)) - zero
        wide = weights.astype(np.float64) - (0 if zeros is None else zeros)
        # float64 holds the sums, as long as they are not of millions of products.
        sums = (integers.astype(np.float64) @ wide).astype(np.int64).astype(np.int32)
        factors = scale * np.asarray(weight_scales, np.float32)
        result = sums.astype(np.float32) * factors
        if bias is not None:
            result = result + bias
        result = result.reshape(*x.shape[:-1], weights.shape[1])
        if residual is not None:
            result = result + residual
        return [activate(op, result)]


def row_scales(rows: Array) -> tuple[Array, Array]:
    """The scale and the zero point of each row of float32, as columns of float32.

    NaN is the scale of a row with numbers that are not finite.
    """
    with np.errstate(all="ignore"):
        low = np.minimum(rows.min(axis=1, initial=0), np.float32(0))
        high = np.maximum(rows.max(axis=1, initial=0), np.float32(0))
        span = high - low
        finite = np.isfinite(span) & np.isfinite(rows).all(axis=1)
        scale = np.where(span < _LEAST_SPAN, np.float32(1), span / np.float32(255))
        scale = np.where(finite, scale, np.float32(np.nan)).astype(np.float32)
        zero = np.clip(np.rint(-low / scale), 0, 255)
        zero = np.where(finite & (span >= _LEAST_SPAN), zero, 0).astype(np.float32)
    return scale[:, None], zero[:, None]


def _check_columns(value: Value | None, what: str, columns: int) -> None:
    if value is None or value.shape in ((), (1,)):
        return
    if not compatible(value.shape, (columns,)):
        raise ValueError(
            f"the {what} of the weights must be one number, or [{columns}]"
        )

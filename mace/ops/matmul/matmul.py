# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for MatMul, MatMulInteger, DynamicQuantizeMatMul and
Determinant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.activations import activate, check_fused
from mace.python.tools.ir.op_rules.matrices import (
    dense_shape,
    dynamic_product,
    matrix_extents,
    product_macs,
    product_shape,
)
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_ops import (
    integers_of,
    requantized,
    scale_of,
    zero_of,
)
from mace.python.tools.ir.shapes import compatible, format_shape


class MatMul(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        a, b = op.input(0), op.input(1)
        shape = product_shape(a, b, op.attr("transpose_a"), op.attr("transpose_b"))
        return [OutputType(a.dtype, shape)]

    def macs(self, op: Op) -> int | None:
        return product_macs(op, -2 if op.attr("transpose_a") else -1)

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        a, b = (np.asarray(i, np.float64) for i in inputs[:2])
        return [_product(op, a, b)]

    def quantized_constants(
        self, op: Op, quantization: Quantization | None
    ) -> Mapping[int, tuple[Constant, Quantization]] | None:
        made = {}
        for index, value in enumerate(op.inputs):
            if value is not None and value.is_constant:
                integers = integers_of(value)
                if integers is None:
                    return None
                made[index] = integers
        return made

    def evaluate_quantized(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        a, b = (
            np.asarray(array, np.int64) - zero_of(op.input(index))
            for index, array in enumerate(inputs)
        )
        # Modulo 2^32.
        sums = _product(op, a, b).astype(np.int32)
        factor = scale_of(op.input(0)) * scale_of(op.input(1)) / scale_of(op.output)
        return [requantized(op, sums, np.asarray(factor))]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        """Rows of the first operand, or the same batch of both."""
        ranks = [len(op.input(i).shape or ()) for i in (0, 1)]
        behind = {ranks[i] - axis for i, axis in axes.items()}
        if len(behind) != 1 or not set(axes) <= {0, 1}:
            return None
        (place,) = behind
        rank = max(ranks)
        if place > 2:
            for i in {0, 1} - set(axes):
                shape = op.input(i).shape or ()
                if len(shape) >= place and shape[-place] != 1:
                    return None
            return rank - place
        rows = place == (1 if op.attr("transpose_a") else 2)
        return rank - 2 if rows and set(axes) == {0} else None


def _product(op: Op, a: Array, b: Array) -> Array:
    if op.attr("transpose_a"):
        a = a.swapaxes(-1, -2)
    if op.attr("transpose_b"):
        b = b.swapaxes(-1, -2)
    return np.asarray(a @ b)


class MatMulInteger(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        _check_zero(op, 0, -2)
        _check_zero(op, 1, -1)
        return [OutputType(DataType.INT32, product_shape(op.input(0), op.input(1)))]

    def macs(self, op: Op) -> int | None:
        return product_macs(op)

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        a, b = (np.asarray(i, np.int64) for i in inputs[:2])
        if len(inputs) > 2 and inputs[2] is not None:
            zero = np.asarray(inputs[2], np.int64)
            a = a - (zero.reshape(-1, 1) if zero.ndim else zero)
        if len(inputs) > 3 and inputs[3] is not None:
            b = b - np.asarray(inputs[3], np.int64)
        return [(a @ b).astype(np.int32)]


def _check_zero(op: Op, operand: int, axis: int) -> None:
    x, zero = op.input(operand), op.get_input(operand + 2)
    if zero is None:
        return
    name = "ab"[operand]
    if zero.dtype is not x.dtype:
        raise ValueError(
            f"{name} is {x.dtype.value}, its zero point {zero.dtype.value}"
        )
    if x.shape is None or len(x.shape) < 2 or zero.shape in (None, (), (1,)):
        return
    if not compatible(zero.shape, (x.shape[axis],)):
        raise ValueError(
            f"the zero point of {name} must be [1] or {format_shape((x.shape[axis],))}"
        )


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
        result = dynamic_product(rows, ranges, weights, weight_scales, zeros)
        if bias is not None:
            result = result + bias
        result = result.reshape(*x.shape[:-1], weights.shape[1])
        if residual is not None:
            result = result + residual
        return [activate(op, result)]


def _check_columns(value: Value | None, what: str, columns: int) -> None:
    if value is None or value.shape in ((), (1,)):
        return
    if not compatible(value.shape, (columns,)):
        raise ValueError(
            f"the {what} of the weights must be one number, or [{columns}]"
        )


class Determinant(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is None:
            return [OutputType(x.dtype, None)]
        last = x.shape[-2:]
        known = all(isinstance(dim, int) for dim in last)
        if len(last) < 2 or (known and last[0] != last[1]):
            raise ValueError(f"{format_shape(x.shape)} are no square matrices")
        return [OutputType(x.dtype, x.shape[:-2])]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [np.asarray(np.linalg.det(np.asarray(inputs[0], np.float64)))]

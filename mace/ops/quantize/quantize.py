# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Quantize, Dequantize and LookupTable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.constant import Constant, Integers
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.quantization import (
    constant_quantization,
    quantized,
    quantized_shape,
    scale_and_zero,
    sink_below_quantization,
)
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import compatible


class Quantize(OpRules):
    elementwise = True

    def infer(self, op: Op) -> list[OutputType]:
        dtype = DataType(op.attr("to").lower())
        return [OutputType(dtype, quantized_shape(op, dtype))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        scale, zero = scale_and_zero(op, inputs)
        return [quantized(inputs[0], scale, zero, op.output.dtype)]

    def quantization(self, op: Op) -> list[Quantization | None]:
        return [constant_quantization(op)]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return sink_below_quantization(op, perm)


class Dequantize(OpRules):
    elementwise = True

    def infer(self, op: Op) -> list[OutputType]:
        shape = quantized_shape(op, op.input(0).dtype)
        return [OutputType(DataType.FLOAT32, shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        scale, zero = scale_and_zero(op, inputs)
        steps = np.asarray(inputs[0]).astype(np.int32) - zero.astype(np.int32)
        return [steps.astype(np.float32) * scale]

    def integers(self, op: Op) -> Integers | None:
        numbers, scale = op.input(0).constant, op.input(1).constant
        if numbers is None or scale is None:
            return None
        zero = op.get_input(2)
        scales, zeros = (
            Constant.of(np.broadcast_to(part, numbers.shape))
            for part in scale_and_zero(
                op, [np.empty(numbers.shape), scale.numpy(), zero and zero.numpy()]
            )
        )
        return Integers(numbers, scales, zeros)

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return sink_below_quantization(op, perm)


_ENTRIES = 256


class LookupTable(OpRules):
    elementwise = True

    def infer(self, op: Op) -> list[OutputType]:
        x, table = op.input(0), op.input(1)
        rank = None if table.shape is None else len(table.shape)
        if table.shape is not None and (
            rank not in (1, 2) or not compatible(table.shape[-1:], (_ENTRIES,))
        ):
            raise ValueError("the table must be [256] or [C, 256]")
        if rank == 2 and x.shape is not None:
            assert table.shape is not None
            if not compatible(x.shape[-1:], table.shape[:1]):
                raise ValueError("there must be a table for each channel of the input")
        return [OutputType(table.dtype, x.shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, table = inputs
        bytes_ = np.asarray(x).view(np.uint8)
        if table.ndim == 1:
            return [table[bytes_]]
        return [table[np.arange(len(table)), bytes_]]

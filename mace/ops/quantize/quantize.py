# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Quantize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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

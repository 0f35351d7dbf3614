# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Dequantize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.constant import Constant, Integers
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.quantization import (
    quantized_shape,
    scale_and_zero,
    sink_below_quantization,
)


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

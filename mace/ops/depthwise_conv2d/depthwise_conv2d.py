# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for DepthwiseConv2d."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import FIVE_WIDE
from mace.python.tools.ir.op_rules.images import evaluate_in_nhwc
from mace.python.tools.ir.op_rules.windows import (
    Convolution,
    finished,
    image_size,
    is_five_wide,
    taps,
    windows_over,
)
from mace.python.tools.ir.quantization import Quantization


class DepthwiseConv2d(Convolution):
    is_depthwise = True
    output_axis = 2

    def quantized_constants(
        self, op: Op, quantization: Quantization | None
    ) -> Mapping[int, tuple[Constant, Quantization]] | None:
        filters = op.input(1)
        if filters.shape is None or filters.shape[3] != 1:
            return None
        return super().quantized_constants(op, quantization)

    def kernels(self, op: Op) -> tuple[str, ...]:
        return (FIVE_WIDE,) if is_five_wide(op) else ()

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, filters = (np.asarray(i, np.float64) for i in inputs[:2])
        kh, kw, channels, multiplier = filters.shape
        rows, columns = windows_over(op, x, (kh, kw))
        size = image_size(x, rows, columns)
        result = np.zeros((x.shape[0], *size, channels, multiplier))
        for i, j, part in taps(x, rows, columns, size, 0):
            result += part[..., None] * filters[i, j]
        flat = result.reshape(*result.shape[:3], channels * multiplier)
        return [finished(op, flat, inputs)]

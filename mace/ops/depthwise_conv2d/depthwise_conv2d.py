# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""DepthwiseConv2d, as the converter knows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.images import (
    evaluate_in_nhwc,
    image_dims,
    image_shape,
)
from mace.python.tools.ir.op_rules.windows import (
    check_bias,
    check_depth,
    filter_shape,
    finished,
    image_size,
    output_size,
    taps,
    windows_over,
)


class DepthwiseConv2d(OpRules):
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x, (kh, kw, channels, multiplier) = op.input(0), filter_shape(op)
        out = channels * multiplier
        if x.shape is None:
            return [OutputType(x.dtype, image_shape(op, None, (None,) * 2, out))]
        n, hw, c = image_dims(op, x.shape)
        check_depth(c, channels)
        check_bias(op, out)
        size = [output_size(op, i, k, hw[i]) for i, k in enumerate((kh, kw))]
        return [OutputType(x.dtype, image_shape(op, n, size, out))]

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

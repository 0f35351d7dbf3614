# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""DepthwiseDeconv2d, as the converter knows it."""

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
from mace.python.tools.ir.op_rules.transposed_windows import scatter, transposed_size
from mace.python.tools.ir.op_rules.windows import check_bias, check_depth, filter_shape


class DepthwiseDeconv2d(OpRules):
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x, (kh, kw, channels, multiplier) = op.input(0), filter_shape(op)
        out = channels * multiplier
        if x.shape is None:
            return [OutputType(x.dtype, image_shape(op, None, (None,) * 2, out))]
        n, hw, c = image_dims(op, x.shape)
        check_depth(c, channels)
        check_bias(op, out)
        size = [transposed_size(op, i, k, hw[i]) for i, k in enumerate((kh, kw))]
        return [OutputType(x.dtype, image_shape(op, n, size, out))]

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        filters = np.asarray(inputs[1], np.float64)
        kh, kw, channels, multiplier = filters.shape
        filters = filters.transpose(2, 3, 0, 1)
        filters = filters.reshape(channels * multiplier, kh, kw, 1)
        return [scatter(op, inputs, filters, channels)]

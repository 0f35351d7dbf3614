# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Deconv2D and DepthwiseDeconv2d."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import FIVE_WIDE
from mace.python.tools.ir.op_rules.images import evaluate_in_nhwc
from mace.python.tools.ir.op_rules.windows import Convolution, is_five_wide, scatter


class Deconv2D(Convolution):
    is_transposed = True

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        filters = np.asarray(inputs[1], np.float64)
        return [scatter(op, inputs, filters, op.attr("groups"))]


class DepthwiseDeconv2d(Convolution):
    is_depthwise = True
    is_transposed = True

    def kernels(self, op: Op) -> tuple[str, ...]:
        return (FIVE_WIDE,) if is_five_wide(op) else ()

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        filters = np.asarray(inputs[1], np.float64)
        kh, kw, channels, multiplier = filters.shape
        filters = filters.transpose(2, 3, 0, 1)
        filters = filters.reshape(channels * multiplier, kh, kw, 1)
        return [scatter(op, inputs, filters, channels)]

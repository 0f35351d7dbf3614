# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Deconv2D."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules.images import evaluate_in_nhwc
from mace.python.tools.ir.op_rules.windows import Convolution, scatter


class Deconv2D(Convolution):
    is_transposed = True

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        filters = np.asarray(inputs[1], np.float64)
        return [scatter(op, inputs, filters, op.attr("groups"))]

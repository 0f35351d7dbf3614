# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Conv2D."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import FIVE_WIDE, WINOGRAD, OutputType
from mace.python.tools.ir.op_rules.images import evaluate_in_nhwc
from mace.python.tools.ir.op_rules.windows import (
    Convolution,
    finished,
    image_size,
    is_five_wide,
    taps,
    windows_over,
)
from mace.python.tools.ir.shapes import compatible, format_shape


class Conv2D(Convolution):
    # The image and the residual.
    layout_inputs = (0, 3)

    def infer(self, op: Op) -> list[OutputType]:
        (output,) = super().infer(op)
        residual = op.get_input(3)
        if residual is not None and not compatible(residual.shape, output.shape):
            raise ValueError(f"the residual must be {format_shape(output.shape)}")
        return [output]

    def kernels(self, op: Op) -> tuple[str, ...]:
        filters = op.get_input(1)
        if op.attr("groups") > 1 and is_five_wide(op):
            return (FIVE_WIDE,)
        steps = (*op.attr("strides"), op.attr("groups"))
        is_3x3 = (
            filters is not None
            and filters.shape is not None
            and filters.shape[1:3] == (3, 3)
        )
        return (WINOGRAD,) if is_3x3 and set(steps) == {1} else ()

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, filters = (np.asarray(i, np.float64) for i in inputs[:2])
        rows, columns = windows_over(op, x, filters.shape[1:3])
        size = image_size(x, rows, columns)
        groups, depth = op.attr("groups"), filters.shape[3]
        per_group = filters.shape[0] // groups
        result = np.zeros((x.shape[0], *size, filters.shape[0]))
        for i, j, part in taps(x, rows, columns, size, 0):
            for g in range(groups):
                outs = slice(g * per_group, (g + 1) * per_group)
                ins = slice(g * depth, (g + 1) * depth)
                result[..., outs] += part[..., ins] @ filters[outs, i, j].T
        return [finished(op, result, inputs)]

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Im2Col."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.axes import of_images
from mace.python.tools.ir.op_rules.images import (
    evaluate_in_nhwc,
    image_dims,
    image_shape,
)
from mace.python.tools.ir.op_rules.movement import multiplied_dims
from mace.python.tools.ir.op_rules.windows import (
    image_size,
    output_size,
    taps,
    windows_over,
)
from mace.python.tools.ir.shapes import compatible


class Im2Col(OpRules):
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x, kernels = op.input(0), op.attr("kernels")
        if len(op.inputs) > 1 and op.inputs[1] is not None:
            outside = op.input(1)
            is_one = any(compatible(outside.shape, one) for one in ((), (1,)))
            if outside.dtype is not x.dtype or not is_one:
                raise ValueError(f"{outside.name} must be one {x.dtype.value}")
        if x.shape is None:
            return [OutputType(x.dtype, (None,) * 4)]
        n, hw, c = image_dims(op, x.shape)
        size = [output_size(op, i, k, hw[i]) for i, k in enumerate(kernels)]
        (depth,) = multiplied_dims((c,), kernels[0] * kernels[1])
        return [OutputType(x.dtype, image_shape(op, n, size, depth))]

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, outside = inputs[0], 0
        if len(inputs) > 1 and inputs[1] is not None:
            outside = np.asarray(inputs[1]).reshape(-1)[0]
        rows, columns = windows_over(op, x, op.attr("kernels"))
        size = image_size(x, rows, columns)
        parts = [part for _, _, part in taps(x, rows, columns, size, outside)]
        depth = x.shape[3] * rows.kernel * columns.kernel
        empty = np.zeros((x.shape[0], *size, depth), x.dtype)
        return [np.concatenate(parts, axis=3) if parts else empty]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return of_images(axes)

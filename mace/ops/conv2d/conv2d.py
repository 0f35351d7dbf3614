# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Conv2D, DepthwiseConv2d and Im2Col."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import FIVE_WIDE, WINOGRAD, OpRules, OutputType
from mace.python.tools.ir.op_rules.axes import of_images
from mace.python.tools.ir.op_rules.images import (
    evaluate_in_nhwc,
    image_dims,
    image_shape,
)
from mace.python.tools.ir.op_rules.movement import multiplied_dims
from mace.python.tools.ir.op_rules.windows import (
    Convolution,
    finished,
    image_size,
    is_five_wide,
    output_size,
    taps,
    windows_over,
)
from mace.python.tools.ir.quantization import Quantization
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

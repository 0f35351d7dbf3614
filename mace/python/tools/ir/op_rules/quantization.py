# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Scale and zero point, of a whole tensor or of each slice along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules.base import Perm, SunkTranspose
from mace.python.tools.ir.op_rules.movement import sink_along_axis
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import (
    Shape,
    compatible,
    format_shape,
    normalize_axis,
    product,
)


def quantized_shape(op: Op, dtype: DataType) -> Shape | None:
    """The shape of input 0, with its scale, input 1, and its zero point, input 2.

    Args:
        op: the operator.
        dtype: of what is quantized.

    Raises:
        ValueError: there are not as many scales or zero points as slices, or the
            zero point is not of the type `dtype`.
    """
    shape, scale = op.input(0).shape, op.input(1).shape
    zero = op.get_input(2)
    if zero is not None:
        if zero.dtype is not dtype:
            raise ValueError(f"the zero point must be {dtype.value}")
        counts = {product(s) for s in (scale, zero.shape) if s is not None} - {None}
        if len(counts) > 1:
            raise ValueError(
                f"{format_shape(scale)} scales, but {format_shape(zero.shape)} "
                "zero points"
            )
    one = scale is None or (len(scale) <= 1 and product(scale) in (1, None))
    if shape is not None and not one:
        length = shape[normalize_axis(op.attr("axis"), len(shape))]
        if not compatible(scale, (length,)):
            raise ValueError(f"the scale must be [{length}] or [1]")
    return shape


def constant_quantization(op: Op) -> Quantization | None:
    """That of the output, by the operator's scale and zero point."""
    return known_quantization(op.output, op.input(1), op.get_input(2), op.attr("axis"))


def known_quantization(
    value: Value, scale: Value, zero: Value | None, axis: int
) -> Quantization | None:
    """The quantization of `value` by that scale and zero point, if these are known.

    None also for scales that no value can have (0, infinite): operators use them
    nevertheless, like the framework.

    Args:
        value: of the shape that the scales are for.
        scale: one, or one for each index of `axis`.
        zero: as many; None if all are 0.
        axis: may count from the end; ignored for one scale.
    """
    if not scale.is_constant or (zero is not None and not zero.is_constant):
        return None
    scales = tuple(scale.numpy().reshape(-1).tolist())
    zeros = () if zero is None else tuple(zero.numpy().reshape(-1).tolist())
    if len(scales) == 1:
        axis = 0
    elif value.shape is None:
        return None
    else:
        axis = normalize_axis(axis, len(value.shape))
    found = Quantization(scales, zeros if any(zeros) else (), axis)
    return None if found.problems(value.dtype, value.shape) else found


def quantized(numbers: Array, scale: Array, zero: Array, dtype: DataType) -> Array:
    """Floats as integers of that type, as Quantize computes them; all broadcast."""
    bounds = np.iinfo(dtype.numpy)
    quotient = np.rint(numbers / scale)
    steps = np.nan_to_num(quotient, posinf=np.inf, neginf=-np.inf)
    steps = steps + zero.astype(np.float32)
    return np.asarray(np.clip(steps, bounds.min, bounds.max), dtype.numpy)


def scale_and_zero(op: Op, inputs: Sequence[Any]) -> tuple[Array, Array]:
    """Scale and zero point, shaped to broadcast."""
    rank = np.ndim(inputs[0])
    scale = np.asarray(inputs[1])
    absent = len(inputs) < 3 or inputs[2] is None
    zero = np.zeros(scale.shape, np.int32) if absent else np.asarray(inputs[2])
    dims = [1] * rank
    if scale.size != 1:
        dims[op.attr("axis")] = -1
    return scale.reshape(dims), zero.reshape(dims)


def sink_below_quantization(op: Op, perm: Perm) -> SunkTranspose:
    """The rule of Quantize and Dequantize."""
    whole = op.input(1).shape in ((), (1,))
    return SunkTranspose(perm) if whole else sink_along_axis(op, perm)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantized programs (`quantize_pt2e`): integers between operators in floats. The
passes make integer operators of what is between both.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

_LIBRARY = "quantized_decomposed"
_STORED = (DataType.INT8, DataType.UINT8, DataType.INT32)


@HANDLERS.register(
    f"{_LIBRARY}.quantize_per_tensor", f"{_LIBRARY}.quantize_per_channel"
)
def _quantize(c: Context) -> None:
    x, dtype = c.value("input"), c.dtype()
    if dtype not in _STORED or dtype is DataType.INT32:
        raise UnsupportedNodeError(f"dtype is {dtype and dtype.value}")
    scale, zero, axis = _parameters(c, x)
    low, high = _bounds(c, dtype)
    own = np.iinfo(dtype.numpy)
    if (low, high) != (own.min, own.max):
        # Fewer numbers than the type has.
        shape = [1] * c.rank(x)
        if scale.size > 1:
            shape[axis] = scale.size
        for op_type, bound in (("Max", low), ("Min", high)):
            limit = ((bound - zero.astype(np.float32)) * scale).reshape(shape)
            x = c.op(op_type, x, c.constant(limit, DataType.FLOAT32))
    c.give(c.op("QuantizeLinear", x, *_operands(c, scale, zero, dtype), axis=axis))


@HANDLERS.register(
    f"{_LIBRARY}.dequantize_per_tensor", f"{_LIBRARY}.dequantize_per_channel"
)
def _dequantize(c: Context) -> None:
    x = c.value("input")
    for name in ("dtype", "out_dtype"):
        c.dtype(name)
    if x.dtype not in _STORED:
        raise UnsupportedNodeError(f"the input is of type {x.dtype.value}")
    scale, zero, axis = _parameters(c, x)
    _bounds(c, x.dtype)
    operands = _operands(c, scale, zero, x.dtype)
    if x.dtype is DataType.INT32:
        if zero.any():
            raise UnsupportedNodeError("integers of 32 bits have a zero point")
        operands = operands[:1]
    c.give(c.op("DequantizeLinear", x, *operands, axis=axis))


def _parameters(c: Context, x: Value) -> tuple[Array, Array, int]:
    """Scales, zero points, and the axis that they are along."""
    per_channel = c.operator.endswith("channel")
    names = ("scales", "zero_points") if per_channel else ("scale", "zero_point")
    scale, zero = (
        np.asarray(c.known(n) if c.is_tensor(n) else c.number(n, 0)).reshape(-1)
        for n in names
    )
    axis = c.axis(c.integer("axis"), c.rank(x)) if per_channel else 0
    count = c.length(x, axis) if per_channel else 1
    if not zero.size and per_channel:
        zero = np.zeros(scale.shape)
    if scale.shape != zero.shape or scale.size not in (1, count):
        raise UnsupportedNodeError(
            f"{scale.size} scales and {zero.size} zero points for {count} channels"
        )
    return scale.astype(np.float32), zero.astype(np.int64), axis


def _bounds(c: Context, dtype: DataType) -> tuple[int, int]:
    own = np.iinfo(dtype.numpy)
    low, high = c.integer("quant_min", own.min), c.integer("quant_max", own.max)
    if not own.min <= low < high <= own.max:
        raise UnsupportedNodeError(f"integers from {low} to {high} of {dtype.value}")
    return low, high


def _operands(c: Context, scale: Array, zero: Array, dtype: DataType) -> list[Value]:
    own = np.iinfo(dtype.numpy)
    if zero.size and not own.min <= zero.min() <= zero.max() <= own.max:
        raise UnsupportedNodeError(f"a zero point does not fit into {dtype.value}")
    shape = () if scale.size == 1 else scale.shape
    return [
        c.constant(scale.reshape(shape), DataType.FLOAT32),
        c.constant(zero.reshape(shape), dtype),
    ]

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that compute in quantized numbers.

Where the declaration says float32, such an operator has 8-bit integers with a scale and
a zero point (`quantized` of its ports). docs/reference/quantization.md specifies the
arithmetic; this is the reference for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.node import Op, Value


def is_quantized(op: Op) -> bool:
    """Whether the operator computes in quantized numbers."""
    catalogue = default_catalogue()
    if op.type not in catalogue or not op.outputs:
        return False
    return (
        bool(catalogue[op.type].output_port(0).quantized)
        and op.outputs[0].quantization is not None
    )


def numbers_of(value: Value, integers: Array) -> Array:
    """What the integers of a quantized value stand for, in float64."""
    scale, zero = _broadcast(value)
    return (np.asarray(integers, np.float64) - zero) * scale


def quantized(value: Value, numbers: Array) -> Array:
    """The integers of a quantized value that are nearest to these numbers, ties to
    even.
    """
    scale, zero = _broadcast(value)
    return saturated(value.dtype, np.rint(np.asarray(numbers) / scale) + zero)


def saturated(dtype: DataType, integers: Array) -> Array:
    """Clamped to the range of a type."""
    range_ = np.iinfo(dtype.numpy)
    return np.clip(integers, range_.min, range_.max).astype(dtype.numpy)


def _broadcast(value: Value) -> tuple[Array, Array]:
    """Scale and zero point in float64, shaped to broadcast."""
    known = value.quantization
    assert known is not None and value.shape is not None
    dims = [1] * len(value.shape)
    if not known.per_tensor:
        dims[known.axis] = -1
    zeros = known.zero_points or (0,) * len(known.scales)
    return (
        np.asarray(known.scales, np.float64).reshape(dims),
        np.asarray(zeros, np.float64).reshape(dims),
    )


def operands_of(op: Op, inputs: Sequence[Any]) -> list[Any]:
    """The inputs of a quantized operator with numbers in place of integers."""
    schema = default_catalogue()[op.type]
    return [
        numbers_of(op.input(index), array)
        if array is not None and DataType.FLOAT32 in schema.input_port(index).types
        else array
        for index, array in enumerate(inputs)
    ]

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, and sums weighted by constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules.base import OpRules
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_ops import (
    has_limits,
    quantized_weights,
    results_of,
    zero_of,
)
from mace.python.tools.ir.shapes import (
    Shape,
    broadcast,
    compatible,
    format_shape,
    product,
    static,
)


def product_shape(
    a: Value, b: Value, transpose_a: bool = False, transpose_b: bool = False
) -> Shape | None:
    """The shape of a @ b, None if one of the ranks is unknown.

    Raises:
        ValueError: an operand is no matrix, or the two do not chain.
    """
    if a.shape is None or b.shape is None:
        return None
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise ValueError("both operands need 2 dimensions or more")
    (m, k), (k2, n) = a.shape[-2:], b.shape[-2:]
    if transpose_a:
        m, k = k, m
    if transpose_b:
        k2, n = n, k2
    if not compatible((k,), (k2,)):
        raise ValueError(
            f"{format_shape(a.shape)} and {format_shape(b.shape)} do not chain"
        )
    return (*broadcast(a.shape[:-2], b.shape[:-2]), m, n)


def product_macs(op: Op, depth_axis: int = -1) -> int | None:
    """Multiply-accumulates of an operator each of whose results is a sum over an axis
    of the first operand.
    """
    shape, results = op.input(0).shape, op.output.shape
    if shape is None or results is None:
        return None
    return product((shape[depth_axis], *results))


def matrix_extents(weights: Value) -> tuple[int, int]:
    """The extents of weights that are a matrix.

    Raises:
        ValueError: they are none, or have no elements.
    """
    extents = static(weights.shape)
    if extents is None or len(extents) != 2:
        raise ValueError("the weights must have 2 dimensions")
    rows, columns = extents
    if 0 in (rows, columns):
        raise ValueError("the weights have no elements")
    return rows, columns


def dense_shape(
    x: Value, depth: int, columns: int, bias: Value | None, residual: Value | None
) -> Shape | None:
    """The shape of x @ weights [depth, columns] + bias + residual, None if that of x
    is unknown.

    Raises:
        ValueError: an operand does not fit the weights.
    """
    if bias is not None and not compatible(bias.shape, (columns,)):
        raise ValueError(f"the bias must be [{columns}]")
    if x.shape is None:
        return None
    if not x.shape or not compatible(x.shape[-1:], (depth,)):
        raise ValueError(f"the innermost dimension must be {depth}")
    shape = (*x.shape[:-1], columns)
    if residual is not None and not compatible(residual.shape, shape):
        raise ValueError(f"the residual must be {format_shape(shape)}")
    return shape


class WeightedSums(OpRules):
    """The base class of their rules: input 1 are the weights, input 2 is the bias, and
    an activation follows.
    """

    # Of the weights: the axis of the outputs.
    output_axis: ClassVar[int] = 0

    def quantized_constants(
        self, op: Op, quantization: Quantization | None
    ) -> Mapping[int, tuple[Constant, Quantization]] | None:
        if quantization is None or not has_limits(op):
            return None
        return quantized_weights(op, quantization, self.output_axis)

    def evaluate_quantized(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [results_of(op, self._sums(op, inputs))]

    def _sums(self, op: Op, inputs: Sequence[Any]) -> Array:
        """In integers, which float64 holds."""
        attrs = {k: v for k, v in op.attrs.items() if not k.startswith("activation")}
        plain = Op(op.name, op.type, attrs)
        zero = zero_of(op.input(0))
        (sums,) = self.evaluate(
            plain, [np.asarray(inputs[0], np.float64) - zero, *inputs[1:]]
        )
        return sums


# A range that is narrower counts as 0: scales stay far from subnormal numbers.
_LEAST_SPAN = np.float32(2**-100)


def row_scales(rows: Array) -> tuple[Array, Array]:
    """The scale and the zero point of each row of float32, as columns of float32.

    NaN is the scale of a row with numbers that are not finite.
    """
    with np.errstate(all="ignore"):
        low = np.minimum(rows.min(axis=1, initial=0), np.float32(0))
        high = np.maximum(rows.max(axis=1, initial=0), np.float32(0))
        span = high - low
        finite = np.isfinite(span) & np.isfinite(rows).all(axis=1)
        scale = np.where(span < _LEAST_SPAN, np.float32(1), span / np.float32(255))
        scale = np.where(finite, scale, np.float32(np.nan)).astype(np.float32)
        zero = np.clip(np.rint(-low / scale), 0, 255)
        zero = np.where(finite & (span >= _LEAST_SPAN), zero, 0).astype(np.float32)
    return scale[:, None], zero[:, None]


def dynamic_product(
    rows: Array, ranges: Array, weights: Array, scales: Array, zeros: Array | None
) -> Array:
    """Rows that the run quantizes, times integers; to the bit.

    Args:
        rows: float32 [M, K].
        ranges: float32 [M, *] or [1, *]: what the scale of each row, or of all, is of.
        weights: int8 [K, N].
        scales: float32, one or [N].
        zeros: of the weights, one or [N]; None: 0.

    Returns:
        float32 [M, N].
    """
    scale, zero = row_scales(ranges)
    with np.errstate(all="ignore"):
        steps = np.rint(rows / scale) + zero
    integers = np.where(np.isnan(steps), 0, np.clip(steps, 0, 255)) - zero
    wide = weights.astype(np.float64) - (0 if zeros is None else zeros)
    # float64 holds the sums, as long as they are not of millions of products.
    sums = (integers.astype(np.float64) @ wide).astype(np.int64).astype(np.int32)
    return np.asarray(
        sums.astype(np.float32) * (scale * np.asarray(scales, np.float32))
    )

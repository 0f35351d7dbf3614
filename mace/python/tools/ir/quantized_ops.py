# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that compute in quantized numbers.

Where the declaration says float32, such an operator has integers of 8 or 16 bits with a
scale and a zero point (`quantized` of its ports). docs/reference/quantization.md
specifies the arithmetic; this is the reference for it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.ir.constant import Constant, Integers
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.quantization import Quantization


def is_quantized(op: Op) -> bool:
    """Whether the operator computes in quantized numbers."""
    catalogue = default_catalogue()
    if op.type not in catalogue or not op.outputs:
        return False
    return (
        bool(catalogue[op.type].output_port(0).quantized)
        and op.outputs[0].quantization is not None
    )


def computes_integers(op: Op) -> bool:
    """Whether the operator is one that the pass quantized_operators makes."""
    return op.type == "LookupTable" or is_quantized(op)


def saturated(dtype: DataType, integers: Array) -> Array:
    """Clamped to the range of a type."""
    range_ = np.iinfo(dtype.numpy)
    return np.clip(integers, range_.min, range_.max).astype(dtype.numpy)


def zero_of(value: Value) -> int:
    """The zero point of a value of one scale."""
    known = value.quantization
    assert known is not None
    return known.zero_point


def scale_of(value: Value) -> Array:
    """The scale of a value of one scale, without axes, in the type in which results of
    its width are computed: float32, or float64 for 16 bits.
    """
    assert value.quantization is not None
    scale = np.asarray(value.quantization.scales[0], np.float32)
    return scale.astype(np.float64) if value.dtype is DataType.INT16 else scale


def requantized(op: Op, sums: Array, factor: Array) -> Array:
    """The integers of the output, of one scale.

    Args:
        op: with the activation NONE, RELU or RELUX, or without that attribute.
        sums: in integers.
        factor: from sums to steps of the output; broadcasts. Its type is that of
            `scale_of`.
    """
    return limited(op, rounded(sums.astype(factor.dtype) * factor))


def rounded(steps: Array) -> Array:
    """To the nearest integers, ties to even; beyond 2^40, any beyond."""
    whole = np.rint(np.clip(steps, -(2.0**40), 2.0**40))
    return np.asarray(whole, np.int64)


def limited(op: Op, steps: Array) -> Array:
    """The integers of the output, of one scale: after the activation, and clamped.

    Args:
        op: as of `requantized`.
        steps: of the output, as int64; 0 stands for the number 0.
    """
    value = op.outputs[0]
    has_activation = "activation" in default_catalogue()[op.type].attributes
    activation = op.attr("activation") if has_activation else "NONE"
    if activation != "NONE":
        steps = np.maximum(steps, 0)
    if activation == "RELUX":
        limit = np.float32(op.attr("activation_limit"))
        scale = scale_of(value).astype(np.float32)
        steps = np.minimum(steps, int(np.rint(limit / scale)))
    return saturated(value.dtype, steps + zero_of(value))


def has_limits(op: Op) -> bool:
    """Whether the activation of the operator only limits its results."""
    return op.attr("activation") in ("NONE", "RELU", "RELUX")


def integers_of(value: Value) -> tuple[Constant, Quantization] | None:
    """What a constant of floats was made of, with one scale; None if nothing is known
    of it, or if it has several.
    """
    known = value.constant.integers if value.constant is not None else None
    if known is None or known.numbers.size == 0:
        return None
    scale, zero = known.scale.numpy(), known.zero.numpy()
    first, offset = float(scale.reshape(-1)[0]), int(zero.reshape(-1)[0])
    if not ((scale == first).all() and (zero == offset).all()):
        return None
    found = Quantization.of_tensor(first, offset)
    wrong = found.problems(known.numbers.dtype, known.numbers.shape)
    return None if wrong else (known.numbers, found)


# What quantized operators that multiply by constant weights have in common.
#
# Inputs are 0: what is multiplied, 1: the weights, 2: the bias. Weights are int8 with a
# scale for each output and no zero points; a bias is int32 with the scales of the sums.


_WEIGHTS, _BIAS = 1, 2
# Of a bias that was quantized with other scales than those of the sums, because they
# were computed in another precision.
_SCALE_ERROR = 1e-5


def quantized_weights(
    op: Op, quantization: Quantization, output_axis: int
) -> Mapping[int, tuple[Constant, Quantization]] | None:
    """Weights and bias as integers; None if these are not what they were made of.

    Args:
        op: in float32.
        quantization: of what is multiplied.
        output_axis: the axis of the weights that is that of the outputs.
    """
    weights = op.input(_WEIGHTS).constant
    if weights is None or weights.integers is None:
        return None
    scales = _by_output(weights.integers.scale.numpy(), output_axis)
    if scales is None:
        return None
    numbers = _signed(weights.integers)
    if numbers is None and weights.integers.simulated:
        numbers, scales = _closest(weights.integers, scales, output_axis)
    if numbers is None:
        return None
    found = {_WEIGHTS: (numbers, _quantization(scales, output_axis))}
    bias = op.get_input(_BIAS)
    if bias is not None:
        of_sums = np.float32(quantization.scales[0]) * scales
        integers = _bias(bias, of_sums)
        if integers is None:
            return None
        found[_BIAS] = (Constant.of(integers), _quantization(of_sums))
    return found


def results_of(op: Op, sums: Array) -> Array:
    """The results of a quantized operator, whose last axis is that of the outputs.

    Args:
        op: with the activation NONE, RELU or RELUX.
        sums: in integers, with the bias.
    """
    weights = op.input(_WEIGHTS).quantization
    assert weights is not None
    scale = scale_of(op.input(0))
    scales = np.asarray(weights.scales, np.float32).astype(scale.dtype)
    return requantized(op, sums, scale * scales / scale_of(op.output))


def _signed(integers: Integers) -> Constant | None:
    """The numbers without zero points as int8; None if they do not fit."""
    zero = integers.zero.numpy()
    if integers.numbers.dtype is DataType.INT8 and not zero.any():
        return integers.numbers
    numbers = integers.numbers.numpy().astype(np.int32) - zero.astype(np.int32)
    range_ = np.iinfo(np.int8)
    if numbers.size and (numbers.min() < range_.min or numbers.max() > range_.max):
        return None
    return Constant.of(numbers.astype(np.int8))


def _closest(integers: Integers, scales: Array, axis: int) -> tuple[Constant, Array]:
    """Numbers of int8 without zero points, and their scales. An output whose numbers
    do not fit gets a larger scale.
    """
    zero = integers.zero.numpy().astype(np.int32)
    steps = np.moveaxis(integers.numbers.numpy().astype(np.int32) - zero, axis, -1)
    range_ = np.iinfo(np.int8)
    inner = tuple(range(steps.ndim - 1))
    growth = np.maximum(
        steps.max(inner, initial=0) / range_.max,
        steps.min(inner, initial=0) / range_.min,
    )
    growth = np.maximum(growth, 1).astype(np.float32)
    numbers = np.moveaxis(np.rint(steps / growth).astype(np.int8), -1, axis)
    return Constant.of(np.ascontiguousarray(numbers)), scales * growth


def _by_output(scale: Array, axis: int) -> Array | None:
    """A scale for each index of the axis; None if there are others."""
    if scale.size == 0:
        return None
    rows = np.moveaxis(scale, axis, 0).reshape(scale.shape[axis], -1)
    first = np.ascontiguousarray(rows[:, 0], np.float32)
    if not np.isfinite(first).all() or not (first > 0).all():
        return None
    return first if (rows == rows[:, :1]).all() else None


def _quantization(scales: Array, axis: int = 0) -> Quantization:
    if (scales == scales[0]).all():
        return Quantization((float(scales[0]),))
    return Quantization(tuple(scales.tolist()), axis=axis)


def _bias(bias: Value, scales: Array) -> Array | None:
    """As int32 with these scales; None if it does not fit."""
    if bias.constant is None:
        return None
    integers = bias.constant.integers
    if integers is not None:
        stated = integers.scale.numpy()
        if stated.shape == scales.shape and np.allclose(
            stated, scales, _SCALE_ERROR, 0
        ):
            numbers = integers.numbers.numpy().astype(np.int64) - integers.zero.numpy()
            return _int32(numbers)
    return _int32(np.rint(bias.numpy().astype(np.float64) / scales))


def _int32(numbers: Array) -> Array | None:
    range_ = np.iinfo(np.int32)
    fits = np.isfinite(numbers) & (numbers >= range_.min) & (numbers <= range_.max)
    return numbers.astype(np.int32) if fits.all() else None

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges of tensors, and the scales and zero points that they become."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace.python.tools.ir import DataType
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_ops import saturated

# The least scale: quotients of scales stay normal float32 numbers.
_LEAST_SCALE = 1e-12
_UINT8_STEPS = 255
# Symmetric weights do not use -128.
_WEIGHT_STEPS = 127
# A bias takes at most this share of the int32 range, so that sums do not overflow.
_BIAS_STEPS = 1 << 29


@dataclass(frozen=True)
class Range:
    """The numbers of a tensor that integers must represent.

    Attributes:
        low, high: finite, low <= high.
        stated: the quantization by a zero point of uint8 that has this range, where the
            model's file says it.
    """

    low: float
    high: float
    stated: Quantization | None = None

    @classmethod
    def of_integers(cls, quantization: Quantization, dtype: DataType) -> Range:
        """What all integers of 8 bits with one scale stand for."""
        shift = int(np.iinfo(dtype.numpy).min)
        zero = quantization.zero_point - shift
        scale = quantization.scales[0]
        stated = Quantization.of_tensor(scale, zero)
        return cls(-zero * scale, (_UINT8_STEPS - zero) * scale, stated)

    def with_zero(self) -> Range:
        """The range with 0, which integers always represent: padding is 0."""
        return Range(min(self.low, 0.0), max(self.high, 0.0))

    def quantization(self, dtype: DataType) -> Quantization:
        """The scale and zero point of a whole tensor.

        Args:
            dtype: UINT8 or INT8, whose integers are all used; or INT16, with the zero
                point 0.
        """
        bounds = np.iinfo(dtype.numpy)
        if self.stated is not None and dtype is not DataType.INT16:
            zero = self.stated.zero_point + int(bounds.min)
            return Quantization.of_tensor(self.stated.scales[0], zero)
        whole = self.with_zero()
        if dtype is DataType.INT16:
            scale = max(max(-whole.low, whole.high) / bounds.max, _LEAST_SCALE)
            return Quantization.of_tensor(float(np.float32(scale)), 0)
        scale = (whole.high - whole.low) / (bounds.max - bounds.min)
        scale = max(scale, _LEAST_SCALE)
        zero = int(saturated(dtype, np.rint(bounds.min - whole.low / scale)))
        return Quantization.of_tensor(float(np.float32(scale)), zero)


def weight_scales(weights: Array, bias: Array | None, input_scale: float) -> Array:
    """The symmetric int8 scale of each output's weights, float32 [outputs].

    Args:
        weights: [outputs, ...].
        bias: [outputs]; None: 0.
        input_scale: of what the weights multiply. A scale is large enough for the bias
            to be an int32 multiple of both scales' product.
    """
    rows = np.abs(weights.reshape(weights.shape[0], -1))
    scales = rows.max(axis=1, initial=0).astype(np.float64) / _WEIGHT_STEPS
    if bias is not None:
        of_bias = np.abs(bias.astype(np.float64)) / (input_scale * _BIAS_STEPS)
        scales = np.maximum(scales, of_bias)
    least = np.float64(_LEAST_SCALE)
    return np.asarray(np.maximum(scales, least), np.float32)


def quantized_weights(weights: Array, scales: Array) -> Array:
    """The int8 integers of weights, whose scales broadcast to them."""
    steps = np.rint(weights.astype(np.float64) / scales)
    return np.clip(steps, -_WEIGHT_STEPS, _WEIGHT_STEPS).astype(np.int8)


def quantized(array: Array, quantization: Quantization, dtype: DataType) -> Array:
    """The integers of a tensor with one scale."""
    steps = np.rint(array.astype(np.float64) / quantization.scales[0])
    return saturated(dtype, steps + quantization.zero_point)

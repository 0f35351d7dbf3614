# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Scales and zero points, compared with those of ONNX Runtime's quantizer."""

from __future__ import annotations

import numpy as np
import pytest

from mace.python.tools.ir import DataType
from mace.python.tools.quantize import ranges

_RANGES = [
    (-1.0, 1.0),
    (0.0, 6.0),
    (0.5, 3.0),
    (-4.0, -1.0),
    (-1e-3, 77.7),
    (-3e5, 1.0),
]


@pytest.mark.parametrize("dtype", [DataType.UINT8, DataType.INT8])
@pytest.mark.parametrize("low,high", _RANGES)
def test_scale_and_zero_point(low: float, high: float, dtype: DataType) -> None:
    pytest.importorskip("onnxruntime")
    from onnxruntime.quantization.quant_utils import compute_scale_zp

    bounds = np.iinfo(dtype.numpy)
    found = ranges.Range(low, high).quantization(dtype)
    zero, scale = compute_scale_zp(
        np.asarray(low, np.float32),
        np.asarray(high, np.float32),
        np.asarray(bounds.min, dtype.numpy),
        np.asarray(bounds.max, dtype.numpy),
    )
    assert found.scales[0] == pytest.approx(float(scale), rel=1e-6)
    assert (found.zero_points or (0,)) == (int(zero),)


def test_zero_is_an_integer_and_the_ends_are_represented() -> None:
    rng = np.random.default_rng(0)
    for low, high in rng.uniform(-9, 9, (200, 2)).astype(np.float32):
        given = ranges.Range(float(min(low, high)), float(max(low, high)))
        found = given.quantization(DataType.INT8)
        ends = np.array([given.low, 0, given.high])
        zero = found.zero_points[0] if found.zero_points else 0
        numbers = ranges.quantized(ends, found, DataType.INT8)
        back = (numbers.astype(np.float64) - zero) * found.scales[0]
        assert back[1] == 0
        np.testing.assert_allclose(back, ends, rtol=0, atol=found.scales[0] * 0.51)


def test_a_range_of_nothing_has_a_scale() -> None:
    found = ranges.Range(0.0, 0.0).quantization(DataType.UINT8)
    assert found.scales[0] > 0 and not found.problems(DataType.UINT8, (1,))


def test_a_bias_fits_into_int32() -> None:
    weights = np.array([[1.0, -2.0], [0.0, 0.0], [1e-20, 0.0]], np.float32)
    bias = np.array([1.0, 3.0, -1e6], np.float32)
    scales = ranges.weight_scales(weights, bias, 0.01)
    steps = bias.astype(np.float64) / (0.01 * scales)
    assert np.abs(steps).max() < 2**30
    assert scales[0] == np.float32(2 / 127)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Scales and zero points, compared with those of ONNX Runtime's quantizer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.ir import DataType
from mace.python.tools.quantize import ranges
from mace.python.tools.quantize.ranges import Range, RangeFileError

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


def test_a_range_comes_back_as_it_was_written(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    ends = np.sort(rng.standard_normal((50, 2)).astype(np.float32) * 1e-4)
    names = ["a/b:0", "x@y", "with blank", *(f"t{i}" for i in range(47))]
    given = {n: Range(float(a), float(b)) for n, (a, b) in zip(names, ends)}
    path = tmp_path / "r"
    path.write_text(ranges.write_ranges(given), encoding="utf-8")
    for name, found in ranges.read_ranges(path).items():
        assert np.float32(found.low) == np.float32(given[name].low)
        assert np.float32(found.high) == np.float32(given[name].high)


def test_percentiles_of_the_samples() -> None:
    log = {"t": [Range(float(-i), float(2 * i)) for i in range(101)]}
    assert ranges.combine(log)["t"] == Range(-100, 200)
    assert ranges.combine(log, 5)["t"] == Range(-95, 190)


def test_unusual_samples_are_left_out() -> None:
    log = {"t": [*([Range(-1, 1)] * 9), Range(-1, 30)]}
    assert ranges.combine(log, 0, 10)["t"] == Range(-1, 1)
    assert ranges.combine(log, 0, 20)["t"] == Range(-1, 30)


def test_a_log_without_ranges(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("Tensor range @@a@@1", encoding="utf-8")
    with pytest.raises(RangeFileError, match="line 1 is cut off"):
        ranges.read_log(path)
    path.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(RangeFileError, match="no line 'Tensor range"):
        ranges.read_log(path)
    with pytest.raises(RangeFileError, match="cannot be read"):
        ranges.read_log(tmp_path / "none")

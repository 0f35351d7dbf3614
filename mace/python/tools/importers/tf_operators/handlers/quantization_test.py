# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""FakeQuant, and weights in 8 bits, against TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.tensorflow.testing import Family, rand
from mace.python.tools.ir.dtypes import Array

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("quantization")
check = _FAMILY.check


# 0 inside, at an end and outside; with a zero point that is rounded a lot.
_RANGES = [(-1.0, 1.5), (0.0, 6.0), (-6.0, 0.0), (1.0, 2.0), (-2.0, -1.0), (-0.1, 25.0)]


def _numbers(*shape: int) -> Array:
    return rand(*shape, low=-8.0, high=8.0)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("bits", [2, 4, 7, 8])
@pytest.mark.parametrize("range_", _RANGES)
def test_ranges(range_: tuple[float, float], bits: int, narrow: bool) -> None:
    x = _numbers(3, 40)

    def outputs(x: Any) -> list[Any]:
        low, high = range_
        quantization = tf.quantization
        weights = quantization.fake_quant_with_min_max_vars(
            tf.constant(x0), low, high, bits, narrow
        )
        return [
            quantization.fake_quant_with_min_max_args(x, low, high, bits, narrow),
            quantization.fake_quant_with_min_max_vars(x, low, high, bits, narrow),
            x + weights,
        ]

    x0 = _numbers(40)
    check(outputs, x)


def test_channels() -> None:
    low, high = np.array(_RANGES, np.float32).T
    weights = _numbers(5, 6)

    def outputs(x: Any) -> list[Any]:
        of_channels = tf.quantization.fake_quant_with_min_max_vars_per_channel
        rounded = of_channels(tf.constant(weights), low, high, 8, True)
        return [
            of_channels(x, low, high),
            of_channels(x, low, high, 4, True),
            of_channels(x[0, 0], low, high),
            tf.matmul(x, rounded, transpose_b=True),
        ]

    check(outputs, _numbers(2, 3, 6))


def test_more_than_8_bits_are_limits() -> None:
    step = 7.0 / (2**12 - 1)
    weights = _numbers(40)

    def outputs(x: Any) -> list[Any]:
        of = tf.quantization.fake_quant_with_min_max_args
        return [of(x, -1.0, 6.0, 12), x + of(tf.constant(weights), -1.0, 6.0, 12)]

    check(outputs, _numbers(3, 40), tolerance=step)


def test_zeros_need_no_range() -> None:
    weights = _numbers(5, 3) * np.array([1, 0, 1], np.float32)

    def outputs(x: Any) -> list[Any]:
        none = tf.quantization.fake_quant_with_min_max_vars(tf.zeros(5), 0.0, 0.0)
        rounded = tf.quantization.fake_quant_with_min_max_vars_per_channel(
            tf.constant(weights), [-3.0, 0.0, -2.0], [3.0, 0.0, 2.0]
        )
        return [x + none, tf.matmul(x, rounded)]

    check(outputs, _numbers(4, 5))


_NAN, _INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (6.0, -6.0, "the range is 6 to -6 .*exchanged"),
        (_NAN, 6.0, "the range is nan to 6 .*train"),
        (0.0, _INF, "the range is 0 to inf .*train"),
        (3.0, 3.0, "the range is 3 to 3 .*train"),
        (0.0, 0.0, "the range is 0 to 0 .*train"),
        (0.0, 1e-40, "the range is 0 to 9.99995e-41 .*train"),
        (-3e38, 3e38, "the range is -3e[+]38 to 3e[+]38 .*train"),
    ],
)
def test_wrong_ranges(low: float, high: float, message: str) -> None:
    with pytest.raises(UnsupportedNodesError, match=f"(?s)layer/range.*{message}"):
        check(
            lambda x: tf.quantization.fake_quant_with_min_max_vars(
                x, low, high, name="layer/range"
            ),
            _numbers(3),
        )


def test_wrong_ranges_of_channels() -> None:
    of_channels = tf.quantization.fake_quant_with_min_max_vars_per_channel
    with pytest.raises(UnsupportedNodesError, match="channel 1 is 2 to -2"):
        check(lambda x: of_channels(x, [-1.0, 2.0], [1.0, -2.0]), rand(3, 2))
    # Weights that are not zeros do not fit a range of zeros.
    weights = tf.constant(_numbers(2, 2))
    with pytest.raises(UnsupportedNodesError, match="channel 0 is 0 to 0"):
        check(lambda x: x @ of_channels(weights, [0.0, -1.0], [0.0, 1.0]), rand(3, 2))


def test_ranges_that_are_computed() -> None:
    with pytest.raises(UnsupportedNodesError, match="max .* is computed at run time"):
        check(
            lambda x: tf.quantization.fake_quant_with_min_max_vars(
                x, -1.0, tf.reduce_max(x)
            ),
            _numbers(3),
        )


_CODES = np.arange(256).reshape(16, 16)


@pytest.mark.parametrize("mode", ["MIN_FIRST", "MIN_COMBINED", "SCALED"])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("low_high", [(-1.0, 2.5), (-3.0, 0.5)])
def test_modes(low_high: tuple[float, float], signed: bool, mode: str) -> None:
    codes = (_CODES - 128).astype(np.int8) if signed else _CODES.astype(np.uint8)

    def function(x: Any) -> Any:
        dtype = tf.qint8 if signed else tf.quint8
        return x + tf.raw_ops.Dequantize(
            input=tf.constant(codes, dtype),
            min_range=tf.constant(low_high[0]),
            max_range=tf.constant(low_high[1]),
            mode=mode,
        )

    check(function, rand(16, 16), tolerance=1e-6)


def test_computed_codes_are_refused() -> None:
    def function(x: Any) -> Any:
        codes = tf.raw_ops.QuantizeV2(
            input=x,
            min_range=tf.constant(-1.0),
            max_range=tf.constant(1.0),
            T=tf.quint8,
        )
        return tf.raw_ops.Dequantize(
            input=codes[0], min_range=codes[1], max_range=codes[2]
        )

    with pytest.raises(UnsupportedNodesError, match="quantize: 1"):
        check(function, rand(4))


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

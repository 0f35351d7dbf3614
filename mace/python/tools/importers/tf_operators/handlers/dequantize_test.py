# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Weights in 8 bits, against TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("dequantize")
check = _FAMILY.check
_CODES = np.arange(256).reshape(16, 16)


@pytest.mark.parametrize("mode", ["MIN_FIRST", "MIN_COMBINED", "SCALED"])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("low_high", [(-1.0, 2.5), (-3.0, 0.5)])
def test_modes(
    low_high: tuple[float, float], signed: bool, mode: str, tmp_path: Path
) -> None:
    codes = (_CODES - 128).astype(np.int8) if signed else _CODES.astype(np.uint8)

    def function(x: Any) -> Any:
        dtype = tf.qint8 if signed else tf.quint8
        return x + tf.raw_ops.Dequantize(
            input=tf.constant(codes, dtype),
            min_range=tf.constant(low_high[0]),
            max_range=tf.constant(low_high[1]),
            mode=mode,
        )

    check(tmp_path, function, rand(16, 16), tolerance=1e-6)


def test_computed_codes_are_refused(tmp_path: Path) -> None:
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
        check(tmp_path, function, rand(4))


def test_all_operators_were_tried() -> None:
    _FAMILY.assert_all_tried()

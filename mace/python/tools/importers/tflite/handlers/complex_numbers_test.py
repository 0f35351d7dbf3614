# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms, against TensorFlow Lite's interpreter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.base import ImportModelError, UnsupportedNodesError
from mace.python.tools.importers.tflite.testing import (
    Family,
    converted,
    import_file,
    one_operator,
    rand,
)

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("complex_numbers")


def test_short_time(tmp_path: Path) -> None:
    _FAMILY.check(
        tmp_path,
        lambda x: tf.abs(tf.signal.stft(x, 16, 8, fft_length=32)),
        rand(2, 64),
        tolerance=1e-4,
    )


@pytest.mark.parametrize("part", ["real", "imag"])
def test_two_axes(part: str, tmp_path: Path) -> None:
    _FAMILY.check(
        tmp_path,
        lambda x: getattr(tf.math, part)(tf.signal.rfft2d(x)),
        rand(3, 8, 16),
        tolerance=1e-4,
    )


def test_what_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(converted(lambda x: tf.signal.rfft2d(x), [rand(4, 8)]))
    with pytest.raises(ImportModelError, match="complex numbers"):
        import_file(path)
    x = np.zeros((2, 2), np.complex64)
    path.write_bytes(one_operator("NEG", [x], [((2, 2), "complex64")]))
    with pytest.raises((ImportModelError, UnsupportedNodesError), match="complex64"):
        import_file(path)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()

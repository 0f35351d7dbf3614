# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantizes ONNX networks after training, by ONNX Runtime's quantizer."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

from onnxruntime import quantization
from onnxruntime.quantization.shape_inference import quant_pre_process

from benchmarks.accuracy.engines import Pixels

# How it chooses ranges.
METHODS = {
    "min_max": quantization.CalibrationMethod.MinMax,
    "percentile": quantization.CalibrationMethod.Percentile,
    "entropy": quantization.CalibrationMethod.Entropy,
}
_BATCH = 32


class _Samples(quantization.CalibrationDataReader):  # type: ignore[misc]
    def __init__(self, name: str, pixels: Pixels) -> None:
        self._batches: Iterator[Pixels] = (
            pixels[i : i + _BATCH] for i in range(0, len(pixels), _BATCH)
        )
        self._name = name

    def get_next(self) -> dict[str, Pixels] | None:
        batch = next(self._batches, None)
        return None if batch is None else {self._name: batch}


def quantize(source: Path, method: str, samples: Pixels, target: Path) -> None:
    """Writes a network with QuantizeLinear and DequantizeLinear.

    Activations are uint8, weights int8 with a scale for each output.

    Args:
        source: in float32, with the input `image`.
        method: of METHODS.
        samples: images for the ranges.
        target: the file to write.
    """
    # It prints what it does.
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        prepared = Path(folder) / "prepared.onnx"
        # Its symbolic inference needs a package that is not installed.
        quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        quantization.quantize_static(
            str(prepared),
            str(target),
            _Samples("image", samples),
            quant_format=quantization.QuantFormat.QDQ,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
            per_channel=True,
            calibrate_method=METHODS[method],
        )

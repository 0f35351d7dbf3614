# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantizes ONNX networks after training, by ONNX Runtime's quantizer."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

from onnxruntime.quantization import QuantType, quantize_dynamic

from benchmarks.accuracy.engines import Pixels
from test.conformance.onnx import quantizer

# How it chooses ranges.
METHODS = {
    "min_max": quantizer.MIN_MAX,
    "percentile": quantizer.PERCENTILE,
    "entropy": quantizer.ENTROPY,
}
_BATCH = 32


def quantize(source: Path, method: str, samples: Pixels, target: Path) -> None:
    """Writes a network with QuantizeLinear and DequantizeLinear.

    Activations are uint8, weights int8 with a scale for each output.

    Args:
        source: in float32, with the input `image`.
        method: of METHODS.
        samples: images for the ranges.
        target: the file to write.
    """
    batches = (samples[i : i + _BATCH] for i in range(0, len(samples), _BATCH))
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        quantizer.prepare(source, prepared)
        quantizer.quantize(prepared, target, "image", batches, method=METHODS[method])


def quantize_products(source: Path, target: Path) -> None:
    """Writes a network whose products each run quantizes: weights int8 with a scale for
    each output, and one scale for the whole of what they are multiplied by.
    """
    logging.disable(logging.WARNING)
    try:
        quantize_dynamic(source, target, weight_type=QuantType.QInt8, per_channel=True)
    finally:
        logging.disable(logging.NOTSET)

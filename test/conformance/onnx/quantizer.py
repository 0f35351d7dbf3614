# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's quantizer, which must be installed."""

from __future__ import annotations

import io
from collections.abc import Iterable
from contextlib import redirect_stdout
from pathlib import Path

from mace.python.tools.ir.dtypes import Array

# How it chooses ranges, by its names.
MIN_MAX, PERCENTILE, ENTROPY = "MinMax", "Percentile", "Entropy"


def prepare(source: Path, to: Path) -> None:
    """Writes a network with its batch normalisations in the filters, as ONNX Runtime
    advises before quantizing.
    """
    from onnxruntime.quantization.shape_inference import quant_pre_process

    # It prints what it does.
    with redirect_stdout(io.StringIO()):
        # Its symbolic inference needs a package that is not installed.
        quant_pre_process(str(source), str(to), skip_symbolic_shape=True)


def quantize(
    source: Path,
    to: Path,
    name: str,
    samples: Iterable[Array],
    *,
    activations: str = "QUInt8",
    per_channel: bool = True,
    method: str = MIN_MAX,
    seven_bits: bool = False,
) -> None:
    """Writes a network with QuantizeLinear and DequantizeLinear; weights are int8.

    Args:
        source: in float32.
        name: of its input.
        samples: for the ranges, each what one run takes.
        activations: QUInt8, QInt8, QUInt16 or QInt16.
        per_channel: whether weights have a scale for each output.
        method: one of those above.
        seven_bits: of weights, whose products with uint8 ONNX Runtime adds without
            saturation on every processor.
    """
    from onnxruntime import quantization

    left = iter(samples)

    class Samples(quantization.CalibrationDataReader):  # type: ignore[misc]
        def get_next(self) -> dict[str, Array] | None:
            sample = next(left, None)
            return None if sample is None else {name: sample}

    with redirect_stdout(io.StringIO()):
        quantization.quantize_static(
            str(source),
            str(to),
            Samples(),
            quant_format=quantization.QuantFormat.QDQ,
            activation_type=quantization.QuantType[activations],
            weight_type=quantization.QuantType.QInt8,
            per_channel=per_channel,
            reduce_range=seven_bits,
            calibrate_method=quantization.CalibrationMethod[method],
        )

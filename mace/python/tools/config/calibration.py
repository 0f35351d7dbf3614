# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The keys of `calibration`: how a model is quantized by samples."""

from __future__ import annotations

from typing import Annotated, Optional

from annotated_types import Ge, Le

from mace.python.tools.config import values as v
from mace.python.tools.config.keys import Section, key
from mace.python.tools.config.vocabulary import CalibrationMethod

_Percentile = Annotated[
    float, Ge(50), Le(100), v.Accepts("a number from 50 to 100", "number")
]
_Decibels = Annotated[
    float, Ge(0), Le(200), v.Accepts("a number from 0 to 200", "number")
]


class CalibrationConfig(Section):
    """How the samples of a folder quantize a model."""

    input_dir: Optional[v.Location] = key(
        "Folder of samples, raw files `<input><suffix>` with one suffix for each "
        "sample; `--input_dir` takes its place.",
        "the scales of tensors",
    )
    samples: v.Count = key(
        "The most samples to take, evenly spread over all; `0`: all.",
        "the scales of tensors",
        default=128,
    )
    method: Annotated[CalibrationMethod, v.Words(CalibrationMethod)] = key(
        "How ranges are chosen: by all elements, by all but a share of them, with the "
        "least mean square error, or with the least divergence of distributions.",
        "the scales of tensors",
        default=CalibrationMethod.MSE,
    )
    percentile: _Percentile = key(
        "Share of elements inside the range, in percent, for the method `percentile`.",
        "the scales of tensors",
        default=99.99,
    )
    equalise: v.Flag = key(
        "Try to equalise the ranges of channels across layers; kept if outputs "
        "become more precise.",
        "the weights",
        default=True,
    )
    correct_bias: v.Flag = key(
        "Try to correct biases for the rounding of weights, likewise.",
        "the biases",
        default=True,
    )
    min_sqnr: _Decibels = key(
        "Least signal to quantization noise ratio of each output, in dB, over the "
        "samples. Layers that cost most stay in floats until it is reached, at most "
        "half of them.",
        "which operators compute in integers",
        default=20.0,
    )

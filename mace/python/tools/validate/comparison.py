# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares one tensor with its reference and decides whether it passes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mace.python.tools.config.vocabulary import Arithmetic, MeasuredAs, Runtime
from mace.python.tools.validate.metrics import Array, Metrics, compute_metrics

# The least cosine similarity that passes, unless the deployment file's
# validation_threshold says otherwise (DS-08). It is lower for half precision (on the
# GPU, and on the CPU if data_type asks for it) and 8-bit weights, which lose more
# accuracy.
_DEFAULTS: Mapping[Runtime, float] = {
    Runtime.CPU: 0.999,
    Runtime.GPU: 0.995,
    Runtime.DSP: 0.980,
    Runtime.HTA: 0.980,
    Runtime.HTP: 0.980,
    Runtime.APU: 0.980,
}
_ROUNDED = 0.995
_QUANTIZED = 0.980

_NO_METRICS = Metrics(math.nan, math.nan, math.nan, math.nan, math.nan, 0)


@dataclass(frozen=True)
class Comparison:
    """The verdict on one tensor.

    Attributes:
        name: as the deployment file (or, for a layer, the framework) calls it.
        metrics: NaN throughout when `failure` says the tensors cannot be
            compared.
        threshold: least similarity that passes.
        failure: why it failed; empty when it passed.
        computed: false when MACE gave no such tensor.
    """

    name: str
    metrics: Metrics
    threshold: float
    failure: str = ""
    computed: bool = True

    @classmethod
    def of_nothing(cls, name: str, threshold: float) -> Comparison:
        """The verdict on a tensor that MACE did not return."""
        failure = "not computed: its run failed"
        return cls(name, _NO_METRICS, threshold, failure, computed=False)

    @property
    def passed(self) -> bool:
        return not self.failure

    def line(self) -> str:
        """The line that is printed for an output."""
        if not self.computed:
            return f"{self.name}: FAILED, {self.failure}"
        m = self.metrics
        text = (
            f"{self.name}: cosine similarity {m.similarity:.9f}, "
            f"SQNR {_number(m.sqnr)} ({_number(m.sqnr_db)} dB), "
            f"pixel accuracy {m.pixel_accuracy:.4f}, "
            f"max abs error {m.max_abs_error:.3g}, "
            f"max rel error {m.max_rel_error:.3g}"
        )
        return f"{text}: FAILED, {self.failure}" if self.failure else f"{text}: passed"


def similarity_threshold(
    runtime: Runtime,
    configured: Mapping[MeasuredAs, float],
    quantized: bool,
    rounded: bool = False,
) -> float:
    """The least similarity that passes on a device.

    Args:
        runtime: where the model ran; of several devices, the least of all.
        configured: what the deployment file says; of a quantized model, what it says
            for these comes before what it says for a device.
        quantized: whether the model computes in 8 bits.
        rounded: whether operands are rounded to 16 bits, or weights to 8.
    """
    if quantized and Arithmetic.QUANTIZED in configured:
        return configured[Arithmetic.QUANTIZED]
    if len(runtime.devices) > 1:
        return min(
            similarity_threshold(device, configured, quantized, rounded)
            for device in runtime.devices
        )
    if runtime in configured:
        return configured[runtime]
    least = _DEFAULTS[runtime]
    if rounded:
        least = min(least, _ROUNDED)
    return min(least, _QUANTIZED) if quantized else least


def compare_tensor(
    name: str,
    expected: Array,
    actual: Array,
    threshold: float,
    class_axis: int = -1,
) -> Comparison:
    """Compares `actual` (MACE) with `expected` (the framework). NaN or infinity fails,
    in either of the two.
    """
    if expected.shape != actual.shape:
        return Comparison(
            name,
            _NO_METRICS,
            threshold,
            f"shape {list(actual.shape)} instead of {list(expected.shape)}",
        )
    metrics = compute_metrics(expected, actual, class_axis)
    return Comparison(
        name, metrics, threshold, _failure(expected, actual, metrics, threshold)
    )


def _failure(expected: Array, actual: Array, metrics: Metrics, threshold: float) -> str:
    if metrics.non_finite:
        nan = int(np.count_nonzero(np.isnan(np.asarray(actual, dtype=np.float64))))
        return (
            f"{nan} NaN and {metrics.non_finite - nan} Inf among {actual.size} values"
        )
    if math.isnan(metrics.similarity):
        return "the framework's own result holds NaN or Inf"
    if metrics.similarity < threshold:
        return f"cosine similarity is below {threshold:g}"
    return ""


def _number(value: float) -> str:
    """Compact, without an exponent for usual sizes."""
    if math.isnan(value) or math.isinf(value):
        return str(value)
    return f"{value:.3f}" if abs(value) < 1e6 else f"{value:.3e}"

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares one tensor with its reference and decides whether it passes."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mace.python.tools.atomic import atomic_write
from mace.python.tools.config.vocabulary import (
    Arithmetic,
    DataFormat,
    MeasuredAs,
    Platform,
    Runtime,
)
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, NHWC_TO_NCHW
from mace.python.tools.validate.metrics import Array, Metrics, compute_metrics

# Channels first or last: converts arrays between the two orders.
#
# MACE keeps rank-4 activations channels last (NHWC). ONNX and Caffe put channels
# first (NCHW), TensorFlow and TensorFlow Lite put them last.


def framework_format(platform: Platform) -> DataFormat:
    """The position of a framework's channels."""
    if platform in (Platform.TENSORFLOW, Platform.TFLITE, Platform.KERAS):
        return DataFormat.NHWC
    return DataFormat.NCHW


def convert(array: Array, source: DataFormat, target: DataFormat) -> Array:
    """Moves the channels of a rank-4 array; other ranks and NONE stay."""
    if array.ndim != 4 or source is target or DataFormat.NONE in (source, target):
        return array
    perm = NHWC_TO_NCHW if target is DataFormat.NCHW else NCHW_TO_NHWC
    return np.ascontiguousarray(array.transpose(perm))


def class_axis(rank: int, data_format: DataFormat) -> int:
    """The dimension of the classes, for pixel accuracy."""
    return 1 if rank == 4 and data_format is DataFormat.NCHW else -1


def candidates(
    array: Array, axes: tuple[int, ...] | None, shape: tuple[int, ...]
) -> list[Array]:
    """The ways in which `array`, an intermediate tensor of MACE, can be converted to
    the framework's tensor of `shape`: one at most, as the model file says where the
    framework's axes are. Files of earlier releases do not; the shapes almost always
    show whether the channels were moved. If all three dimensions are equal, both ways
    are possible, and the caller uses the better one.

    Args:
        axes: of the framework's tensor, by axis of `array`; empty for the same ones,
            None if the file does not say.
    """
    if axes is not None:
        if len(axes) == array.ndim:
            array = np.ascontiguousarray(array.transpose(np.argsort(axes)))
        elif axes:
            return []
        same = _squeezed(array.shape) == _squeezed(shape)
        return [array.reshape(shape)] if same else []
    found = []
    if array.shape == shape:
        found.append(array)
    if array.ndim == 4 and len(shape) == 4:
        moved = array.transpose(NHWC_TO_NCHW)
        if moved.shape == shape:
            found.append(np.ascontiguousarray(moved))
    # Dimensions of 1 that a pass dropped or added.
    if not found and _squeezed(array.shape) == _squeezed(shape):
        found.append(array.reshape(shape))
    return found


def _squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dim for dim in shape if dim != 1)


# Of log.csv.
COLUMNS = ("output_name", "similarity", "sqnr", "pixel_accuracy")

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

# A result whose error is at most so many times the framework's own variation is as good
# as the framework's. MACE rounds in every operator, and not only its inputs: measured
# on EfficientNet-B0 with random weights, its error is 1.6 times the variation.
_OWN_VARIATION = 4.0
# The cosine similarity t is that of a relative error of sqrt(2 (1 - t)) across the
# expected vector. It does not see an error along the vector; of that, twice as much
# passes, and always 1 %.
_FACTOR = 2.0
_LEAST_FACTOR = 0.01
# Below this similarity of the framework with itself, its result says nothing.
_MEANINGLESS = 0.9

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
        variation: how the framework's own result changes if its inputs are moved by
            rounding; None if that was not computed.
        decided: false when the tensors say nothing: the framework's own result varies
            too much, all values are the same, or each run draws random numbers; then
            the tensor does not fail either.
        note: what the verdict does not say alone: that the framework varies as much,
            or that the values are all the same.
    """

    name: str
    metrics: Metrics
    threshold: float
    failure: str = ""
    computed: bool = True
    variation: Metrics | None = None
    decided: bool = True
    note: str = ""

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
        if self.variation is not None:
            text += (
                " (the framework's own, with inputs moved by rounding: "
                f"{self.variation.max_rel_error:.3g})"
            )
        verdict = "passed" if self.decided else "NOT DECIDED"
        if self.failure:
            verdict = f"FAILED, {self.failure}"
        return f"{text}: {verdict}" + (f"; {self.note}" if self.note else "")


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
    variation: Metrics | None = None,
    drawn_by: str = "",
) -> Comparison:
    """Compares `actual` (MACE) with `expected` (the framework). NaN or infinity fails,
    in either of the two. So do values that are all larger or smaller than expected,
    which the cosine does not see. A result passes if it is as close to the framework's
    as that is to itself.

    Args:
        variation: of the framework's result with inputs moved by rounding.
        drawn_by: the operator whose random numbers the tensor depends on; empty: none.
    """
    if expected.shape != actual.shape:
        return Comparison(
            name,
            _NO_METRICS,
            threshold,
            f"shape {list(actual.shape)} instead of {list(expected.shape)}",
        )
    metrics = compute_metrics(expected, actual, class_axis)
    failure = _failure(expected, actual, metrics, threshold)
    note = "" if metrics.non_finite else _constant(expected, actual)
    # A single value is compared by its size.
    decided = bool(failure) or not note or expected.size == 1
    if failure and variation is not None and _varies_as_much(metrics, variation):
        decided = variation.similarity >= _MEANINGLESS
        failure, note = "", _own_variation(failure, variation, decided)
    if failure and drawn_by and not metrics.non_finite:
        decided = False
        failure, note = "", _random(failure, drawn_by)
    return Comparison(
        name,
        metrics,
        threshold,
        failure,
        variation=variation,
        decided=decided,
        note=note,
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
    return _other_size(expected, actual, threshold)


def _other_size(expected: Array, actual: Array, threshold: float) -> str:
    """How much larger the values of MACE are, if that is too much."""
    want, have = (float(np.linalg.norm(_in_doubles(x))) for x in (expected, actual))
    if want == 0:
        return ""
    across = math.sqrt(2 * max(0.0, 1 - threshold))
    if abs(have / want - 1) <= max(_FACTOR * across, _LEAST_FACTOR):
        return ""
    return (
        f"the values are {have / want:.4g} times the framework's, which the cosine "
        "similarity does not see"
    )


def _varies_as_much(metrics: Metrics, variation: Metrics) -> bool:
    """Whether the framework's own result varies by as much as MACE's is away."""
    if metrics.non_finite or not math.isfinite(variation.sqnr):
        return False
    return metrics.sqnr >= variation.sqnr / _OWN_VARIATION**2


def _random(failure: str, drawn_by: str) -> str:
    return (
        f"{failure}, but it depends on random numbers ({drawn_by}), and no two "
        "frameworks draw the same ones. End the model before, or begin it behind them "
        "(output_tensors, input_tensors), to compare the rest"
    )


def _own_variation(failure: str, variation: Metrics, decided: bool) -> str:
    note = (
        f"{failure}, but rounding does as much to the framework's own result: with its "
        "inputs moved by one unit in the last place, its similarity to itself is "
        f"{variation.similarity:.6f}"
    )
    if decided:
        return note
    return (
        f"{note}. So this result says nothing of the model: validate with trained "
        "weights or real inputs (validation_inputs_data)"
    )


def _constant(expected: Array, actual: Array) -> str:
    """What is said of a tensor of equal values, whose cosine is 1 or -1 always."""
    if expected.size == 0:
        return ""
    if expected.size == 1:
        want, have = _in_doubles(expected)[0], _in_doubles(actual)[0]
        return f"one value, {have:.6g}, where the framework has {want:.6g}"
    of = [
        f"all {x.size} values of {whose} are {_in_doubles(x)[0]:.6g}"
        for x, whose in ((expected, "the framework"), (actual, "MACE"))
        if np.all(x == x.flat[0])
    ]
    if not of:
        return ""
    return (
        f"{' and '.join(of)}: equal values hardly tell right from wrong; are the "
        "inputs real ones (validation_inputs_data)?"
    )


def _in_doubles(array: Array) -> Array:
    return np.asarray(array, dtype=np.float64).ravel()


def _number(value: float) -> str:
    """Compact, without an exponent for usual sizes."""
    if math.isnan(value) or math.isinf(value):
        return str(value)
    return f"{value:.3f}" if abs(value) < 1e6 else f"{value:.3e}"


def write_log(path: Path, comparisons: Sequence[Comparison]) -> None:
    """Replaces `log.csv`: the last validation of a model, for spreadsheets (OT-12).

    Numbers have all their digits.
    """
    with atomic_write(path, "w") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for item in comparisons:
            m = item.metrics
            writer.writerow(
                (item.name, repr(m.similarity), repr(m.sqnr), repr(m.pixel_accuracy))
            )

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of the difference between a result and the expected one, in float64.

With X expected and X' actual:

* cosine similarity  X.X' / (|X| |X'|), 1 when they agree up to scale (VA-01)
* SQNR               |X|^2 / |X - X'|^2, a ratio, not decibels (VA-02)
* pixel accuracy     share of rows whose largest element is the same (VA-03)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Metrics:
    """What was found; NaN where a value that is no number forbids an answer.

    Attributes:
        max_abs_error: largest |X - X'|.
        max_rel_error: that, divided by the largest |X|: what an element may
            be wrong by on the scale of the tensor. Element by element the
            quotient would only tell of elements that are nearly 0.
        non_finite: how many elements of X' are NaN or Inf.
    """

    similarity: float
    sqnr: float
    pixel_accuracy: float
    max_abs_error: float
    max_rel_error: float
    non_finite: int

    @property
    def sqnr_db(self) -> float:
        """SQNR in decibels."""
        if math.isnan(self.sqnr) or math.isinf(self.sqnr):
            return self.sqnr
        return 10 * math.log10(self.sqnr) if self.sqnr > 0 else -math.inf


def compute_metrics(expected: Array, actual: Array, class_axis: int = -1) -> Metrics:
    """Compares two arrays of one shape.

    Args:
        expected: from the original framework.
        actual: from MACE, in the same order of dimensions.
        class_axis: the dimension whose elements compete in pixel accuracy.

    Raises:
        ValueError: the shapes differ.
    """
    if expected.shape != actual.shape:
        raise ValueError(f"shapes differ: {expected.shape} and {actual.shape}")
    x = np.asarray(expected, dtype=np.float64)
    y = np.asarray(actual, dtype=np.float64)
    non_finite = int(y.size - np.count_nonzero(np.isfinite(y)))
    if non_finite or not np.isfinite(x).all():
        nan = math.nan
        return Metrics(nan, nan, nan, nan, nan, non_finite)
    return Metrics(
        similarity=cosine_similarity(x, y),
        sqnr=sqnr(x, y),
        pixel_accuracy=pixel_accuracy(x, y, class_axis),
        max_abs_error=_largest(x - y),
        max_rel_error=_quotient(_largest(x - y), _largest(x)),
        non_finite=0,
    )


def cosine_similarity(expected: Array, actual: Array) -> float:
    """Two zero (or empty) tensors are equal; a zero tensor and another one are not."""
    x = np.asarray(expected, dtype=np.float64).ravel()
    y = np.asarray(actual, dtype=np.float64).ravel()
    # Scaled first: the square of a large float32 is finite in float64, but the square
    # of a very large float64 is not.
    x_scale, y_scale = _largest(x), _largest(y)
    if x_scale == 0 or y_scale == 0:
        return 1.0 if x_scale == y_scale else 0.0
    x, y = x / x_scale, y / y_scale
    cosine = float(x @ y) / math.sqrt(float(x @ x) * float(y @ y))
    # Rounding may give 1.0000000000000002.
    return max(-1.0, min(1.0, cosine))


def sqnr(expected: Array, actual: Array) -> float:
    """Infinite when the tensors are equal."""
    x = np.asarray(expected, dtype=np.float64).ravel()
    noise = x - np.asarray(actual, dtype=np.float64).ravel()
    noise_power = float(noise @ noise)
    if noise_power == 0:
        return math.inf
    return float(x @ x) / noise_power


def pixel_accuracy(expected: Array, actual: Array, class_axis: int = -1) -> float:
    """Rows run along `class_axis`; a scalar or empty tensor counts as right.

    A tensor of one dimension is one row.
    """
    if expected.ndim == 0 or expected.size == 0:
        return 1.0
    same = np.argmax(expected, axis=class_axis) == np.argmax(actual, axis=class_axis)
    return float(np.mean(same))


def moved_by_rounding(values: Array, seed: int = 1) -> Array:
    """Each float replaced by one of its two neighbours; zeros and numbers of other
    types are kept. The array itself, if nothing moves.
    """
    if values.dtype.kind != "f" or not np.any(values):
        return values
    up = np.random.default_rng(seed).integers(2, size=values.shape, dtype=np.uint8)
    ends = np.where(up, np.inf, -np.inf).astype(values.dtype)
    return np.where(values == 0, values, np.nextafter(values, ends))


def _largest(x: Array) -> float:
    return float(np.max(np.abs(x))) if x.size else 0.0


def _quotient(part: float, whole: float) -> float:
    if whole == 0:
        return 0.0 if part == 0 else math.inf
    return part / whole

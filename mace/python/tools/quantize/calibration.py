# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses the range of a tensor by a histogram of its elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from mace.python.tools.config.vocabulary import CalibrationMethod as Method
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.quantize.histogram import Histogram
from mace.python.tools.quantize.ranges import Range

# The steps between the ends of a range.
_STEPS = 255
# The share of the whole range that a narrower one may have, and how many are tried.
_LEAST_SHARE, _TRIED = 0.05, 96
# Added to empty bins, relative to all elements: a logarithm needs more than 0.
_LEAST_DENSITY = 1e-12


def choose_range(
    histogram: Histogram, method: Method, percentile: float = 99.99
) -> Range:
    """The range that integers are to represent, with 0.

    Args:
        percentile: of PERCENTILE: the share of elements, in percent, inside the range.
    """
    whole = histogram.range.with_zero()
    if method is Method.MIN_MAX or whole.low == whole.high:
        return whole
    if method is Method.PERCENTILE:
        return _percentile(histogram, whole, percentile)
    error = _square_error if method is Method.MSE else _divergence
    return _least(histogram, whole, error)


def _percentile(histogram: Histogram, whole: Range, percentile: float) -> Range:
    shares = np.cumsum(histogram.counts) / histogram.counts.sum()
    cut = (100 - percentile) / 200
    centres = histogram.centres
    first, last = (int(np.searchsorted(shares, share)) for share in (cut, 1 - cut))
    low, high = float(centres[first]), float(centres[min(last, centres.size - 1)])
    if cut == 0:
        return whole
    return Range(low, high).with_zero()


_Error = Callable[[Array, Array, Range], float]


def _least(histogram: Histogram, whole: Range, error: _Error) -> Range:
    """The range with the least error: both ends by one share of the whole range, then
    each end alone.
    """
    # After ReLU, half of all elements are 0. As a distribution they would be best
    # represented by steps as narrow as a bin.
    nonzero = histogram.nonzero_counts
    used = nonzero > 0
    if not used.any():
        return whole
    centres = histogram.centres[used]
    counts = nonzero[used].astype(np.float64)

    def best(ranges: Iterable[Range]) -> Range:
        return min(ranges, key=lambda found: error(centres, counts, found))

    shares = np.linspace(1, _LEAST_SHARE, _TRIED)
    found = best(Range(whole.low * share, whole.high * share) for share in shares)
    if whole.low < 0 < whole.high:
        found = best(Range(whole.low * share, found.high) for share in shares)
        found = best(Range(found.low, whole.high * share) for share in shares)
    return found


def _square_error(centres: Array, counts: Array, tried: Range) -> float:
    scale = (tried.high - tried.low) / _STEPS
    zero = np.rint(tried.low / scale)
    steps = np.clip(np.rint(centres / scale), zero, zero + _STEPS)
    return float((counts * np.square(centres - steps * scale)).sum())


def _divergence(centres: Array, counts: Array, tried: Range) -> float:
    """From the distribution clipped to the range to that of its integers, each of which
    is spread over the bins that it stands for.
    """
    scale = (tried.high - tried.low) / _STEPS
    zero = np.rint(tried.low / scale)
    steps = np.clip(np.rint(centres / scale), zero, zero + _STEPS) - zero
    index = steps.astype(np.int64)
    inside = (centres >= tried.low) & (centres <= tried.high)
    # Elements outside become the outermost bins inside.
    clipped = np.where(inside, counts, 0.0)
    places = np.flatnonzero(inside)
    if not places.size:
        return float("inf")
    clipped[places[0]] += counts[: places[0]].sum()
    clipped[places[-1]] += counts[places[-1] + 1 :].sum()
    sums = np.bincount(index, np.where(inside, counts, 0.0), _STEPS + 1)
    bins = np.bincount(index, inside, _STEPS + 1)
    spread = (sums / np.maximum(bins, 1))[index][inside]
    p = clipped[inside] / clipped.sum()
    q = np.maximum(spread / counts.sum(), _LEAST_DENSITY)
    return float((p * np.log(np.maximum(p, _LEAST_DENSITY) / q)).sum())

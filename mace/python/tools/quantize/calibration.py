# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses the range of a tensor by a histogram of its elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from mace.python.tools.config.vocabulary import CalibrationMethod as Method
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.quantize.ranges import Range

# The most bins; there are at least half as many over the range of the first sample.
# 4096 are 16 for each of the 256 steps, and take 32 kB for a tensor.
_MOST_BINS = 4096


class Histogram:
    """Counts elements in bins that grow with the range, in memory that does not.

    A bin is [i * width, (i + 1) * width) with a width that is a power of two, so that
    twice as wide bins are pairs of bins, and 0 is always an edge.
    """

    def __init__(self) -> None:
        self.counts = np.zeros(0, np.int64)
        self.width = 0.0
        self.low, self.high = math.inf, -math.inf
        self._first = 0
        self._zeros = 0
        self._sums: Array | None = None
        self._rows = 0

    def add(self, array: Array) -> None:
        """Adds the elements of a finite tensor; the last axis is that of channels."""
        if array.size == 0:
            return
        low, high = float(array.min()), float(array.max())
        self.low, self.high = min(self.low, low), max(self.high, high)
        self._grow()
        index = np.floor(array.reshape(-1).astype(np.float64) / self.width)
        index = index.astype(np.int64) - self._first
        self.counts += np.bincount(index, minlength=self.counts.size)
        self._zeros += array.size - int(np.count_nonzero(array))
        rows = array.reshape(-1, array.shape[-1] if array.ndim else 1)
        sums = rows.sum(axis=0, dtype=np.float64)
        if self._sums is None or self._sums.shape != sums.shape:
            # The channels of a tensor with another last dimension each time mean
            # nothing.
            self._sums, self._rows = sums, 0
        else:
            self._sums += sums
        self._rows += rows.shape[0]

    @property
    def range(self) -> Range:
        """The ends of all elements; 0 without any."""
        return Range(self.low, self.high) if self.counts.size else Range(0.0, 0.0)

    @property
    def nonzero_counts(self) -> Array:
        """The counts without elements that are 0, which integers represent exactly."""
        counts = np.array(self.counts)
        if self._zeros:
            counts[-self._first] -= self._zeros
        return counts

    @property
    def means(self) -> Array:
        """The mean of each channel, [channels]; empty without elements."""
        if self._sums is None:
            return np.zeros(0)
        return np.asarray(self._sums / self._rows)

    @property
    def centres(self) -> Array:
        """The middle of each bin, inside of the range."""
        index = np.arange(self._first, self._first + self.counts.size)
        middle = (index + 0.5) * self.width
        return np.asarray(np.clip(middle, self.low, self.high))

    def coarse(self, bins: int) -> tuple[list[float], list[int]]:
        """Edges and counts of at most so many bins, for people."""
        if not self.counts.size:
            return [0.0], []
        group = -(-self.counts.size // bins)
        padded = np.pad(self.counts, (0, -self.counts.size % group))
        counts = padded.reshape(-1, group).sum(axis=1)
        edges = (self._first + group * np.arange(counts.size + 1)) * self.width
        return edges.tolist(), counts.tolist()

    def _grow(self) -> None:
        """Makes bins for the whole range."""
        if not self.width:
            largest = max(self.high - self.low, abs(self.low), abs(self.high))
            exponent = math.frexp(largest)[1] if largest else 0
            # Not so narrow that an element's quotient is no float64.
            self.width = math.ldexp(1.0, max(exponent, -900) - 11)
        while True:
            first = math.floor(self.low / self.width)
            count = math.floor(self.high / self.width) - first + 1
            if count <= _MOST_BINS:
                break
            self._merge_pairs()
        grown = np.zeros(count, np.int64)
        start = self._first - first
        grown[start : start + self.counts.size] = self.counts
        self.counts, self._first = grown, first

    def _merge_pairs(self) -> None:
        self.width *= 2
        if self.counts.size:
            odd = self._first % 2
            padded = np.pad(self.counts, (odd, (self.counts.size + odd) % 2))
            self.counts = padded.reshape(-1, 2).sum(axis=1)
            self._first //= 2


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

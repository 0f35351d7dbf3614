# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What is kept of a tensor over many samples: a histogram, its ends, its means."""

from __future__ import annotations

import math

import numpy as np

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

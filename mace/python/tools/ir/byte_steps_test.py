# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""That products of uint8 and int8 are exact on x86 without VNNI, whose instruction adds
two of them in 16 bits and saturates: with the weights that
mace/kernels/cpu/gemm/step_panels.h describes it never does, and sums are equal.
"""

from __future__ import annotations

import numpy as np
import pytest

from mace.python.tools.ir.dtypes import Array

_INT16 = np.iinfo(np.int16)
# Weights of one sign in a sum of 16 bits.
_LIMIT = 128


def _arranged(weights: Array) -> tuple[Array, Array, Array, int]:
    """Pairs [n, 2] as they are multiplied: weights, masks of the elements, what is left
    for a further step, and the correction of the sum.
    """
    to = weights.astype(np.int64)
    mask = np.zeros_like(to)
    rest = np.zeros_like(to)
    both = (to == -128).all(axis=1)
    rest[both, 1] = -1
    to[both, 1] = -127
    flips = np.abs(to.sum(axis=1)) > _LIMIT
    at = np.where(to[:, 1] == -128, 0, 1)[flips]
    rows = np.flatnonzero(flips)
    correction = int(255 * to[rows, at].sum())
    mask[rows, at] = 255
    to[rows, at] *= -1
    return to, mask, rest, correction


def _summed(elements: Array, weights: Array) -> int:
    """The sum of pairs, each in 16 bits without saturation, and of weights in int8."""
    assert weights.min() >= -128
    assert weights.max() <= 127
    sums = (elements * weights).sum(axis=1)
    assert sums.min() >= _INT16.min
    assert sums.max() <= _INT16.max
    return int(sums.sum())


_RANDOM = np.random.default_rng(0)
_EXTREMES = [-128, -127, -65, -64, -1, 0, 1, 64, 65, 127]
_WEIGHTS = {
    "random": _RANDOM.integers(-128, 128, (4096, 2)),
    "all pairs of extremes": np.array([(a, b) for a in _EXTREMES for b in _EXTREMES]),
    "greatest": np.full((64, 2), 127),
    "least": np.full((64, 2), -128),
    "alternating": np.tile([127, -128], (64, 1)),
}


@pytest.mark.parametrize("weights", _WEIGHTS.values(), ids=_WEIGHTS)
def test_no_pair_saturates_and_sums_are_exact(weights: Array) -> None:
    to, mask, rest, correction = _arranged(weights)
    shape = weights.shape
    images: tuple[Array, ...] = (
        np.zeros(shape, np.int64),
        np.full(shape, 255),
        np.asarray(np.where(to > 0, 255, 0) ^ mask),  # the largest sums
        np.asarray(np.where(to < 0, 255, 0) ^ mask),  # the least ones
        _RANDOM.integers(0, 2, shape) * 255,
        np.asarray(_RANDOM.integers(0, 256, shape)),
    )
    for elements in images:
        found = correction + _summed(elements ^ mask, to) + _summed(elements, rest)
        assert found == (elements * weights).sum()


def test_several_pairs_fit_one_sum() -> None:
    # As many weights as there are, if those of one sign are at most 128 together.
    for weights in ([128 // 4] * 4, [64, -64, 64, -64], [1, 127, -1, -127]):
        for sign in (1, -1):
            for element in np.ndindex(2, 2, 2, 2):
                total = sign * 255 * np.dot(element, weights)
                assert _INT16.min <= total <= _INT16.max
    assert _INT16.max < 255 * (_LIMIT + 1)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics against values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mace.python.tools.validate.metrics import (
    compute_metrics,
    cosine_similarity,
    moved_by_rounding,
    pixel_accuracy,
    sqnr,
)


def test_cosine_by_hand() -> None:
    # 3*4 + 4*3 = 24 over 5 * 5.
    assert cosine_similarity(np.array([3.0, 4.0]), np.array([4.0, 3.0])) == 0.96
    assert cosine_similarity(np.array([1.0, 0.0]), np.array([0.0, 2.0])) == 0.0
    assert cosine_similarity(np.array([1.0, 2.0]), np.array([-1.0, -2.0])) == -1.0


def test_cosine_ignores_scale_and_never_exceeds_one() -> None:
    x = np.random.default_rng(3).standard_normal(1001)
    assert cosine_similarity(x, 7 * x) == pytest.approx(1.0, abs=1e-15)
    assert cosine_similarity(x, 7 * x) <= 1.0
    assert cosine_similarity(x * 1e300, x * 1e-300) == pytest.approx(1.0, abs=1e-12)


def test_cosine_of_zeros() -> None:
    zero, one = np.zeros(3), np.ones(3)
    assert cosine_similarity(zero, zero) == 1.0
    assert cosine_similarity(zero, one) == 0.0
    assert cosine_similarity(one, zero) == 0.0


def test_sqnr_is_a_ratio() -> None:
    # 3^2 + 4^2 = 25 over 0.5^2 = 0.25.
    x, y = np.array([3.0, 4.0]), np.array([3.0, 4.5])
    assert sqnr(x, y) == 100.0
    assert compute_metrics(x, y).sqnr_db == pytest.approx(20.0)
    assert sqnr(x, x) == math.inf
    assert compute_metrics(x, x).sqnr_db == math.inf


def test_pixel_accuracy_counts_rows() -> None:
    x = np.array([[1, 2, 3], [3, 2, 1], [0, 5, 0], [0, 0, 9]])
    y = np.array([[1, 2, 3], [3, 2, 1], [9, 5, 0], [0, 0, 9]])
    assert pixel_accuracy(x, y) == 0.75
    assert pixel_accuracy(x[0], y[0]) == 1.0
    assert pixel_accuracy(np.array(2.0), np.array(3.0)) == 1.0
    # The same picture with channels first.
    assert pixel_accuracy(x.T, y.T, class_axis=0) == 0.75


def test_errors_by_hand() -> None:
    metrics = compute_metrics(np.array([1.0, -8.0]), np.array([1.5, -8.0]))
    assert metrics.max_abs_error == 0.5
    assert metrics.max_rel_error == 0.0625


def test_float32_inputs_are_widened_first() -> None:
    # In float32 the squares would overflow to Inf.
    x = np.full(4, 1e30, dtype=np.float32)
    metrics = compute_metrics(x, x)
    assert metrics.similarity == 1.0
    assert metrics.sqnr == math.inf


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_values_that_are_no_numbers(bad: float) -> None:
    good = np.array([1.0, 2.0])
    broken = np.array([1.0, bad])
    metrics = compute_metrics(good, broken)
    assert metrics.non_finite == 1
    assert math.isnan(metrics.similarity)
    # In the expected tensor, too: never a pass by accident.
    assert math.isnan(compute_metrics(broken, good).similarity)


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="shapes differ"):
        compute_metrics(np.zeros((2, 3)), np.zeros((3, 2)))


def test_empty_tensors_agree() -> None:
    metrics = compute_metrics(np.zeros((0, 3)), np.zeros((0, 3)))
    assert (metrics.similarity, metrics.pixel_accuracy) == (1.0, 1.0)


def test_rounding_moves_floats_to_a_neighbour_and_keeps_the_rest() -> None:
    x = np.array([0.0, 1.0, -3.5, 1e30], np.float32)
    moved = moved_by_rounding(np.tile(x, 50)).reshape(50, 4)
    assert moved.dtype == np.float32
    assert not moved[:, 0].any()
    for column, value in zip(moved.T[1:], x[1:]):
        neighbours = {np.nextafter(value, np.float32(e)) for e in (np.inf, -np.inf)}
        assert set(column) == neighbours
    indices = np.arange(4)
    assert moved_by_rounding(indices) is indices
    zeros = np.zeros(3, np.float32)
    assert moved_by_rounding(zeros) is zeros

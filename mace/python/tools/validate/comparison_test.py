# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts, thresholds and the file they are kept in."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.config.vocabulary import Arithmetic, MeasuredAs, Runtime
from mace.python.tools.validate import Metrics, compare_tensor, similarity_threshold
from mace.python.tools.validate.comparison import write_log


def test_equal_tensors_pass() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    result = compare_tensor("prob", x, x, 0.999)
    assert result.passed
    assert result.line() == (
        "prob: cosine similarity 1.000000000, SQNR inf (inf dB), "
        "pixel accuracy 1.0000, max abs error 0, max rel error 0: passed"
    )


def test_a_low_similarity_fails_and_says_the_threshold() -> None:
    x, y = np.array([3.0, 4.0]), np.array([4.0, 3.0])
    result = compare_tensor("t", x, y, 0.98)
    assert not result.passed
    assert "FAILED, cosine similarity is below 0.98" in result.line()
    assert "cosine similarity 0.960000000" in result.line()
    assert compare_tensor("t", x, y, 0.96).passed


def test_nan_and_inf_fail_at_any_threshold() -> None:
    x = np.ones(4)
    bad = np.array([1.0, math.nan, math.inf, 1.0])
    result = compare_tensor("t", x, bad, -1.0)
    assert not result.passed
    assert "1 NaN and 1 Inf among 4 values" in result.failure
    same = compare_tensor("t", bad, bad, -1.0)
    assert not same.passed
    assert "framework's own" in compare_tensor("t", bad, x, -1.0).failure


def test_other_shapes_fail() -> None:
    result = compare_tensor("t", np.zeros((1, 2)), np.zeros((2, 1)), 0.9)
    assert result.failure == "shape [2, 1] instead of [1, 2]"


def _moved(similarity: float, sqnr: float) -> Metrics:
    return Metrics(similarity, sqnr, 1.0, 0.5, 0.25, 0)


def test_a_framework_that_varies_as_much_excuses_an_error() -> None:
    x, y = np.array([3.0, 4.0]), np.array([4.0, 3.0])
    assert compare_tensor("t", x, y, 0.98).metrics.sqnr == pytest.approx(12.5)
    # The error is just 4 times the framework's own.
    result = compare_tensor("t", x, y, 0.98, variation=_moved(0.97, 16 * 12.4))
    assert result.passed
    assert result.decided
    assert "inputs moved by rounding: 0.25): passed; cosine" in result.line()
    assert "its similarity to itself is 0.970000" in result.note
    more = compare_tensor("t", x, y, 0.98, variation=_moved(0.97, 16 * 12.6))
    assert not more.passed
    assert "FAILED, cosine similarity is below 0.98" in more.line()


def test_a_framework_that_varies_wildly_decides_nothing() -> None:
    x, y = np.array([3.0, 4.0]), np.array([-4.0, 3.0])
    result = compare_tensor("t", x, y, 0.98, variation=_moved(0.1, 0.5))
    assert result.passed
    assert not result.decided
    assert "NOT DECIDED; cosine similarity is below 0.98, but" in result.line()
    assert "validation_inputs_data" in result.line()


def test_random_numbers_decide_nothing() -> None:
    x, y = np.array([3.0, 4.0]), np.array([-4.0, 3.0])
    result = compare_tensor("t", x, y, 0.98, drawn_by="dropout")
    assert result.passed
    assert not result.decided
    assert "depends on random numbers (dropout)" in result.line()
    assert compare_tensor("t", x, x, 0.98, drawn_by="dropout").decided
    nan = np.array([math.nan, 1.0])
    assert not compare_tensor("t", x, nan, 0.98, drawn_by="dropout").passed
    assert not compare_tensor("t", x, x[:1], 0.98, drawn_by="dropout").passed


@pytest.mark.parametrize("sqnr", [math.inf, math.nan])
def test_a_framework_that_does_not_vary_excuses_nothing(sqnr: float) -> None:
    x, y = np.array([3.0, 4.0]), np.array([4.0, 3.0])
    assert not compare_tensor("t", x, y, 0.98, variation=_moved(1.0, sqnr)).passed
    nan = np.array([math.nan, 1.0])
    assert not compare_tensor("t", x, nan, 0.98, variation=_moved(0.1, 0.5)).passed


@pytest.mark.parametrize(
    ("threshold", "factor", "passes"),
    [
        (0.999, 1.08, True),
        (0.999, 1.1, False),
        (0.999, 0.9, False),
        (0.98, 1.3, True),
        (0.98, 2.0, False),
        (1.0, 1.009, True),
        (1.0, 1.02, False),
    ],
)
def test_values_that_are_all_larger_or_smaller_fail(
    threshold: float, factor: float, passes: bool
) -> None:
    # Powers of 2: the cosine of a multiple is exactly 1.
    x = np.array([1.0, -2.0, 4.0])
    result = compare_tensor("t", x, x * factor, threshold)
    assert result.metrics.similarity >= threshold or threshold == 1.0
    if result.metrics.similarity >= threshold:
        assert result.passed == passes
    if not passes and result.metrics.similarity >= threshold:
        assert f"the values are {factor:g} times the framework's" in result.failure


def test_equal_values_are_named() -> None:
    x = np.full((2, 3), 0.25)
    same = compare_tensor("t", x, x, 0.999)
    assert same.passed and not same.decided
    assert (
        "NOT DECIDED; all 6 values of the framework are 0.25 and all 6 values of MACE"
        in (same.line())
    )
    # The cosine is 1.
    wrong = compare_tensor("t", x, x * 2, 0.999)
    assert not wrong.passed and wrong.decided
    assert "2 times the framework's" in wrong.failure
    one_sided = compare_tensor(
        "t", np.array([0.25, 0.25, 0.2501]), x[:1, :].ravel(), 0.9
    )
    assert one_sided.passed and not one_sided.decided
    assert one_sided.note.startswith("all 3 values of MACE are 0.25: equal values")
    none = compare_tensor("t", np.zeros(3), np.zeros(3), 0.999)
    assert none.passed
    assert "all 3 values of the framework are 0" in none.note


def test_a_single_value_is_compared_by_its_size() -> None:
    one = np.array([[3.0]])
    near = compare_tensor("t", one, one * 1.01, 0.999)
    assert near.passed and near.decided
    wrong = compare_tensor("t", one, one * 1.5, 0.999)
    assert not wrong.passed
    assert "one value, 4.5, where the framework has 3" in wrong.line()


def test_thresholds() -> None:
    assert similarity_threshold(Runtime.CPU, {}, quantized=False) == 0.999
    assert similarity_threshold(Runtime.GPU, {}, quantized=False) == 0.995
    assert similarity_threshold(Runtime.CPU, {}, quantized=True) == 0.980
    assert similarity_threshold(Runtime.CPU, {}, False, rounded=True) == 0.995
    assert similarity_threshold(Runtime.DSP, {}, True, rounded=True) == 0.980
    configured: dict[MeasuredAs, float] = {Runtime.CPU: 0.5}
    assert similarity_threshold(Runtime.CPU, configured, quantized=True) == 0.5
    assert similarity_threshold(Runtime.GPU, configured, quantized=False) == 0.995
    of_quantized: dict[MeasuredAs, float] = {
        Runtime.CPU: 0.5,
        Arithmetic.QUANTIZED: 0.9,
    }
    assert similarity_threshold(Runtime.CPU, of_quantized, quantized=True) == 0.9
    assert similarity_threshold(Runtime.CPU_GPU, of_quantized, quantized=True) == 0.9
    assert similarity_threshold(Runtime.CPU, of_quantized, quantized=False) == 0.5


def test_log_csv(tmp_path: Path) -> None:
    x, y = np.array([3.0, 4.0]), np.array([3.0, 4.5])
    write_log(
        tmp_path / "sub" / "log.csv",
        [compare_tensor("a,b:0", x, y, 0.9), compare_tensor("c", x, x, 0.9)],
    )
    lines = (tmp_path / "sub" / "log.csv").read_text().splitlines()
    assert lines[0] == "output_name,similarity,sqnr,pixel_accuracy"
    name, similarity, sqnr, accuracy = lines[1].rsplit(",", 3)
    assert name == '"a,b:0"'
    assert float(similarity) == pytest.approx(27 / (5 * math.sqrt(29.25)), abs=1e-15)
    assert (sqnr, accuracy) == ("100.0", "1.0")
    assert lines[2] == "c,1.0,inf,1.0"

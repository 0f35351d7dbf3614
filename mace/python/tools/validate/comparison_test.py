# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts, thresholds and the file they are kept in."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.config.vocabulary import Arithmetic, MeasuredAs, Runtime
from mace.python.tools.validate import compare_tensor, similarity_threshold
from mace.python.tools.validate.log_csv import write_log


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

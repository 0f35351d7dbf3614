# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures from what googletest and the benchmarks print."""

from __future__ import annotations

from mace.python.tools.bazel_run import outcome

_FAILED = """\
[==========] Running 3 tests from 1 test suite.
[  FAILED  ] A.two/1, where GetParam() = 3 (0 ms)
[==========] 3 tests from 1 test suite ran. (1 ms total)
[  PASSED  ] 1 test.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] A.one
[  FAILED  ] 1 test, listed below:
[  FAILED  ] A.two/1, where GetParam() = 3

 1 FAILED TEST
"""
_BENCHMARK = """\
Benchmark                        Time(ns)  Iterations   Input(MB/s)  GMACPS
MACE_BM_CONV_2D_1_8_float_CPU      1234.5        1000         512.0    3.25
MACE_BM_SOFTMAX_1_8_float_CPU       12345         100         512.0       -
"""


def test_a_failed_test_program() -> None:
    figures = outcome.test_figures(_FAILED)
    assert figures is not None
    assert (figures.ran, figures.passed, figures.skipped) == (3, 1, 1)
    assert figures.failed == ("A.two/1",)
    assert figures.line() == "1 of 3 tests passed, 1 skipped"


def test_an_unfinished_test_program() -> None:
    assert outcome.test_figures(_FAILED.partition(" ran.")[0]) is None
    assert outcome.test_figures("") is None


def test_benchmarks() -> None:
    assert outcome.benchmark_rows(_BENCHMARK) == [
        ("MACE_BM_CONV_2D_1_8_float_CPU", "1234.5", "1000", "512.0", "3.25"),
        ("MACE_BM_SOFTMAX_1_8_float_CPU", "12345", "100", "512.0", "-"),
    ]

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads figures from the output of tests and benchmarks."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RAN = re.compile(r"^\[==========\] (\d+) tests? from .* ran\.", re.MULTILINE)
_PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?", re.MULTILINE)
_SKIPPED = re.compile(r"^\[  SKIPPED \] (\d+) tests?", re.MULTILINE)
_FAILED = re.compile(r"^\[  FAILED  \] ([\w./]+)(?:, where .*)?$", re.MULTILINE)
_BENCHMARK = re.compile(
    r"^(MACE_BM_\S+|BM_\S+)\s+([\d.]+)\s+(\d+)\s+([\d.]+)\s+([\d.]+|-)\s*$",
    re.MULTILINE,
)

BENCHMARK_COLUMNS = ("benchmark", "time_ns", "iterations", "input_mb_s", "gmacps")


@dataclass(frozen=True)
class TestFigures:
    """The end of a googletest program."""

    __test__ = False  # for pytest: a name, not a test

    ran: int
    passed: int
    skipped: int
    failed: tuple[str, ...]

    def line(self) -> str:
        """In one line, without the names."""
        text = f"{self.passed} of {self.ran} tests passed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def test_figures(output: str) -> TestFigures | None:
    """Reads the output; None if it is not that of a finished googletest program."""
    ran = _RAN.search(output)
    if ran is None:
        return None
    passed = _PASSED.search(output)
    skipped = _SKIPPED.search(output)
    # googletest prints a failure when it happens, and again at the end.
    failed = tuple(dict.fromkeys(_FAILED.findall(output[ran.end() :])))
    return TestFigures(
        ran=int(ran[1]),
        passed=int(passed[1]) if passed else 0,
        skipped=int(skipped[1]) if skipped else 0,
        failed=failed,
    )


def benchmark_rows(output: str) -> list[tuple[str, ...]]:
    """The lines of a benchmark program; `BENCHMARK_COLUMNS` names the values."""
    return [tuple(row) for row in _BENCHMARK.findall(output)]

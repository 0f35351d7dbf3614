# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from pathlib import Path

import pytest

from tools.quality import run_steps
from tools.quality.test_steps import (
    Counts,
    Step,
    count_bazel,
    count_one,
    count_pytest,
    steps,
)

BAZEL = """\
//mace/core:core_test                              (cached) PASSED in 0.0s
//mace/ops:ops_test                                         FAILED in 0.1s
  /cache/testlogs/mace/ops/ops_test/test.log
//mace/ops:slow_test                                        TIMEOUT in 60.0s
//toolchains/test:toolchain_test                            PASSED in 0.0s

Executed 3 out of 4 tests: 2 tests pass, 1 fails locally.
"""


def test_bazel_results_are_counted() -> None:
    assert count_bazel(BAZEL, 3) == Counts(2, 2)
    assert count_bazel("ERROR: no such package", 1) == Counts(0, 1)


@pytest.mark.parametrize(
    ("line", "status", "counts"),
    [
        ("=== 12 passed in 0.34s ===", 0, Counts(12, 0)),
        ("3 failed, 9 passed, 2 skipped, 1 error in 4s", 1, Counts(9, 4)),
        ("2 errors in 0.1s", 2, Counts(0, 2)),
        ("no tests ran in 0.01s", 5, Counts(0, 1)),
        ("5 passed in 1s", 3, Counts(5, 1)),
    ],
)
def test_pytest_results_are_counted(line: str, status: int, counts: Counts) -> None:
    assert count_pytest(f"test 4 passed of old\n{line}\n", status) == counts


def test_step_names_are_unique() -> None:
    names = [step.name for step in steps({})]
    assert len(names) == len(set(names))


def make_step(*command: str) -> Step:
    return Step("step", "a step", command, count_one, 1)


def test_step_is_judged_by_its_status(tmp_path: Path) -> None:
    log = tmp_path / "log"
    good = run_steps.run_step(make_step("sh", "-c", "echo hello"), log)
    assert good.counts == Counts(1, 0)
    assert log.read_text(encoding="utf-8") == "hello\n"
    bad = run_steps.run_step(make_step("sh", "-c", "exit 3"), log)
    assert bad.counts == Counts(0, 1)


def test_step_without_its_program_fails(tmp_path: Path) -> None:
    log = tmp_path / "log"
    result = run_steps.run_step(make_step("/nonexistent/program"), log)
    assert result.counts == Counts(0, 1)
    assert "/nonexistent/program" in log.read_text(encoding="utf-8")


def test_closing_line_and_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    good = make_step("true")
    bad = Step("bad", "fails", ("sh", "-c", "echo why; exit 1"), count_one, 1)
    monkeypatch.setattr(run_steps, "ROOT", tmp_path)
    monkeypatch.setattr(run_steps, "steps", lambda environment: (good, bad))
    assert run_steps.main([]) == 1
    output = capsys.readouterr().out
    assert "    why" in output
    assert output.splitlines()[-1] == "1 passed, 1 failed"
    assert run_steps.main(["--only", "step"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 0 failed"

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of `tools/test.sh`; see test_steps.py for what they are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import List, Optional, Sequence

from rich.console import Console
from rich.table import Table

from tools.quality.skips import Skip, find_native_skips, find_skips, is_expected
from tools.quality.step_flags import parse_flags
from tools.quality.test_steps import Counts, Step, steps

ROOT = Path(__file__).resolve().parents[2]
# Of the log of a failed step; the whole log is kept.
_SHOWN_LINES = 60


@dataclass(frozen=True)
class Result:
    """One step that ran."""

    step: Step
    counts: Counts
    seconds: float
    skips: Sequence[Skip] = ()

    @property
    def skipped(self) -> int:
        """How many tests were."""
        return sum(skip.count for skip in self.skips)

    @property
    def gaps(self) -> List[Skip]:
        """Skips that nobody expects."""
        return [skip for skip in self.skips if not is_expected(self.step.name, skip)]


def run_step(step: Step, log: Path) -> Result:
    """Runs one step with its output in ``log``, and ends it at its limit."""
    start = time.monotonic()
    events = ROOT / step.events if step.events else None
    if events:
        events.unlink(missing_ok=True)
    with log.open("wb") as stream:
        try:
            process = subprocess.Popen(
                step.command,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            stream.write(f"{step.command[0]}: {error.strerror}\n".encode())
            return Result(step, Counts(0, 1), 0.0)
        try:
            status = process.wait(step.minutes * 60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            status = 124
            stream.write(f"ended after {step.minutes} minutes\n".encode())
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
    output = log.read_text(encoding="utf-8", errors="replace")
    seconds = time.monotonic() - start
    skips = find_skips(output)
    # Bazel writes none if it can't even start.
    if events and events.exists():
        skips += find_native_skips(events)
    return Result(step, step.count(output, status), seconds, skips)


def show_log(log: Path) -> None:
    """Prints the end of a log."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    for line in lines[-_SHOWN_LINES:]:
        print(f"    {line}")
    print(f"    (whole log: {log.relative_to(ROOT)})", flush=True)


def table_of(results: Sequence[Result]) -> Table:
    """The summary."""
    table = Table(
        *("step", "shows", "passed", "failed", "skipped", "seconds"), title="Tests"
    )
    for result in results:
        failed = str(result.counts.failed)
        if result.counts.failed:
            failed = f"[bold red]{failed}[/bold red]"
        table.add_row(
            result.step.name,
            result.step.summary,
            str(result.counts.passed),
            failed,
            str(result.skipped),
            f"{result.seconds:.0f}",
        )
    return table


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs the chosen steps; 0 if no test failed, else 1."""
    flags = parse_flags(steps(os.environ), argv)
    # A job in the background of a script starts with Ctrl-C ignored, and so would
    # the programs that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    logs = ROOT / "build" / "test"
    logs.mkdir(parents=True, exist_ok=True)
    results: List[Result] = []
    for number, step in enumerate(flags.steps, 1):
        print(f"[{number}/{len(flags.steps)}] {step.name}: {step.summary}", flush=True)
        log = logs / f"{step.name}.log"
        result = run_step(step, log)
        results.append(result)
        counts = result.counts
        if counts.failed:
            show_log(log)
        for skip in result.gaps:
            print(f"    skipped: {skip}")
        print(
            f"    {counts.passed} passed, {counts.failed} failed, "
            f"{result.skipped} skipped ({result.seconds:.0f} s)",
            flush=True,
        )
    Console(soft_wrap=True).print(table_of(results))
    total = sum((result.counts for result in results), Counts(0, 0))
    gaps = sum(skip.count for result in results for skip in result.gaps)
    if gaps:
        print(f"{gaps} skipped that have to run (named above)")
    if flags.no_gaps:
        total += Counts(0, gaps)
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed else 0


if __name__ == "__main__":
    # So that the step that runs is ended, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("test.sh: interrupted", file=sys.stderr)
        sys.exit(130)

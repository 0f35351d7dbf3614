# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of `tools/test.sh`; see test_steps.py for what they are."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Generator, List, Optional, Sequence, Union

from rich.console import Console
from rich.table import Table

from tools.quality.changes import Modules, changed_files, source_files
from tools.quality.motion import WAITING, Motion
from tools.quality.narrow import narrowed
from tools.quality.pocl import make_driver
from tools.quality.skips import Skip, find_native_skips, find_skips, is_expected
from tools.quality.step_flags import parse_flags
from tools.quality.test_steps import Counts, Step, steps, variables_of
from tools.quality.time_spent import DURATION, Spent, of_bazel, of_pytest

ROOT = Path(__file__).resolve().parents[2]
# Of the log of a failed step; the whole log is kept.
_SHOWN_LINES = 60
# Of what took longest.
_SHOWN_SPENT = 20
# Steps beside each other keep this many processors busy.
CORES = 2
_POLL_S = 0.1


@dataclass(frozen=True)
class Result:
    """One step that ran."""

    step: Step
    counts: Counts
    seconds: float
    skips: Sequence[Skip] = ()
    spent: Sequence[Spent] = ()

    @property
    def skipped(self) -> int:
        """How many tests were."""
        return sum(skip.count for skip in self.skips)

    @property
    def gaps(self) -> List[Skip]:
        """Skips that nobody expects."""
        return [skip for skip in self.skips if not is_expected(self.step.name, skip)]


class RunningStep:
    """One step that runs, with its output in ``log``."""

    def __init__(self, step: Step, log: Path) -> None:
        self.step = step
        self.log = log
        self._start = time.monotonic()
        self._motion: Optional[Motion] = None
        self._events = ROOT / step.events if step.events else None
        if self._events:
            self._events.unlink(missing_ok=True)
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._stuck = False
        with log.open("wb") as stream:
            try:
                self._process = subprocess.Popen(
                    step.command,
                    cwd=ROOT,
                    env=variables_of(step, os.environ),
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                self._motion = Motion(self._process.pid, log, ROOT)
            except OSError as error:
                stream.write(f"{step.command[0]}: {error.strerror}\n".encode())

    def end(self) -> None:
        """Stops it with all that it started."""
        if self._process and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
            self._process.wait()

    def poll(self) -> Optional[Result]:
        """What came of it, None while it runs; ends it if nothing moves any more."""
        if self._process is None or self._motion is None:
            return Result(self.step, Counts(0, 1), 0.0)
        seconds = time.monotonic() - self._start
        if self._process.poll() is None:
            if self._motion.still_s() < self.step.still_minutes * 60:
                return None
            doing = self._motion.doing()
            self.end()
            self._stuck = True
            with self.log.open("ab") as stream:
                why = f"nothing has moved for {self.step.still_minutes:g} minutes"
                when = f"{seconds:.0f} s after it began"
                stream.write(f"\nended: {why} ({when}); {doing}\n".encode())
        status = 124 if self._stuck else self._process.returncode
        output = self.log.read_text(encoding="utf-8", errors="replace")
        skips = find_skips(output)
        # Bazel writes none if it can't even start.
        if self._events and self._events.exists():
            skips += find_native_skips(self._events)
        spent = of_pytest(output)
        if self.step.profile:
            spent = of_bazel(ROOT / self.step.profile)
        counts = self.step.count(output, status)
        return Result(self.step, counts, seconds, skips, spent)


def fits(step: Step, running: Sequence[RunningStep]) -> bool:
    """Whether a step may run beside others."""
    cores = sum(other.step.cores for other in running)
    written = {other.step.writes for other in running} - {""}
    return not running or (cores + step.cores <= CORES and step.writes not in written)


def run_all(
    chosen: Sequence[Step], logs: Path
) -> Generator[Union[RunningStep, Result], None, None]:
    """Runs steps, as many at a time as fit: each when it starts, and its result.

    Those that fit go before earlier ones that don't, unless they overtake none. Whoever
    stops to ask for more ends those that run.
    """
    waiting = list(chosen)
    running: List[RunningStep] = []
    try:
        while waiting or running:
            for step in list(waiting):
                first = step is waiting[0]
                if (first or step.overtakes) and fits(step, running):
                    waiting.remove(step)
                    running.append(RunningStep(step, logs / f"{step.name}.log"))
                    yield running[-1]
            for one in list(running):
                result = one.poll()
                if result:
                    running.remove(one)
                    yield result
            time.sleep(_POLL_S)
    finally:
        for one in running:
            one.end()


def show_log(log: Path) -> None:
    """Prints the end of a log."""
    text = log.read_text(encoding="utf-8", errors="replace")
    lines = [
        line
        for line in text.splitlines()
        if not (WAITING.match(line) or DURATION.match(line))
    ]
    for line in lines[-_SHOWN_LINES:]:
        print(f"    {line}")
    print(f"    (whole log: {log.relative_to(ROOT)})", flush=True)


def show_result(result: Result, log: Path) -> None:
    """Prints what came of a step, and why."""
    counts = result.counts
    if counts.failed:
        show_log(log)
    for skip in result.gaps:
        print(f"    skipped: {skip}")
    print(
        f"    {result.step.name}: {counts.passed} passed, {counts.failed} failed, "
        f"{result.skipped} skipped ({result.seconds:.0f} s)"
    )


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


def spent_table(results: Sequence[Result]) -> Table:
    """Where the time went: what took longest, of all steps."""
    table = Table("step", "what", "seconds", title="Where the time went")
    found = [(one, result.step.name) for result in results for one in result.spent]
    found.sort(key=lambda pair: pair[0].seconds, reverse=True)
    for one, step in found[:_SHOWN_SPENT]:
        table.add_row(step, one.what, f"{one.seconds:.0f}")
    return table


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs the chosen steps; 0 if no test failed, else 1."""
    known = steps(os.environ)
    flags = parse_flags(known, argv)
    chosen = flags.steps
    if flags.changed:
        usual = {step.name: step for step in (*known, *chosen)}
        chosen = narrowed(
            tuple(usual.values()),
            ROOT,
            changed_files(ROOT, flags.since, removed=True),
            Modules(ROOT, source_files(ROOT)),
        )
    # A job in the background of a script starts with Ctrl-C ignored, and so would
    # the programs that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Images of containers often set it, and each of the hundreds of Python processes
    # that tests start would compile all modules anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    logs = ROOT / "build" / "test"
    logs.mkdir(parents=True, exist_ok=True)
    make_driver()
    results: List[Result] = []
    started = 0
    with contextlib.closing(run_all(chosen, logs)) as events:
        for event in events:
            if isinstance(event, RunningStep):
                started += 1
                step = event.step
                print(f"[{started}/{len(chosen)}] {step.name}: {step.summary}")
            else:
                results.append(event)
                show_result(event, logs / f"{event.step.name}.log")
            sys.stdout.flush()
    results.sort(key=lambda result: chosen.index(result.step))
    console = Console(soft_wrap=True)
    console.print(spent_table(results))
    console.print(table_of(results))
    if flags.left_out:
        names = ", ".join(step.name for step in flags.left_out)
        print(f"left out: {names} (bash tools/test.sh --all runs them)")
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

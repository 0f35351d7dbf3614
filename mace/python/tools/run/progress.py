# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How far the runs on several devices are: one line for each."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn


class Meter(Protocol):
    """Is told what happens on the devices; from any thread."""

    def begin(self, device: str, what: str) -> None:
        """`device` now does this."""

    def done(self, device: str) -> None:
        """`device` has done one more of its jobs."""


class _Silent:
    def begin(self, device: str, what: str) -> None:
        return

    def done(self, device: str) -> None:
        return


class _Bars:
    def __init__(self, progress: Progress, jobs: dict[str, int]) -> None:
        self._progress = progress
        self._tasks = {
            device: progress.add_task(device, total=count, what="waiting")
            for device, count in jobs.items()
        }

    def begin(self, device: str, what: str) -> None:
        self._progress.update(self._tasks[device], what=what)

    def done(self, device: str) -> None:
        self._progress.advance(self._tasks[device])


@contextlib.contextmanager
def show_progress(jobs: dict[str, int]) -> Iterator[Meter]:
    """A display of the number of jobs of each device, on a terminal only.

    It goes to standard error, so that results can be piped away.
    """
    if not sys.stderr.isatty() or len(jobs) < 2:
        yield _Silent()
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[what]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield _Bars(progress, jobs)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shows the progress of the work on devices, one line for each."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)


class Meter(Protocol):
    """Receives events of the devices, from any thread."""

    def begin(self, device: str, what: str) -> None:
        """`device` now does this step."""

    def done(self, device: str) -> None:
        """`device` has completed a job."""


class _Silent:
    def begin(self, device: str, what: str) -> None:
        return

    def done(self, device: str) -> None:
        return


class _Bars:
    def __init__(self, progress: Progress, jobs: Mapping[str, int]) -> None:
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
def show_progress(jobs: Mapping[str, int], results: Console) -> Iterator[Meter]:
    """Displays the number of completed jobs of each device, only on a terminal. Results
    and messages that are printed meanwhile appear above the display, which is removed
    at the end.

    Args:
        jobs: by device.
        results: where results are printed.
    """
    # A terminal must have one writer: a second one would not move the lines of the
    # display. Only if results go elsewhere, the display may write to standard error.
    console = results if results.is_terminal else Console(stderr=True)
    if not console.is_terminal:
        yield _Silent()
        return
    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[what]}", markup=False),
        console=console,
        transient=True,
        redirect_stdout=results.is_terminal,
        redirect_stderr=sys.stderr.isatty(),
    )
    with progress:
        yield _Bars(progress, jobs)

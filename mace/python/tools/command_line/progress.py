# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shows the progress of the work on devices: on a terminal one line for each, which is
rewritten; elsewhere a line of text now and then, for long runs only.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
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

from mace.python.tools.command_line.results import ResultConsole

_LOG = logging.getLogger(__name__)

# Between two lines of a device in a file or pipe.
_BETWEEN_LINES_S = 10.0


class Meter(Protocol):
    """Receives events of the devices, from any thread."""

    def begin(self, device: str, what: str) -> None:
        """`device` now does this step."""

    def advance(self, device: str, how_far: str) -> None:
        """`device` is this far in its step: rounds, and the time that is left."""

    def done(self, device: str) -> None:
        """`device` has completed a job."""


class _Lines:
    """Messages, at most one in `_BETWEEN_LINES_S` for each device."""

    def __init__(self) -> None:
        self._what: dict[str, str] = {}
        self._told: dict[str, float] = {}

    def begin(self, device: str, what: str) -> None:
        self._what[device] = what
        self._told[device] = time.monotonic()

    def advance(self, device: str, how_far: str) -> None:
        now = time.monotonic()
        if now - self._told.get(device, now) < _BETWEEN_LINES_S:
            return
        self._told[device] = now
        _LOG.info("%s: %s: %s", device, self._what[device], how_far)

    def done(self, device: str) -> None:
        return


class _Bars:
    def __init__(self, progress: Progress, jobs: Mapping[str, int]) -> None:
        self._progress = progress
        self._what: dict[str, str] = {}
        self._tasks = {
            device: progress.add_task(device, total=count, what="waiting")
            for device, count in jobs.items()
        }

    def begin(self, device: str, what: str) -> None:
        self._what[device] = what
        self._progress.update(self._tasks[device], what=what)

    def advance(self, device: str, how_far: str) -> None:
        what = f"{self._what.get(device, device)}: {how_far}"
        self._progress.update(self._tasks[device], what=what)

    def done(self, device: str) -> None:
        self._progress.advance(self._tasks[device])


@contextlib.contextmanager
def show_progress(jobs: Mapping[str, int], results: Console) -> Iterator[Meter]:
    """Displays the number of completed jobs of each device on a terminal. Results
    and messages that are printed meanwhile appear above the display, which is removed
    at the end. Without a terminal, long steps are told by messages.

    Args:
        jobs: by device.
        results: where results are printed.
    """
    # A terminal must have one writer: a second one would not move the lines of the
    # display. Only if results go elsewhere, the display may write to standard error.
    console = results if results.is_terminal else ResultConsole(stderr=True)
    if not console.is_terminal:
        yield _Lines()
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

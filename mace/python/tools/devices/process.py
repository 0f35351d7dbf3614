# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs on this computer, with a time limit; other threads can end them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

# How long a program may take to end after it was asked to.
_GRACE_S = 2.0
# The interval of checks of a running program, and so the delay of an interruption.
_POLL_S = 0.1
# A device may answer without end. Of what programs print, the longest are traces of
# some megabytes.
_MOST_OUTPUT = 64 << 20


@dataclass(frozen=True)
class ProcessResult:
    """How a program ended.

    Attributes:
        status: as a shell gives it: 128 + n after signal n.
        output: standard output; standard error, too, where asked for.
        errors: standard error, where it was kept apart.
        timed_out: the time limit ended it.
        interrupted: the stop event ended it.
        excessive: what it printed or wrote was too much, and ended it.
    """

    status: int
    output: str
    errors: str = ""
    timed_out: bool = False
    interrupted: bool = False
    excessive: bool = False


@dataclass(frozen=True)
class ProcessRequest:
    """What to start, and when to end it.

    Attributes:
        command: program and arguments; no shell sees them.
        cwd: where it runs; None: here.
        env: variables besides those we have.
        time_limit_s: end it after so long.
        grows: a file; the time counts anew whenever it has grown.
        largest: end it when that file is larger.
        stop: end it when this is set.
        hold_stdin: give it an input that stays open and empty, and ask it to
            end by closing that; otherwise its input is empty.
        split_errors: keep standard error apart.
        heard: gets the standard output so far, now and then.
    """

    command: Sequence[str]
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    time_limit_s: float | None = None
    grows: Path | None = None
    largest: int | None = None
    stop: threading.Event | None = None
    hold_stdin: bool = False
    split_errors: bool = False
    heard: Callable[[str], None] | None = None


def run_process(request: ProcessRequest) -> ProcessResult:
    """Runs a program to its end.

    Raises:
        OSError: it cannot be started.
    """
    process = subprocess.Popen(
        request.command,
        cwd=request.cwd,
        env={**os.environ, **request.env},
        stdin=subprocess.PIPE if request.hold_stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if request.split_errors else subprocess.STDOUT,
        text=True,
        errors="replace",
        # A separate group: ending it includes its children, and Ctrl-C reaches only us.
        start_new_session=True,
    )
    stdin, process.stdin = process.stdin, None  # communicate() would close it
    begin = time.monotonic()
    size = 0
    timed_out = interrupted = excessive = False
    output: str
    errors: str | None
    try:
        while True:
            try:
                output, errors = process.communicate(timeout=_POLL_S)
                break
            except subprocess.TimeoutExpired as so_far:
                now = time.monotonic()
                parts = (so_far.output, so_far.stderr)
                excessive = sum(len(part or b"") for part in parts) > _MOST_OUTPUT
                if request.heard is not None and so_far.output:
                    # Bytes, whatever the process' streams are.
                    request.heard(bytes(so_far.output).decode(errors="replace"))
            if request.grows is not None and _size(request.grows) > size:
                size, begin = _size(request.grows), now
                excessive |= request.largest is not None and size > request.largest
            if excessive:
                # It is not asked to end, and would go on.
                _kill(process)
                output, errors = "", ""
                break
            elapsed = now - begin
            limit = request.time_limit_s
            timed_out = limit is not None and elapsed > limit
            interrupted = request.stop is not None and request.stop.is_set()
            if timed_out or interrupted:
                output, errors = _end(process, stdin)
                break
    except BaseException:  # Ctrl-C: the program must not outlive us
        _end(process, stdin)
        raise
    finally:
        if stdin is not None:
            with contextlib.suppress(OSError):
                stdin.close()
    status = process.returncode
    return ProcessResult(
        status if status >= 0 else 128 - status,
        output,
        errors or "",
        timed_out,
        interrupted,
        excessive,
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _kill(process: subprocess.Popen[str]) -> None:
    """Ends a program and its children at once, and forgets its output."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _end(
    process: subprocess.Popen[str], stdin: IO[str] | None
) -> tuple[str, str | None]:
    """Ends a program and its children; returns its output."""
    if stdin is not None:
        with contextlib.suppress(OSError):
            stdin.close()
        # Twice the time: the other side first ends its program.
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=2 * _GRACE_S)
    for kind in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, kind)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=_GRACE_S)
    return "", ""

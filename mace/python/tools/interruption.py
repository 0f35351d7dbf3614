# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and SIGTERM: delaying them, and passing them on to child processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

# SIGINT is last: when it is enabled again, the others already are.
_SIGNALS = (signal.SIGTERM, signal.SIGINT)

# How long a child may take to end. Bazel waits for its compilers.
_GRACE_S = 10.0


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Delays SIGINT and SIGTERM until the body has ended. Use it for short steps that
    must be done completely or not at all. It has no effect in threads other than the
    main one, which Python never interrupts.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        came.append(number)

    # None: the handler was not set by Python code and could not be restored.
    old = {number: signal.getsignal(number) for number in _SIGNALS}
    held = {number: handler for number, handler in old.items() if handler is not None}
    try:
        for number in held:
            signal.signal(number, note)
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def run_child(
    command: Sequence[str],
    cwd: Path,
    env: Mapping[str, str] | None = None,
    keep_output: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Runs a program; the program and its children always end before this process. On
    an interruption it is asked to end, and killed if it does not.

    Args:
        env: variables besides those we have.
        keep_output: return what it says instead of showing it.

    Raises:
        OSError: it cannot be started.
    """
    pipe = subprocess.PIPE if keep_output else None
    with subprocess.Popen(
        command,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
        text=True,
        errors="replace",
        # A separate group: our signals reach its children, and a Ctrl-C on the terminal
        # reaches only us.
        start_new_session=True,
    ) as process:
        try:
            output, errors = process.communicate()
        except BaseException:
            _end_group(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _end_group(process: subprocess.Popen[str]) -> None:
    with signals_held(), contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
        # Also kills processes that the program left behind.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

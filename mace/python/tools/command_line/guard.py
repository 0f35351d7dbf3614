# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program's body; converts errors to messages and an exit status.

0: done. 1: done, and the result is not good enough (validation), or a defect
of MACE. 2: the request or what it names cannot be used. 130, 143: interrupted.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from types import FrameType

from mace.python.tools.command_line import console
from mace.python.tools.custom_ops import fault_of
from mace.python.tools.errors import MaceError

_INTERRUPTED = 128 + signal.SIGINT
_TERMINATED = 128 + signal.SIGTERM
# The exit status that a shell reports if the reader of a pipe has gone.
_BROKEN_PIPE = 141


class _TerminatedError(BaseException):
    """SIGTERM, as an exception so that half-written files are removed."""


def guarded(arguments: list[str], run: Callable[[list[str]], int]) -> int:
    """Runs a program's body; errors become messages and exit statuses."""
    try:
        with console.logging_to_console(), _signals_raise():
            try:
                return run(arguments)
            finally:
                # Flush here, not at exit, so that a missing reader can be handled.
                sys.stdout.flush()
    except MaceError as error:
        console.show(str(error), logging.ERROR)
        return error.exit_status
    except KeyboardInterrupt:
        console.show("interrupted; nothing half-written is left", logging.ERROR)
        return _INTERRUPTED
    except _TerminatedError:
        console.show("terminated; nothing half-written is left", logging.ERROR)
        return _TERMINATED
    except BrokenPipeError:
        # Keeps the interpreter from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except MemoryError:
        console.show(
            "out of memory; close other programs or convert on a larger machine",
            logging.ERROR,
        )
        return 1
    except Exception as error:
        return _report_defect(arguments, error)


@contextlib.contextmanager
def _signals_raise() -> Iterator[None]:
    """In the body, Ctrl-C and SIGTERM raise exceptions, so that files are removed."""

    def terminate(number: int, frame: FrameType | None) -> None:
        raise _TerminatedError

    try:
        old = signal.signal(signal.SIGTERM, terminate)
    except ValueError:
        # Not the main thread: the caller handles signals.
        yield
        return
    # The entry points use the default action. An ignored signal stays ignored.
    ends_at_once = signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    if ends_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if ends_at_once:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, old)


def _report_defect(arguments: list[str], error: Exception) -> int:
    fault = fault_of(error)
    if fault:
        reason = traceback.format_exception_only(type(error), error)[-1].strip()
        console.show(f"{fault}: {reason}", logging.ERROR)
        return MaceError.exit_status
    text = "".join(
        [
            f"arguments: {arguments!r}\n",
            f"python: {sys.version}\n",
            f"system: {platform.platform()}\n\n",
            *traceback.format_exception(type(error), error, error.__traceback__),
        ]
    )
    where = "and its report could not be saved"
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(prefix="mace-defect-", suffix=".txt")
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
        where = f"please report it with {name}"
    summary = traceback.format_exception_only(type(error), error)[-1].strip()
    summary = summary.splitlines()[0][:200]
    console.show(f"this is a defect of MACE ({summary}); {where}", logging.ERROR)
    return 1

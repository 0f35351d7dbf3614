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
from typing import TextIO

from mace.python.tools.custom_ops import fault_of
from mace.python.tools.errors import MaceError
from mace.python.tools.wording import printable

# Prints messages to standard error, in colour on a terminal.
#
# Works without the `rich` package as well, as the doctor must be able to say
# that it is missing.


_STYLES = {
    logging.DEBUG: "dim",
    logging.INFO: "",
    logging.WARNING: "yellow",
    logging.ERROR: "bold red",
    logging.CRITICAL: "bold red",
}
_LABELS = {logging.WARNING: "warning: ", logging.ERROR: "error: "}


class ConsoleHandler(logging.Handler):
    """Prints log records, one line each, never wrapped."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            show(record.getMessage(), record.levelno)
        except BrokenPipeError:
            # The reader has gone; the command continues.
            return
        except Exception:
            self.handleError(record)


def show(message: str, level: int) -> None:
    """Prints a message of this log level."""
    text = _LABELS.get(level, "") + printable(message)
    stream = sys.stderr
    style = _STYLES.get(level, "")
    if not style or not _wants_colour(stream):
        # A file or pipe gets plain text, which is easy to search.
        stream.write(_encodable(text, stream) + "\n")
        stream.flush()
        return
    try:
        from rich.console import Console
    except ImportError:
        stream.write(_encodable(text, stream) + "\n")
        return
    console = Console(file=stream, soft_wrap=True)
    with console.capture() as coloured:
        console.print(text, style=style, markup=False, highlight=False, emoji=False)
    # Not printed by rich itself, which would write past a display of progress.
    stream.write(coloured.get())
    stream.flush()


@contextlib.contextmanager
def logging_to_console() -> Iterator[None]:
    """Sends our log to the console; restores the logging configuration at the end."""
    logger = logging.getLogger("mace")
    before = (logger.handlers, logger.propagate, logger.level)
    logger.handlers, logger.propagate = [ConsoleHandler()], False
    set_verbose(False)
    try:
        yield
    finally:
        logger.handlers, logger.propagate, level = before
        logger.setLevel(level)


def set_verbose(verbose: bool) -> None:
    """Sets whether every step is printed, or only important messages."""
    logging.getLogger("mace").setLevel(logging.DEBUG if verbose else logging.INFO)


def _wants_colour(stream: TextIO) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ


def _encodable(text: str, stream: TextIO) -> str:
    # A C locale prints ASCII only; a message must not fail on a tensor's name.
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


_INTERRUPTED = 128 + signal.SIGINT
_TERMINATED = 128 + signal.SIGTERM
# The exit status that a shell reports if the reader of a pipe has gone.
_BROKEN_PIPE = 141


class _TerminatedError(BaseException):
    """SIGTERM, as an exception so that half-written files are removed."""


def guarded(arguments: list[str], run: Callable[[list[str]], int]) -> int:
    """Runs a program's body; errors become messages and exit statuses."""
    try:
        with logging_to_console(), _signals_raise():
            try:
                return run(arguments)
            finally:
                # Flush here, not at exit, so that a missing reader can be handled.
                sys.stdout.flush()
    except MaceError as error:
        show(str(error), logging.ERROR)
        return error.exit_status
    except KeyboardInterrupt:
        show("interrupted; nothing half-written is left", logging.ERROR)
        return _INTERRUPTED
    except _TerminatedError:
        show("terminated; nothing half-written is left", logging.ERROR)
        return _TERMINATED
    except BrokenPipeError:
        # Keeps the interpreter from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except MemoryError:
        show(
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
        show(f"{fault}: {reason}", logging.ERROR)
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
    show(f"this is a defect of MACE ({summary}); {where}", logging.ERROR)
    return 1

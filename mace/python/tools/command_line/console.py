# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Prints messages to standard error, in colour on a terminal.

Works without the `rich` package as well, as the doctor must be able to say
that it is missing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from typing import TextIO

from mace.python.tools.wording import printable

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

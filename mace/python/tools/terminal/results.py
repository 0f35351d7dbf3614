# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The console for results."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console

from mace.python.tools.terminal.fitting import fit_text

# The width of output to a file or a pipe.
_WIDTH = 150


class _ResultConsole(Console):
    def on_broken_pipe(self) -> None:
        """Leaves it to the command that the reader of the pipe has gone."""
        raise BrokenPipeError


def make_console(stream: TextIO, width: int = _WIDTH) -> Console:
    """A console for results: as wide as the terminal; `width` if there is none."""
    return _ResultConsole(file=stream, width=None if stream.isatty() else width)


def print_text(console: Console, text: str) -> None:
    """Prints the output of a program without wrapping or colour. It is not changed for
    files and pipes, but fitted to terminals.
    """
    if not console.is_terminal:
        # Not printed by rich, which removes control characters.
        console.file.write(text)
        console.file.flush()
        return
    console.print(
        fit_text(text, console.width),
        markup=False,
        highlight=False,
        emoji=False,
        soft_wrap=True,
        end="",
    )

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The console for results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from mace.python.tools.command_line.fitting import fit_text
from mace.python.tools.wording import printable

# The width of output to a file or a pipe.
_WIDTH = 150


class ResultConsole(Console):
    """Prints text of models and devices; see `printable`."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Text as it is printed, by whose width columns are laid out."""
        return super().render_str(printable(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The parts of what is printed; called for each cell of a table, too,
        which may be a `Text` that is there already."""
        for segment in super().render(renderable, options):
            if segment.control is None:
                yield Segment(printable(segment.text), segment.style)
            else:
                yield segment

    def on_broken_pipe(self) -> None:
        """Leaves it to the command that the reader of the pipe has gone."""
        raise BrokenPipeError


def make_console(stream: TextIO, width: int = _WIDTH) -> Console:
    """A console for results: as wide as the terminal; `width` if there is none."""
    return ResultConsole(file=stream, width=None if stream.isatty() else width)


def print_text(console: Console, text: str) -> None:
    """Prints the output of a program without wrapping or colour. Files and pipes get
    all of it, terminals what fits; both get escapes instead of control characters.
    """
    if not console.is_terminal:
        # Not printed by rich, which removes control characters.
        console.file.write(printable(text))
        console.file.flush()
        return
    console.print(
        fit_text(printable(text), console.width),
        markup=False,
        highlight=False,
        emoji=False,
        soft_wrap=True,
        end="",
    )

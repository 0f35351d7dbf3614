# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The console for results, and the output of `mace_run` fitted to a narrow one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

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


# The prefix of the runner's messages, except warnings and errors.
_SOURCE = re.compile(r"^I \w+\.cc:\d+ ")
_RULE = re.compile(r"[-=]+")
_TITLE = re.compile(r" {2,}\S.*")
_BETWEEN = "  "
# The indentation of the further lines of a folded row.
_INDENT = " " * 4


def without_source(text: str) -> str:
    """Text of `mace_run` without the source file and line before its messages."""
    return "".join(_SOURCE.sub("", line) for line in text.splitlines(keepends=True))


def fit_text(text: str, width: int) -> str:
    """Fits text to a width without losing what it says.

    Removes the source from lines, cuts titles and rules at the border, and prints a row
    that is too wide on several lines, like its heading. Other lines are not changed.
    """
    lines = [_SOURCE.sub("", line) for line in text.splitlines()]
    return "".join(f"{line}\n" for line in _fitted(lines, width))


def _fitted(lines: Sequence[str], width: int) -> Iterator[str]:
    at = 0
    while at < len(lines):
        table = _table(lines, at)
        if len(table) > 1 and len(table[0]) > width:
            yield from _folded(table, width)
        else:
            table = table or [lines[at]]
            for line in table:
                yield _fit(line, width)
        at += len(table)


def _table(lines: Sequence[str], begin: int) -> Sequence[str]:
    """The heading, rule and rows that begin at a line; empty if no table begins
    there.
    """
    if not lines[begin].startswith("| "):
        return ()
    end = begin
    length = len(lines[begin])
    while end < len(lines) and len(lines[end]) == length:
        if not lines[end].startswith("| ") and end != begin + 1:
            break
        end += 1
    return lines[begin:end]


def _folded(table: Sequence[str], width: int) -> Iterator[str]:
    # The heading shows where columns begin; a cell may contain any character.
    borders = [i for i, sign in enumerate(table[0]) if sign == "|"]
    rows = [
        [line[a + 1 : b].strip() for a, b in zip(borders, borders[1:])]
        for line in table
        if not _RULE.fullmatch(line)
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    groups = _groups(widths, width)
    # Names are left-aligned, figures right-aligned.
    left = [not any(row[i][:1].isdigit() for row in rows) for i in range(len(widths))]
    for index, row in enumerate(rows):
        if index == 1:
            yield "-" * width
        for group in groups:
            cells = [
                row[i].ljust(widths[i]) if left[i] else row[i].rjust(widths[i])
                for i in group
            ]
            yield ((_INDENT if group[0] else "") + _BETWEEN.join(cells)).rstrip()


def _groups(widths: Sequence[int], width: int) -> list[list[int]]:
    """Groups of columns that fit on one line."""
    groups: list[list[int]] = [[]]
    used = 0
    for column, cells in enumerate(widths):
        needed = cells + (len(_BETWEEN) if groups[-1] else 0)
        if groups[-1] and used + needed > width:
            groups.append([])
            used, needed = len(_INDENT), cells
        groups[-1].append(column)
        used += needed
    return groups


def _fit(line: str, width: int) -> str:
    """Shortens decoration; other text is not changed."""
    if len(line) > width and _RULE.fullmatch(line):
        return line[:width]
    if len(line) > width and _TITLE.fullmatch(line):
        return line.strip().center(width).rstrip()
    return line

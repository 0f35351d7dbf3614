# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A table that a program prints and a page shows, with the same cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text


@dataclass
class Table:
    """Rows of text below a head.

    Attributes:
        name: by which a page asks for one of a program's tables.
        title: says what the numbers are, with their unit.
        columns: the head; one cell per column in each row.
        labels: how many columns from the left are words; the others are
            numbers, and set to the right.
        rows: from the top; an empty one separates those around it.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    labels: int = 1
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """Appends a row. ValueError unless it has a cell for each column."""
        if cells and len(cells) != len(self.columns):
            raise ValueError(
                f"{self.name}: {len(cells)} cells for {len(self.columns)} columns"
            )
        self.rows.append(cells)

    def markdown(self) -> str:
        """The title as a paragraph, then the table."""
        marks = [
            "---" if place < self.labels else "---:"
            for place in range(len(self.columns))
        ]
        lines = [_line(self.columns), "|" + "|".join(marks) + "|"]
        lines += [_line(row) for row in self.rows if row]
        return f"**{self.title}**\n\n" + "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def show(tables: Iterable[Table], console: Console) -> None:
    """Prints the tables that have rows one below the other."""
    for table in tables:
        if not table.rows:
            continue
        made = RichTable(
            title=Text(table.title),
            box=SIMPLE_HEAD,
            padding=(0, 1, 0, 0),
            pad_edge=False,
        )
        for place, column in enumerate(table.columns):
            words = place < table.labels
            justify: Literal["left", "right"] = "left" if words else "right"
            made.add_column(column, justify=justify, no_wrap=not words)
        for row in table.rows:
            if row:
                made.add_row(*map(Text, row))
            else:
                made.add_section()
        console.print(made)

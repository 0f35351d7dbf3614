# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of the documentation that are generated from the programs' own data."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from mace.python.tools.atomic import atomic_write


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    return [_row(head), _row(["---"] * len(head)), *map(_row, rows)]


def _row(cells: Iterable[str]) -> str:
    escaped = (cell.replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def page_parser(module: str, summary: str) -> argparse.ArgumentParser:
    """The command-line parser of a module that prints a page."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=summary)
    parser.add_argument(
        "--output", type=Path, help="file to write; standard output if left out"
    )
    return parser


def write_page(text: str, output: Path | None) -> None:
    """Writes a page to a file or to standard output.

    Raises:
        OutputError: the file cannot be written.
    """
    text = text.rstrip("\n") + "\n"
    if output is None:
        sys.stdout.write(text)
        return
    with atomic_write(output, "w") as stream:
        stream.write(text)

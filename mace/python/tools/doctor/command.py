# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The command `doctor`: flags, table and JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TextIO

from mace.python.installation import CHECKOUT, PACKAGE
from mace.python.tools.doctor.computer import Computer
from mace.python.tools.doctor.diagnosis import Diagnosis, Finding, State, diagnose
from mace.python.tools.doctor.requirements import read_tasks

# An installed package has lists of its own.
ROOT = CHECKOUT or PACKAGE
_STYLES = {
    State.GOOD: "green",
    State.MISSING: "bold red",
    State.UNFIT: "bold red",
    State.NOT_NEEDED: "dim",
}
# Holds every row.
_WIDTH = 120
_HEADINGS = ("", "found", "needed", "for", "state")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `doctor`."""
    tasks = list(read_tasks(ROOT))
    parser.add_argument(
        "--for",
        dest="task",
        choices=tasks,
        default="run",
        metavar="TASK",
        help="the task to check (default run): " + ", ".join(tasks),
    )
    parser.add_argument("--json", action="store_true", help="print JSON, not a table")


def run(args: argparse.Namespace) -> int:
    """Prints the diagnosis; 0 if the task can run, else 2."""
    diagnosis = diagnose(args.task, Computer(ROOT))
    if args.json:
        json.dump(diagnosis.as_json(), sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        show(diagnosis, sys.stdout)
    return 0 if diagnosis.ready else 2


def _row(finding: Finding) -> Sequence[str]:
    requirement = finding.requirement
    purpose = ", ".join(requirement.tasks)
    return (
        requirement.name,
        finding.found.text,
        requirement.needed,
        purpose or requirement.use,
        finding.state.value,
    )


def verdict(diagnosis: Diagnosis) -> str:
    """The lines below the table."""
    if diagnosis.ready:
        return f"Ready to {diagnosis.task.use}."
    count = len(diagnosis.problems)
    lines = [
        f"Not ready to {diagnosis.task.use}: {count} of "
        f"{len(diagnosis.findings)} checks fail. To fix them:"
    ]
    lines += [f"  {remedy}" for remedy in diagnosis.remedies]
    return "\n".join(lines)


def show(diagnosis: Diagnosis, stream: TextIO) -> None:
    """Prints the table and the verdict."""
    try:
        _show_rich(diagnosis, stream)
    except ImportError:
        _show_plain(diagnosis, stream)
    stream.write(verdict(diagnosis) + "\n")


def _show_rich(diagnosis: Diagnosis, stream: TextIO) -> None:
    from rich import box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from mace.python.tools.command_line.results import make_console

    console = make_console(stream, _WIDTH)
    # Narrow terminals wrap words, but lose none.
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(_HEADINGS[0], overflow="fold", min_width=20)
    for heading in _HEADINGS[1:]:
        table.add_column(heading, overflow="fold")
    group = ""
    for finding in diagnosis.findings:
        if finding.requirement.group != group:
            group = finding.requirement.group
            table.add_section()
            table.add_row(Text(group, style="bold"))
        name, *cells, state = _row(finding)
        style = _STYLES[finding.state]
        indented = Padding(Text(name), (0, 0, 0, 2))
        table.add_row(indented, *map(Text, cells), Text(state, style=style))
    console.print(table)


def _show_plain(diagnosis: Diagnosis, stream: TextIO) -> None:
    rows = [_HEADINGS, *map(_row, diagnosis.findings)]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths))
        stream.write("  ".join(cells).rstrip() + "\n")

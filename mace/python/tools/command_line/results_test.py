# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import io
import re

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mace.python.tools.command_line.fitting import fit_text, without_source
from mace.python.tools.command_line.results import (
    ResultConsole,
    make_console,
    print_text,
)

TEXT = (
    "I statistics.cc:89 ---------------------------------------------\n"
    "I statistics.cc:89                     Run without statistics\n"
    "I statistics.cc:89 | round | first(ms) | curr(ms) | min(ms) | max(ms) |\n"
    "W model_runner.cc:7 a warning\n"
    "I statistics.cc:91 \n"
    "time 1 2 3 4\n"
)


def test_a_file_gets_all_text() -> None:
    stream = io.StringIO()
    print_text(make_console(stream), TEXT + "\b[bold] \x1b[1m:cat: ")
    assert stream.getvalue() == TEXT + "\\x08[bold] \\x1b[1m:cat: "


def test_tables_and_text_do_not_control_the_terminal() -> None:
    stream = io.StringIO()
    console = ResultConsole(file=stream, force_terminal=True, width=80)
    print_text(console, "\x1b]0;title\x07\x1b[2J\x9b1A\n")
    table = Table()
    table.add_column("name")
    table.add_row("a\x1b[2Jb")
    table.add_row(Text("12345678\u202ec", style="bold"))
    console.print(table)
    text = stream.getvalue()
    assert "\\x1b]0;title\\x07\\x1b[2J\\x9b1A" in text
    assert "a\\x1b[2Jb" in text and "12345678\\" in text
    # What is left are styles of the table itself.
    assert re.findall(r"\x1b(?!\[[\d;]*m)|[\x07\x9b\u202e]", text) == []
    plain = re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()
    assert len({len(line) for line in plain[1:]}) == 1


def test_messages_are_shown_without_the_source_file() -> None:
    assert without_source(TEXT).splitlines() == [
        "---------------------------------------------",
        "                    Run without statistics",
        "| round | first(ms) | curr(ms) | min(ms) | max(ms) |",
        "W model_runner.cc:7 a warning",
        "",
        "time 1 2 3 4",
    ]


def test_text_on_a_narrow_terminal_loses_decoration_only() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=30)
    print_text(console, TEXT)
    assert stream.getvalue().splitlines() == [
        "-" * 30,
        "    Run without statistics",
        "| round | first(ms) | curr(ms) | min(ms) | max(ms) |",
        "W model_runner.cc:7 a warning",
        "",
        "time 1 2 3 4",
    ]


def test_a_table_too_wide_takes_several_lines_a_row() -> None:
    header = ("Op Type", "Avg(ms)", "Filter Shape", "name")
    rows = [("Conv2D", "1.5", "[16,3,3,1]", "a|b"), ("Softmax", "10.25", "", "c")]
    widths = [max(map(len, column)) for column in zip(header, *rows)]

    def line(cells: tuple[str, ...]) -> str:
        return "".join(f"| {c:>{w}} " for c, w in zip(cells, widths)) + "|"

    rule = "-" * len(line(header))
    text = "\n".join([rule, line(header), rule, *map(line, rows), rule, "end"])
    assert fit_text(text, 24).splitlines() == [
        "-" * 24,
        "Op Type  Avg(ms)",
        "    Filter Shape  name",
        "-" * 24,
        "Conv2D       1.5",
        "    [16,3,3,1]    a|b",
        "Softmax    10.25",
        "                  c",
        "-" * 24,
        "end",
    ]
    # With room enough, and in files, a table is as it is.
    assert fit_text(text, 80) == text + "\n"

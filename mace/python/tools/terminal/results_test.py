# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import io

from rich.console import Console

from mace.python.tools.terminal.fitting import fit_text, without_source
from mace.python.tools.terminal.results import make_console, print_text

TEXT = (
    "I statistics.cc:89 ---------------------------------------------\n"
    "I statistics.cc:89                     Run without statistics\n"
    "I statistics.cc:89 | round | first(ms) | curr(ms) | min(ms) | max(ms) |\n"
    "W model_runner.cc:7 a warning\n"
    "I statistics.cc:91 \n"
    "time 1 2 3 4\n"
)


def test_text_goes_to_a_file_as_it_is() -> None:
    stream = io.StringIO()
    print_text(make_console(stream), TEXT + "\b[bold] \x1b[1m:cat: ")
    assert stream.getvalue() == TEXT + "\b[bold] \x1b[1m:cat: "


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

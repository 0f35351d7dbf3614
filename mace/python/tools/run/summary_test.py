# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import io

from rich.console import Console

from mace.python.tools.config.deployment import Abi, Runtime
from mace.python.tools.run import summary
from mace.python.tools.run.results import ModelRun, RunReport, Times
from mace.python.tools.run.terminal_text import fit_text

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
    summary.print_text(summary.make_console(stream), TEXT)
    assert stream.getvalue() == TEXT


def test_text_on_a_narrow_terminal_loses_decoration_only() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=30)
    summary.print_text(console, TEXT)
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


def test_summary_fits_80_columns() -> None:
    run = ModelRun(
        "mobilenet_v2",
        Abi.HOST,
        "host",
        Runtime.CPU,
        times=(Times(2.1, 12.345, 123.456, 1234.567),),
        report={"memory": {"peak_resident_bytes": 1234.5e6}},
    )
    stream = io.StringIO()
    summary.print_summary(Console(file=stream, width=80), RunReport((run,)))
    row = next(line for line in stream.getvalue().splitlines() if "cpu" in line)
    assert row.split() == [
        *("mobilenet_v2", "host", "cpu"),
        *("12.345", "123.456", "1234.567", "1234.5", "ran"),
    ]

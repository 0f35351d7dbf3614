# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The display of progress, on a real (pseudo) terminal."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mace.python.tools.command_line.progress import show_progress
from mace.python.tools.command_line.results import (
    ResultConsole,
    fit_text,
    make_console,
    print_text,
    without_source,
)

_ROOT = Path(__file__).resolve().parents[4]
_WIDTH, _HEIGHT = 80, 200
_LINES = 40

# Results by the console, and messages by standard error, while two devices work.
_PROGRAM = f"""\
import logging, sys, threading, time
from rich.table import Table
from mace.python.tools.command_line import guard as messages
from mace.python.tools.command_line.progress import show_progress
from mace.python.tools.command_line.results import make_console, print_text
console = make_console(sys.stdout)
log = logging.getLogger("mace.test")
lock = threading.Lock()
def work(device, meter):
    for i in range({_LINES} // 2):
        meter.begin(device, f"job {{i}}")
        with lock:
            print_text(console, f"result {{i}} of {{device}}\\n")
            if i % 5 == 0:
                table = Table(title=f"table {{i}} of {{device}}")
                table.add_column("cell")
                console.print(table)
        log.warning("message %d of %s", i, device)
        meter.done(device)
        time.sleep(0.03)
with messages.logging_to_console():
    with show_progress(dict.fromkeys("ab", {_LINES} // 2), console) as meter:
        both = [threading.Thread(target=work, args=(d, meter)) for d in "ab"]
        [one.start() for one in both]
        [one.join() for one in both]
print("end")
"""
_CONTROL = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])")


def _screen(text: str) -> list[str]:
    """What a terminal shows after it was sent this."""
    rows = [""]
    at = column = 0
    while text:
        control = _CONTROL.match(text)
        if control:
            text = text[control.end() :]
            count = int(control[1]) if control[1].isdigit() else 1
            if control[2] == "A":
                at -= count
            elif control[2] == "K":
                assert control[1] == "2"
                rows[at] = ""
            else:
                assert control[2] in "mhl", control[0]
            continue
        sign, text = text[0], text[1:]
        if sign == "\r":
            column = 0
        elif sign == "\n":
            at += 1
            rows += [""] * (at + 1 - len(rows))
        else:
            row = rows[at].ljust(column)
            rows[at] = row[:column] + sign + row[column + 1 :]
            column += 1
        assert 0 <= at < len(rows)
    return [row.rstrip() for row in rows]


def _run(stdout: int | None, stderr: int | None) -> tuple[str, str]:
    """Runs the program; what the terminal got, and what a pipe got instead."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        cwd=_ROOT,
        env={
            **os.environ,
            "TERM": "xterm",
            "COLUMNS": str(_WIDTH),
            "LINES": str(_HEIGHT),
        },
        stdin=subprocess.DEVNULL,
        stdout=slave if stdout is None else stdout,
        stderr=slave if stderr is None else stderr,
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(master)
    stream = process.stdout or process.stderr
    piped = stream.read().decode() if stream else ""
    assert process.wait() == 0, shown.decode()
    return shown.decode(), piped


def _in_order(lines: list[str], what: str) -> None:
    """Every line of both devices once, each device's in order."""
    for device in "ab":
        own = [line for line in lines if re.search(rf"{what} \d+ of {device}$", line)]
        count = _LINES // 2
        assert own == [f"{what} {i} of {device}" for i in range(count)]


def _has_tables(lines: list[str]) -> None:
    assert sum("┏━" in line for line in lines) == _LINES // 5
    assert sum(line.startswith("└─") for line in lines) == _LINES // 5


@pytest.mark.parametrize("piped", ["nothing", "results", "messages"])
def test_nothing_is_lost_and_no_bar_stays(piped: str) -> None:
    shown, elsewhere = _run(
        subprocess.PIPE if piped == "results" else None,
        subprocess.PIPE if piped == "messages" else None,
    )
    # There was a display.
    assert re.search(r"20/20", shown)
    lines = _screen(shown)
    assert not any("/20" in line for line in lines)
    results = elsewhere.splitlines() if piped == "results" else lines
    _in_order(results, "result")
    _has_tables(results)
    told = elsewhere.splitlines() if piped == "messages" else lines
    _in_order([line.removeprefix("warning: ") for line in told], "message")
    assert [line for line in results if line][-1] == "end"
    if piped != "nothing":
        assert "\x1b" not in elsewhere


def test_without_a_terminal_long_steps_are_told_now_and_then(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    caplog.set_level("INFO", "mace")
    with show_progress({"phone": 1}, make_console(io.StringIO())) as meter:
        meter.begin("phone", "net (arm64)")
        for second in range(25):
            now[0] = 100.0 + second
            meter.advance("phone", f"{second} of 25 rounds")
        meter.done("phone")
    assert [record.message for record in caplog.records] == [
        "phone: net (arm64): 10 of 25 rounds",
        "phone: net (arm64): 20 of 25 rounds",
    ]


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

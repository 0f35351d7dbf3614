# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The small table of README.md that compares MACE with other engines, made of the
records `scoreboard` and `footprint`. `benchmarks.page` writes and checks it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from benchmarks import record
from benchmarks.peers.engines import ENGINES, FLOAT_ENGINES
from benchmarks.peers.results import (
    Measure,
    Scoreboard,
    first_ms,
    geometric_mean,
    memory_mb,
    time_ms,
)
from benchmarks.record import Record, RecordError
from benchmarks.tables import Table

README = record.ROOT / "README.md"
_PLACE = re.compile(r"(<!-- compared -->\n).*?(<!-- end of compared -->)", re.DOTALL)
_MACE = "mace"
_ENGINES = tuple(name for name in FLOAT_ENGINES if ENGINES[name].fp32)
_RATIOS: tuple[tuple[str, int, Measure], ...] = (
    ("time per inference, 1 thread", 1, time_ms),
    ("time per inference, 2 threads", 2, time_ms),
    ("from the file to the first result", 1, first_ms),
    ("peak memory", 1, memory_mb),
)


def fill(text: str, scoreboard: Record, footprint: Record) -> str:
    """README.md with its table filled from the records.

    Raises:
        RecordError: it has no place for the table, or more than one.
    """
    if len(_PLACE.findall(text)) != 1:
        raise RecordError("README.md needs one place '<!-- compared --> ...'")
    body = _body(scoreboard, footprint)
    return _PLACE.sub(lambda found: f"{found[1]}\n{body}\n\n{found[2]}", text)


def _body(scoreboard: Record, footprint: Record) -> str:
    board = Scoreboard.of_data(scoreboard.data, scoreboard.machine, scoreboard.versions)
    networks = {cell.network for cell in board.cells}
    lines = comparison(board, footprint.data).markdown().splitlines()
    onnx = footprint.data["onnx"]
    text = (
        f"Others relative to MACE, in fp32: the geometric means over {len(networks)} "
        f"networks on {scoreboard.machine} ({scoreboard.date}); more than 1 is slower "
        f"or larger than MACE. MACE converts {onnx['converted']} of the "
        f"{onnx['standard']} operators of ONNX. [All measurements]"
        "(docs/development/benchmarks.md), also those in which MACE is not ahead."
    )
    return "\n".join([*_wrapped(text), "", *lines[2:]])


def comparison(board: Scoreboard, footprint: Mapping[str, Any]) -> Table:
    """One row for each quantity, one column for each engine."""
    labels = [ENGINES[name].label for name in _ENGINES]
    table = Table("compared", "", ("", *labels))
    for title, threads, measure in _RATIOS:
        means = (_mean(board, name, threads, measure) for name in _ENGINES)
        table.add(title, *("-" if m is None else f"{m:.2f}" for m in means))
    sizes = {item["engine"]: item["bytes"] for item in footprint["libraries"]}
    table.add(
        "library with the operators (MB)",
        *(f"{sizes[label] / 1e6:.1f}" if label in sizes else "-" for label in labels),
    )
    return table


def _mean(
    board: Scoreboard, engine: str, threads: int, measure: Measure
) -> float | None:
    """Of an engine's measure over MACE's, where its result was right."""
    own = {cell.case: cell for cell in board.of(_MACE)}
    return geometric_mean(
        measure(cell) / measure(own[cell.case])
        for cell in board.of(engine)
        if cell.threads == threads and not cell.reason and cell.case in own
    )


def _wrapped(text: str, width: int = 88) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += " " * bool(lines[-1]) + word
    return lines

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The scoreboard as tables."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.peers import goals
from benchmarks.peers.engines import ENGINES
from benchmarks.peers.results import (
    Cell,
    Measure,
    Scoreboard,
    first_ms,
    geometric_mean,
    memory_mb,
    threads_text,
    time_ms,
)
from benchmarks.tables import Table

MACE = "mace"


def tables(board: Scoreboard) -> list[Table]:
    """All tables of a scoreboard.

    Every cell; times, first results and memory by network; the gain of a second
    thread; means; engines compared with their rivals; why engines are missing or do
    not count; and goals.
    """
    return [
        _cells(board),
        _by_network(board, "time", "ms per inference, fp32", _time, time_ms),
        _speedups(board),
        _by_network(
            board,
            "first",
            "ms from the file to the first result, fp32",
            lambda cell: f"{first_ms(cell):.1f}",
            first_ms,
        ),
        _by_network(
            board,
            "memory",
            "peak memory until the first result in MB, fp32",
            lambda cell: f"{memory_mb(cell):.0f}",
            memory_mb,
        ),
        _means(board),
        _duels(board),
        _remarks(board),
        goals.table(goals.goals(board)),
    ]


def _cells(board: Scoreboard) -> Table:
    table = Table(
        "cells",
        "ms per inference, ms from the file to the first result, peak memory",
        (
            *("network, threads", "engine", "min", "median", "ratio"),
            *("first", "ratio", "MB", "ratio", "error"),
        ),
        labels=2,
    )
    case = None
    for cell in board.cells:
        if cell.case != case and case:
            table.add()
        title = f"{cell.network}, {threads_text(cell.threads)}"
        table.add(
            title if cell.case != case else "",
            ENGINES[cell.engine].label,
            *_numbers(board, cell),
        )
        case = cell.case
    return table


def _numbers(board: Scoreboard, cell: Cell) -> tuple[str, ...]:
    if not cell.times:
        return ("-",) * 8
    return (
        f"{cell.times.minimum:.2f}",
        f"{cell.times.median:.2f}",
        _number(board.ratio(cell, time_ms)),
        f"{first_ms(cell):.1f}",
        _number(board.ratio(cell, first_ms)),
        f"{memory_mb(cell):.0f}",
        _number(board.ratio(cell, memory_mb)),
        "" if cell.error is None else f"{cell.error:.0e}",
    )


def _time(cell: Cell) -> str:
    assert cell.times
    return f"{cell.times.minimum:.2f} ({cell.times.median:.2f})"


def _by_network(
    board: Scoreboard,
    name: str,
    title: str,
    text: Callable[[Cell], str],
    measure: Measure,
) -> Table:
    """A column for each engine that computes in fp32."""
    engines = [
        engine for engine in ENGINES if ENGINES[engine].fp32 and board.of(engine)
    ]
    if engines == [MACE] or MACE not in engines:
        return Table(name, title, ())
    labels = [ENGINES[engine].label for engine in engines]
    table = Table(name, title, ("network", "threads", *labels, "ratio"))
    cells = {(cell.case, cell.engine): cell for cell in board.timed()}
    for case in dict.fromkeys(cell.case for cell in board.cells):
        mine = cells.get((case, MACE))
        found = (cells.get((case, engine)) for engine in engines)
        table.add(
            case[0],
            str(case[1]),
            *("-" if cell is None else text(cell) + _mark(cell) for cell in found),
            _number(board.ratio(mine, measure)) if mine else "",
        )
    for threads in sorted({cell.threads for cell in board.cells}):
        mean = board.mean_ratio(MACE, threads, measure)
        table.add("geometric mean", str(threads), *[""] * len(engines), _number(mean))
    return table


def _mark(cell: Cell) -> str:
    """The mark of a cell that is never the best peer's."""
    return " *" if cell.reason else ""


def _speedups(board: Scoreboard) -> Table:
    """Speed-ups of all engines; empty for a single number of threads."""
    found = {engine: board.speedups(engine) for engine in ENGINES}
    engines = [engine for engine in ENGINES if found[engine]]
    labels = [ENGINES[engine].label for engine in engines]
    columns = ("network", "threads", *labels)
    table = Table("speedup", "time with 1 thread / with more threads", columns)
    cases = dict.fromkeys(cell.case for cell in board.cells)
    for network, threads in cases:
        ratios = [found[engine].get(network, {}).get(threads) for engine in engines]
        if any(ratios):
            table.add(network, str(threads), *map(_number, ratios))
    return table


def _means(board: Scoreboard) -> Table:
    table = Table(
        "means",
        "geometric mean of the ratios to the best fp32 peer",
        ("engine", "threads", "networks", "time", "worst", "first", "memory"),
    )
    for threads in sorted({cell.threads for cell in board.cells}):
        for engine, info in ENGINES.items():
            cells = [cell for cell in board.of(engine) if cell.threads == threads]
            if not cells:
                continue
            ratios = [board.ratio(cell, time_ms) for cell in cells]
            worst = max((r for r in ratios if r is not None), default=None)
            table.add(
                info.label,
                str(threads),
                str(len(cells)),
                _number(board.mean_ratio(engine, threads, time_ms)),
                _number(worst),
                _number(board.mean_ratio(engine, threads, first_ms)),
                _number(board.mean_ratio(engine, threads, memory_mb)),
            )
    return table


def _duels(board: Scoreboard) -> Table:
    """Engines that do not compute in fp32, each compared with its rival."""
    columns = ("network", "threads", "ms", "reference ms", "min", "median")
    cells = {(cell.case, cell.engine): cell for cell in board.timed()}
    duels = board.duels()
    names = {
        f"{ENGINES[d.engine].label} compared with {ENGINES[d.rival].label}"
        for d in duels
    }
    title = f"{', '.join(sorted(names))}; ms are minimum (median), then their ratios"
    table = Table("bf16", title, columns)
    for duel in duels:
        threads = str(duel.threads)
        for network, ratio in duel.networks.items():
            case = (network, duel.threads)
            both = (cells[case, engine] for engine in (duel.engine, duel.rival))
            medians = _number(duel.medians[network])
            table.add(network, threads, *map(_time, both), _number(ratio), medians)
        means = (geometric_mean(r.values()) for r in (duel.networks, duel.medians))
        table.add("geometric mean", threads, "", "", *map(_number, means))
        table.add()
    return table


def _remarks(board: Scoreboard) -> Table:
    table = Table(
        "remarks",
        "cells without a time, and (*) cells that are never the best peer",
        ("engine", "network", "threads", "why"),
        labels=4,
    )
    for cell in board.cells:
        if cell.reason:
            engine = ENGINES[cell.engine].label
            table.add(engine, cell.network, str(cell.threads), cell.reason)
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The scoreboard as text."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from benchmarks.peers.engines import ENGINES
from benchmarks.peers.results import (
    Cell,
    Duel,
    Measure,
    Scoreboard,
    first_ms,
    geometric_mean,
    memory_mb,
    threads_text,
    time_ms,
)


def show(board: Scoreboard, console: Console) -> None:
    """Prints one row per engine, network and number of threads, the geometric
    means, engines beside their rivals, and why engines are missing or do not
    count."""
    console.print(_cells(board))
    console.print(_means(board))
    duels = board.duels()
    for engine in dict.fromkeys(duel.engine for duel in duels):
        console.print(_duels([duel for duel in duels if duel.engine == engine]))
    for cell in board.cells:
        if cell.reason:
            console.print(
                f"{ENGINES[cell.engine].label}, {cell.network}, "
                f"{threads_text(cell.threads)}: {cell.reason}",
                markup=False,
            )


def _cells(board: Scoreboard) -> Table:
    table = Table(
        title="ms per inference, ms from the file to the first result, peak memory",
        box=SIMPLE_HEAD,
        padding=(0, 0),
        pad_edge=False,
    )
    table.add_column("engine", no_wrap=True)
    for title in ("min", "median", "ratio", "first", "ratio", "MB", "ratio"):
        table.add_column(title, no_wrap=True, justify="right")
    table.add_column("error", justify="right", no_wrap=True)
    case = None
    for cell in board.cells:
        if cell.case != case:
            if case:
                table.add_section()
            table.add_row(
                f"{cell.network}, {threads_text(cell.threads)}", style="italic"
            )
            case = cell.case
        table.add_row(
            f"  {ENGINES[cell.engine].label}",
            *_numbers(board, cell),
            style="bold" if cell.engine == "mace" else "",
        )
    return table


def _numbers(board: Scoreboard, cell: Cell) -> tuple[str, ...]:
    if not cell.times:
        return ("-",) * 7
    return (
        f"{cell.times.minimum:.2f}",
        f"{cell.times.median:.2f}",
        _ratio(board, cell, time_ms),
        f"{first_ms(cell):.1f}",
        _ratio(board, cell, first_ms),
        f"{memory_mb(cell):.0f}",
        _ratio(board, cell, memory_mb),
        "" if cell.error is None else f"{cell.error:.0e}",
    )


def _ratio(board: Scoreboard, cell: Cell, measure: Measure) -> str:
    ratio = board.ratio(cell, measure)
    return "" if ratio is None else f"{ratio:.2f}"


def _means(board: Scoreboard) -> Table:
    table = Table(
        title="geometric mean of the ratios to the best fp32 peer", box=SIMPLE_HEAD
    )
    table.add_column("engine")
    for title in ("threads", "networks", "time", "worst", "first", "memory"):
        table.add_column(title, justify="right")
    for threads in sorted({cell.threads for cell in board.cells}):
        for engine, info in ENGINES.items():
            cells = [
                cell
                for cell in board.timed()
                if cell.engine == engine and cell.threads == threads
            ]
            if not cells:
                continue
            ratios = [board.ratio(cell, time_ms) for cell in cells]
            worst = max((r for r in ratios if r is not None), default=None)
            table.add_row(
                info.label,
                str(threads),
                str(len(cells)),
                _number(board.mean_ratio(engine, threads, time_ms)),
                _number(worst),
                _number(board.mean_ratio(engine, threads, first_ms)),
                _number(board.mean_ratio(engine, threads, memory_mb)),
            )
    return table


def _duels(duels: list[Duel]) -> Table:
    first = duels[0]
    table = Table(
        title=f"{ENGINES[first.engine].label} / {ENGINES[first.rival].label}",
        box=SIMPLE_HEAD,
    )
    table.add_column("network", no_wrap=True)
    for title in ("threads", "min", "median"):
        table.add_column(title, justify="right")
    for duel in duels:
        threads = str(duel.threads)
        for network, ratio in duel.networks.items():
            median = _number(duel.medians[network])
            table.add_row(network, threads, _number(ratio), median)
        means = (geometric_mean(r.values()) for r in (duel.networks, duel.medians))
        table.add_row("geometric mean", threads, *map(_number, means), style="bold")
        table.add_section()
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"

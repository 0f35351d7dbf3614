# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""MACE's goals in comparison with the peers, and whether a scoreboard reaches them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Tuple

from benchmarks.peers.results import (
    Measure,
    Scoreboard,
    first_ms,
    geometric_mean,
    memory_mb,
    threads_text,
    time_ms,
)
from benchmarks.tables import Table

TOLERANCE = 1e-4  # of the largest output
MACE = "mace"
# The network whose memory has a goal; the table of memory has all networks.
MEMORY_NETWORK = "mobilenet_v1"
# A value, and the case in which it was measured.
_Found = Tuple[float, str]


@dataclass(frozen=True)
class Goal:
    """A limit, and what was measured.

    Attributes:
        limit: the value may be the limit.
        value: None if the scoreboard has nothing of it.
        case: where the value was measured, if it is of one case.
        least: the limit is the least that is wanted, not the most.
    """

    text: str
    limit: float
    value: float | None
    case: str = ""
    least: bool = False

    @property
    def met(self) -> bool | None:
        """None if it was not measured."""
        if self.value is None:
            return None
        return self.value >= self.limit if self.least else self.value <= self.limit


def goals(board: Scoreboard) -> list[Goal]:
    """All goals, in the order in which they are printed."""
    times, firsts = _ratios(board, time_ms), _ratios(board, first_ms)
    memory = _ratios(board, memory_mb, MEMORY_NETWORK)
    errors = [(c.error, c.network) for c in board.of(MACE) if c.error is not None]
    speedups = [
        (ratio, network)
        for network, ratios in board.speedups(MACE).items()
        for threads, ratio in ratios.items()
        if threads == 2
    ]
    duels = [
        (ratio, f"{network}, {threads_text(duel.threads)}")
        for duel in board.duels()
        for network, ratio in duel.networks.items()
    ]
    mean = geometric_mean(ratio for ratio, _ in times)
    return [
        Goal("time / fastest peer's, geometric mean", 0.90, mean),
        Goal("time / fastest peer's, worst", 1.00, *_worst(times)),
        Goal("largest difference from ONNX Runtime", TOLERANCE, *_worst(errors)),
        Goal("1 thread / 2 threads, worst", 1.85, *_worst(speedups, min), least=True),
        Goal("first result / fastest peer's, worst", 0.50, *_worst(firsts)),
        Goal(
            f"peak memory of {MEMORY_NETWORK} / leanest peer's", 0.60, *_worst(memory)
        ),
        Goal("bf16 time / OpenVINO default's, worst", 1.20, *_worst(duels)),
    ]


def _ratios(board: Scoreboard, measure: Measure, network: str = "") -> list[_Found]:
    """MACE's ratios, for one network or all."""
    return [
        (ratio, f"{cell.network}, {threads_text(cell.threads)}")
        for cell in board.of(MACE)
        if network in ("", cell.network)
        and (ratio := board.ratio(cell, measure)) is not None
    ]


def _worst(
    found: list[_Found], choose: Callable[[list[_Found]], _Found] = max
) -> tuple[float | None, str]:
    return choose(found) if found else (None, "")


def table(found: Iterable[Goal]) -> Table:
    """One row for each."""
    made = Table("goals", "goals", ("goal", "met", "where", "limit", "measured"), 3)
    for goal in found:
        sign = "≥" if goal.least else "≤"
        made.add(
            goal.text,
            {True: "yes", False: "no", None: "not measured"}[goal.met],
            goal.case,
            f"{sign} {_number(goal.limit)}",
            "" if goal.value is None else _number(goal.value),
        )
    return made


def _number(value: float) -> str:
    return f"{value:.2f}" if value >= 0.01 else f"{value:.0e}"

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The measurements, and the ratios computed from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.peers.engines import ENGINES
from benchmarks.timing import Times


@dataclass(frozen=True)
class Loading:
    """One load in a fresh process, see worker.py."""

    first_ms: float
    peak_mb: float
    base_mb: float

    @property
    def engine_mb(self) -> float:
        """Peak memory beyond Python, numpy and the image."""
        return self.peak_mb - self.base_mb


@dataclass(frozen=True)
class Cell:
    """One engine with one network at one number of threads.

    Attributes:
        times: per inference; None if there are none.
        loads: one per fresh process.
        error: largest difference from the reference, of the largest output.
        reason: why the engine was not timed, or does not count; or empty.
    """

    network: str
    threads: int
    engine: str
    times: Times | None
    loads: tuple[Loading, ...]
    error: float | None
    reason: str

    @property
    def case(self) -> tuple[str, int]:
        """The key of the cells with which it is compared."""
        return self.network, self.threads


@dataclass(frozen=True)
class Duel:
    """An engine compared with its rival, for one number of threads.

    Attributes:
        networks: the ratio of their best times, by network.
        medians: the same of their median times.
    """

    engine: str
    rival: str
    threads: int
    networks: dict[str, float]
    medians: dict[str, float]


def threads_text(count: int) -> str:
    """As people write it."""
    return "1 thread" if count == 1 else f"{count} threads"


Measure = Callable[[Cell], float]


def time_ms(cell: Cell) -> float:
    """Best time of an inference."""
    assert cell.times
    return cell.times.minimum


def first_ms(cell: Cell) -> float:
    """Best time from the file to the first result."""
    return min(load.first_ms for load in cell.loads)


def memory_mb(cell: Cell) -> float:
    """Least peak memory beyond the base."""
    return min(load.engine_mb for load in cell.loads)


@dataclass
class Scoreboard:
    """All cells of a session."""

    machine: str
    versions: dict[str, str]
    seed: int
    cells: list[Cell]

    def timed(self) -> list[Cell]:
        """The cells that hold times."""
        return [cell for cell in self.cells if cell.times]

    def of(self, engine: str) -> list[Cell]:
        """An engine's cells that hold times."""
        return [cell for cell in self.timed() if cell.engine == engine]

    def speedups(self, engine: str) -> dict[str, dict[int, float]]:
        """Time with 1 thread over that with more, by network and threads."""
        cells = {cell.case: cell for cell in self.of(engine)}
        found: dict[str, dict[int, float]] = {}
        for (network, threads), cell in cells.items():
            one = cells.get((network, 1))
            if threads > 1 and one:
                ratios = found.setdefault(network, {})
                ratios[threads] = time_ms(one) / time_ms(cell)
        return found

    def ratio(self, cell: Cell, measure: Measure) -> float | None:
        """A cell's measure over that of the best peer in its case.

        Peers are the engines other than MACE that computed in fp32 (in int8, for an
        engine in int8) and gave the right answer. None if there is none.
        """
        int8 = ENGINES[cell.engine].arithmetic == "int8"
        best = [
            measure(other)
            for other in self.timed()
            if other.case == cell.case
            and not ENGINES[other.engine].is_mace
            and ENGINES[other.engine].arithmetic == ("int8" if int8 else "fp32")
            and not other.reason
        ]
        return measure(cell) / min(best) if best else None

    def mean_ratio(self, engine: str, threads: int, measure: Measure) -> float | None:
        """Geometric mean of an engine's ratios. None if it has none."""
        ratios = (
            self.ratio(cell, measure)
            for cell in self.timed()
            if cell.engine == engine and cell.threads == threads
        )
        return geometric_mean(ratio for ratio in ratios if ratio is not None)

    def duels(self) -> list[Duel]:
        """The duels of engines that have a rival, if both were timed."""
        cells = {(*cell.case, cell.engine): cell for cell in self.timed()}
        found = []
        for threads in sorted({cell.threads for cell in self.cells}):
            for name, engine in ENGINES.items():
                minima, medians = {}, {}
                for (network, count, mine), cell in cells.items():
                    other = cells.get((network, count, engine.rival))
                    if count != threads or mine != name or other is None:
                        continue
                    assert cell.times and other.times
                    minima[network] = cell.times.minimum / other.times.minimum
                    medians[network] = cell.times.median / other.times.median
                if minima:
                    found.append(Duel(name, engine.rival, threads, minima, medians))
        return found

    def data(self) -> dict[str, Any]:
        """The measurements, for JSON; ratios are computed from them."""
        return {"seed": self.seed, "cells": [asdict(cell) for cell in self.cells]}

    @staticmethod
    def of_data(
        data: dict[str, Any], machine: str, versions: dict[str, str]
    ) -> Scoreboard:
        """The scoreboard from the result of `data()`."""
        cells = [
            Cell(
                **{
                    **fields,
                    "times": Times(**fields["times"]) if fields["times"] else None,
                    "loads": tuple(Loading(**load) for load in fields["loads"]),
                }
            )
            for fields in data["cells"]
        ]
        return Scoreboard(machine, versions, data["seed"], cells)


def geometric_mean(values: Iterable[float]) -> float | None:
    """The geometric mean; None if there are no values."""
    logarithms = [math.log(value) for value in values]
    if not logarithms:
        return None
    return math.exp(sum(logarithms) / len(logarithms))

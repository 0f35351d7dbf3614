# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""MACE compared with ONNX Runtime, OpenVINO, LiteRT, ncnn and MNN.

    bash benchmarks/setup.sh peers
    python -m benchmarks.peers.scoreboard [--threads 1 2] [--models NAME ...]

Every engine gets the same weights and the same input, must return the outputs of ONNX
Runtime, and is then timed in turns with the others. See README.md here.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.library import Library
from benchmarks.networks import DIRECTORY, MEASURED, NAMES, Network, make_network
from benchmarks.peers.client import Client, WorkerError
from benchmarks.peers.engines import ENGINES, FLOAT_ENGINES, REFERENCE, product
from benchmarks.peers.formats import (
    PYTHON,
    VENV,
    FormatError,
    make_model,
    require_engines,
)
from benchmarks.peers.goals import TOLERANCE, goals
from benchmarks.peers.processor import PROCESSORS, variables
from benchmarks.peers.results import Cell, Loading, Scoreboard
from benchmarks.peers.table import tables as score_tables
from benchmarks.peers.worker import CLOCKS
from benchmarks.record import (
    Record,
    Recorder,
    RecordError,
    add_arguments,
    read,
    recorder,
    refuse,
)
from benchmarks.tables import Table
from benchmarks.timing import Times

_RESULT = DIRECTORY / "peers/scoreboard.json"
# With a larger error, an engine did not compute the network, and is not timed.
_WRONG = 1e-2
SEED = 0  # of the order of turns
_BURST_MS = 200.0  # of one engine's turn


@dataclass
class _Side:
    """An engine during the measurement of its network."""

    engine: str
    threads: int
    model: Path | None = None
    reason: str = ""
    remark: str = ""
    loads: list[Loading] = field(default_factory=list)
    error: float | None = None
    client: Client | None = None
    times: list[float] = field(default_factory=list)
    count: int = 1

    @property
    def name(self) -> str:
        """The prefix of its own files."""
        return f"{self.engine}-{self.threads}"

    def fail(self, reason: str) -> None:
        self.reason = reason
        self.client = None


@dataclass(frozen=True)
class Conditions:
    """How networks are measured.

    Attributes:
        threads: the numbers of them.
        engines: keys of `ENGINES`.
        seconds: per network and number of threads.
        loads: fresh processes per engine.
        reference: the engine that gives the outputs to compare with.
        variables: of the engines' environment, see `processor.variables`.
        clock: of the times of runs, a key of `worker.CLOCKS`.
    """

    threads: Sequence[int]
    engines: Sequence[str]
    seconds: float
    loads: int
    reference: str = REFERENCE
    variables: Mapping[str, str] = field(default_factory=dict)
    clock: str = "wall"


def add_conditions(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of a measurement on another computer than an idle one with all
    its instructions.
    """
    parser.add_argument(
        "--as",
        dest="processor",
        choices=PROCESSORS,
        help="hide newer instructions of this processor from all engines",
    )
    parser.add_argument(
        "--clock",
        choices=CLOCKS,
        default="wall",
        help="cpu: what a process computes, of one thread, on a busy computer",
    )


def check_conditions(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Ends the program with a message if the conditions contradict each other."""
    if min(args.threads) < 1:
        parser.error("--threads takes numbers from 1")
    if args.clock == "cpu" and max(args.threads) > 1:
        parser.error("--clock cpu adds the times of all threads: use --threads 1")


class Measurement:
    """One network with all engines, at each number of threads.

    All engines run in turns, with one and with more threads, because the gain of a
    second thread is a ratio as well.
    """

    def __init__(self, network: Network, how: Conditions, folder: Path) -> None:
        self._network, self._folder, self._how = network, folder, how
        image = folder / "image.npy"
        np.save(image, network.image())
        self._job: dict[str, Any] = {
            "image": str(image),
            "input_name": network.input_name,
            "output_name": network.output_name,
            "output_shape": network.output_shape(),
        }
        self._sides = [_Side(name, n) for n in how.threads for name in how.engines]
        for side in self._sides:
            try:
                side.model = make_model(network, ENGINES[side.engine].format)
            except FormatError as error:
                side.fail(str(error))

    def run(self) -> list[Cell]:
        """Loads each engine, compares, then times them."""
        order, loads = random.Random(SEED), self._how.loads
        with contextlib.ExitStack() as stack:
            for turn in range(loads):
                for side in self._shuffled(order):
                    self._load(side, stack if turn == loads - 1 else None)
            self._compare()
            self._time(self._how.seconds * len(self._how.threads), order)
        return [self._cell(side) for side in self._sides]

    def _shuffled(self, order: random.Random) -> list[_Side]:
        sides = [side for side in self._sides if not side.reason]
        order.shuffle(sides)
        return sides

    def _answer_file(self, side: _Side) -> Path:
        return self._folder / f"{side.name}.npy"

    def _load(self, side: _Side, stack: contextlib.ExitStack | None) -> None:
        """Loads the engine in a fresh process, which is kept if there is a stack for
        it.
        """
        log = self._folder / f"{side.name}.log"
        client = Client(PYTHON, side.engine, log, self._how.variables)
        with contextlib.ExitStack() as own:
            (stack or own).enter_context(client)
            try:
                answer = client.ask(
                    do="load",
                    model=str(side.model),
                    threads=side.threads,
                    output=str(self._answer_file(side)),
                    **self._job,
                )
            except WorkerError as error:
                side.fail(str(error))
                return
        side.loads.append(Loading(**answer))
        side.client = client if stack else None

    def _compare(self) -> None:
        reference = next(s for s in self._sides if s.engine == self._how.reference)
        if reference.reason:
            raise SystemExit(
                f"{self._network.name}: {reference.engine}: {reference.reason}"
            )
        wanted = np.load(self._answer_file(reference))
        for side in self._sides:
            if side.reason:
                continue
            found = np.load(self._answer_file(side))
            if found.shape != wanted.shape:
                side.fail(f"{found.size} outputs instead of {wanted.size}")
                continue
            side.error = float(np.abs(found - wanted).max() / np.abs(wanted).max())
            # Rounding to 8 bits, or to half of a float, may add up to any difference.
            if not (ENGINES[side.engine].fp32 and ENGINES[reference.engine].fp32):
                continue
            differ = f"its outputs differ by {side.error:.1e}"
            if not side.error <= _WRONG:
                side.fail(f"not timed, {differ}")
            elif not side.error <= TOLERANCE:
                side.remark = f"never the best peer, {differ}"

    def _turn(self, side: _Side, count: int) -> list[float]:
        assert side.client
        try:
            answer = side.client.ask(do="run", count=count, clock=self._how.clock)
            times: list[float] = answer["ms"]
        except WorkerError as error:
            side.fail(str(error))
            return []
        return times

    def _time(self, seconds: float, order: random.Random) -> None:
        for side in self._shuffled(order):
            warm = self._turn(side, 5)
            if warm:
                side.count = max(3, round(_BURST_MS / min(warm)))
        end = time.perf_counter() + seconds
        turns = 0
        while time.perf_counter() < end or turns < 3:
            for side in self._shuffled(order):
                side.times += self._turn(side, side.count)
            turns += 1

    def _cell(self, side: _Side) -> Cell:
        times = None
        if not side.reason:
            samples = side.times
            times = Times(min(samples), statistics.median(samples), len(samples))
        return Cell(
            network=self._network.name,
            threads=side.threads,
            engine=side.engine,
            times=times,
            loads=tuple(side.loads),
            error=side.error,
            reason=side.reason or side.remark,
        )


def measure(network: Network, how: Conditions) -> list[Cell]:
    """One network with all engines, at each number of threads."""
    with tempfile.TemporaryDirectory() as folder:
        return Measurement(network, how, Path(folder)).run()


def versions(library: Library, engines: Sequence[str]) -> dict[str, str]:
    """The versions by product, see engines.py."""
    sites = [str(path) for path in VENV.glob("lib/python*/site-packages")]
    found = {d.metadata["Name"].lower(): d.version for d in distributions(path=sites)}
    packages = {product(name): ENGINES[name].package.lower() for name in engines}
    return {
        name: found[package] if package else library.version
        for name, package in packages.items()
    }


def tables(data: Any) -> list[Table]:
    """See table.py."""
    return score_tables(Scoreboard.of_data(data, "", {}))


def draw(kept: Record, path: Path) -> None:
    """The chart of a record, see chart.py."""
    # Needed only for a picture, and slow to import.
    from benchmarks.peers.chart import draw as draw_chart

    board = Scoreboard.of_data(kept.data, kept.machine, kept.versions)
    draw_chart(board, path)


def others(output: Recorder, board: Scoreboard, models: list[str]) -> list[Cell]:
    """Cells of the existing record, for networks that are not measured now.

    Raises:
        SystemExit: with status 2, they were not measured alike.
    """
    assert output.path
    try:
        kept = read(output.path.stem, output.path.parent)
    except RecordError as error:
        refuse(f"--add: {error}")
    for what, there, here in (
        ("machine", kept.machine, board.machine),
        ("commit", kept.commit, output.commit),
        ("versions", kept.versions, board.versions),
    ):
        if there != here:
            refuse(f"--add: {output.path} is of {what} {there}, not {here}")
    cells = Scoreboard.of_data(kept.data, kept.machine, kept.versions).cells
    return [cell for cell in cells if cell.network not in models]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--models", nargs="+", choices=NAMES, default=MEASURED)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument(
        "--engines", nargs="+", choices=FLOAT_ENGINES, default=FLOAT_ENGINES
    )
    parser.add_argument(
        "--seconds", type=float, default=30.0, help="per network and threads"
    )
    parser.add_argument(
        "--loads", type=int, default=10, help="fresh processes per engine"
    )
    parser.add_argument(
        "--require-goals",
        action="store_true",
        help="exit status 1 if a goal that was measured is not met",
    )
    parser.add_argument(
        "--add",
        action="store_true",
        help="keep the other networks of a record of this commit and machine",
    )
    add_conditions(parser)
    add_arguments(parser)
    args = parser.parse_args()
    check_conditions(parser, args)
    if args.loads < 1:
        parser.error("--loads takes numbers from 1")
    output = recorder("benchmarks.peers.scoreboard", args, _RESULT)
    require_engines()
    engines = [e for e in FLOAT_ENGINES if e in {*args.engines, REFERENCE}]
    how = Conditions(
        args.threads,
        engines,
        args.seconds,
        args.loads,
        variables=variables(args.processor),
        clock=args.clock,
    )
    board = Scoreboard(output.machine, versions(Library(), engines), SEED, [])
    kept_cells = others(output, board, args.models) if args.add else []
    console = output.console
    console.print(f"{board.machine}; order of turns: seed {SEED}")
    for name in args.models:
        network = make_network(name)
        console.print(f"measuring {name}")
        board.cells += measure(network, how)
    board.cells = kept_cells + board.cells
    kept = output.finish(board.data(), board.versions)
    picture = _RESULT.with_suffix(".png")
    draw(kept, picture)
    console.print(f"written: {picture}")
    failed = any(c.engine == "mace" and c.reason for c in board.cells)
    missed = any(goal.met is False for goal in goals(board))
    return int(failed or (args.require_goals and missed))


if __name__ == "__main__":
    sys.exit(main())

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""MACE beside ONNX Runtime, OpenVINO, LiteRT, ncnn and MNN.

    bash benchmarks/peers/setup.sh
    python -m benchmarks.peers.scoreboard [--threads 1 2] [--models NAME ...]

Every engine gets the same weights and the same input, must give the answer of
ONNX Runtime, and is then timed in turns with the others. See README.md here.
"""

from __future__ import annotations

import argparse
import contextlib
import platform
import random
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from rich.console import Console

from benchmarks.library import Library
from benchmarks.networks import DIRECTORY, NAMES, Network, make_network
from benchmarks.peers.chart import draw
from benchmarks.peers.client import Client, WorkerError
from benchmarks.peers.engines import ENGINES, REFERENCE
from benchmarks.peers.formats import (
    PYTHON,
    VENV,
    FormatError,
    make_model,
    require_engines,
)
from benchmarks.peers.results import Cell, Loading, Scoreboard
from benchmarks.peers.table import show
from benchmarks.timing import Times

DEFAULT_MODELS = (
    "mobilenet_v1",
    "mobilenet_v2",
    "squeezenet",
    "resnet50",
    "inception_v3",
    "inception_v1",
    "densenet121",
    "shufflenet",
)
TOLERANCE = 1e-4  # of the largest output
# Beyond this an engine did not compute the network, and is not timed.
_WRONG = 1e-2
SEED = 0  # of the order of turns
_BURST_MS = 200.0  # of one engine's turn


@dataclass
class _Side:
    """An engine while its network is measured."""

    engine: str
    model: Path | None = None
    reason: str = ""
    remark: str = ""
    loads: list[Loading] = field(default_factory=list)
    error: float | None = None
    client: Client | None = None
    times: list[float] = field(default_factory=list)
    count: int = 1

    def fail(self, reason: str) -> None:
        self.reason = reason
        self.client = None


class Measurement:
    """One network at one number of threads, with all engines."""

    def __init__(
        self, network: Network, threads: int, engines: list[str], folder: Path
    ) -> None:
        self._network, self._threads, self._folder = network, threads, folder
        graph = onnx.load(str(network.onnx), load_external_data=False).graph
        shape = graph.output[0].type.tensor_type.shape.dim
        image = folder / "image.npy"
        np.save(image, network.image())
        self._job: dict[str, Any] = {
            "threads": threads,
            "image": str(image),
            "input_name": network.input_name,
            "output_name": network.output_name,
            "output_shape": [d.dim_value for d in shape],
        }
        self._sides = [_Side(engine) for engine in engines]
        for side in self._sides:
            try:
                side.model = make_model(network, ENGINES[side.engine].format)
            except FormatError as error:
                side.fail(str(error))

    def run(self, seconds: float, loads: int) -> list[Cell]:
        """Loads each engine `loads` times, compares, then times them."""
        order = random.Random(SEED)
        with contextlib.ExitStack() as stack:
            for turn in range(loads):
                for side in self._shuffled(order):
                    self._load(side, stack if turn == loads - 1 else None)
            self._compare()
            self._time(seconds, order)
        return [self._cell(side) for side in self._sides]

    def _shuffled(self, order: random.Random) -> list[_Side]:
        sides = [side for side in self._sides if not side.reason]
        order.shuffle(sides)
        return sides

    def _answer_file(self, engine: str) -> Path:
        return self._folder / f"{engine}.npy"

    def _load(self, side: _Side, stack: contextlib.ExitStack | None) -> None:
        """In a fresh process, which is kept if there is a stack for it."""
        client = Client(PYTHON, side.engine, self._folder / f"{side.engine}.log")
        with contextlib.ExitStack() as own:
            (stack or own).enter_context(client)
            try:
                answer = client.ask(
                    do="load",
                    model=str(side.model),
                    output=str(self._answer_file(side.engine)),
                    **self._job,
                )
            except WorkerError as error:
                side.fail(str(error))
                return
        side.loads.append(Loading(**answer))
        side.client = client if stack else None

    def _compare(self) -> None:
        reference = next(s for s in self._sides if s.engine == REFERENCE)
        if reference.reason:
            raise SystemExit(f"{self._network.name}: {REFERENCE}: {reference.reason}")
        wanted = np.load(self._answer_file(REFERENCE))
        for side in self._sides:
            if side.reason:
                continue
            found = np.load(self._answer_file(side.engine))
            if found.shape != wanted.shape:
                side.fail(f"{found.size} outputs instead of {wanted.size}")
                continue
            side.error = float(np.abs(found - wanted).max() / np.abs(wanted).max())
            differ = f"its outputs differ by {side.error:.1e}"
            if not side.error <= _WRONG and ENGINES[side.engine].fp32:
                side.fail(f"not timed, {differ}")
            elif not side.error <= TOLERANCE and ENGINES[side.engine].fp32:
                side.remark = f"never the best peer, {differ}"

    def _turn(self, side: _Side, count: int) -> list[float]:
        assert side.client
        try:
            times: list[float] = side.client.ask(do="run", count=count)["ms"]
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
            threads=self._threads,
            engine=side.engine,
            times=times,
            loads=tuple(side.loads),
            error=side.error,
            reason=side.reason or side.remark,
        )


def _machine() -> str:
    name = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
            break
    return f"{name}, {platform.system()} {platform.release()}"


def _versions(library: Library) -> dict[str, str]:
    sites = [str(path) for path in VENV.glob("lib/python*/site-packages")]
    found = {d.metadata["Name"].lower(): d.version for d in distributions(path=sites)}
    return {
        name: found[engine.package.lower()] if engine.package else library.version
        for name, engine in ENGINES.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--models", nargs="+", choices=NAMES, default=DEFAULT_MODELS)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument(
        "--seconds", type=float, default=30.0, help="per network and threads"
    )
    parser.add_argument(
        "--loads", type=int, default=5, help="fresh processes per engine"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=DIRECTORY / "peers/scoreboard",
        help="of .json and .png, without suffix (default: %(default)s)",
    )
    args = parser.parse_args()
    if min(args.threads) < 1 or args.loads < 1:
        parser.error("--threads and --loads take numbers from 1")
    require_engines()
    engines = [e for e in ENGINES if e in {*args.engines, REFERENCE}]
    board = Scoreboard(_machine(), _versions(Library()), SEED, [])
    console = Console()
    console.print(f"{board.machine}; order of turns: seed {SEED}")
    for name in args.models:
        network = make_network(name)
        for threads in args.threads:
            console.print(f"measuring {name}, threads: {threads}")
            with tempfile.TemporaryDirectory() as folder:
                measured = Measurement(network, threads, engines, Path(folder))
                board.cells += measured.run(args.seconds, args.loads)
    show(board, console)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    board.write(args.output.with_suffix(".json"))
    draw(board, args.output.with_suffix(".png"))
    console.print(f"written: {args.output}.json, {args.output}.png")
    failed = [c for c in board.cells if c.engine == "mace" and c.reason]
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()

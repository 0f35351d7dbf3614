# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What it takes to call the DSP that an emulator is, in microseconds.

    python -m benchmarks.hexagon.transport [--require-goals]

A call of an empty program is the overhead of each segment of an inference. Beside it,
in turns: two processes that only wake each other, which no call can do without; and an
inference of one small layer by the emulated DSP and by the CPU.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.record import ROOT, add_arguments, recorder
from benchmarks.tables import Table
from mace.python.tools.build_tools import bazel_command

_TARGET = "//benchmarks/hexagon:transport"
_MOST_MICROSECONDS = 60
_SIDES = {
    "call": "call of an empty program",
    "wake": "two processes that wake each other",
    "dsp": "inference of a small layer, by the DSP",
    "cpu": "inference of a small layer, by the CPU",
}


def run(rounds: int) -> dict[str, list[float]]:
    """Builds and runs the program; microseconds of each side in each round."""
    command = bazel_command().words("run", _TARGET, "--", str(rounds))
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{_TARGET}: status {done.returncode}: {done.stderr[-2000:]}")
    lines = [line.split() for line in done.stdout.splitlines()]
    return {
        side: [int(line[place]) / 1e3 for line in lines]
        for place, side in enumerate(_SIDES)
    }


def summary(times: Sequence[float]) -> dict[str, float]:
    """What is kept of the times of one side."""
    return {
        "minimum": min(times),
        "median": statistics.median(times),
        "p90": statistics.quantiles(times, n=10)[-1],
    }


def tables(data: Any) -> list[Table]:
    """All sides, each beside the two processes."""
    table = Table(
        "transport",
        "microseconds of a call of the emulated DSP and of what it is compared with, "
        f"{data['rounds']} rounds; ratio of the medians to that of two processes",
        ("", "minimum", "median", "90 % below", "ratio"),
    )
    least = data["sides"]["wake"]["median"]
    for side, title in _SIDES.items():
        times = data["sides"][side]
        table.add(
            title,
            *(f"{times[name]:.1f}" for name in ("minimum", "median", "p90")),
            f"{times['median'] / least:.1f}",
        )
    return [table]


def main() -> None:
    """Measures, and prints a table."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n", maxsplit=1)[0]
    )
    parser.add_argument("--rounds", type=int, default=5000)
    parser.add_argument(
        "--require-goals",
        action="store_true",
        help=f"fail if the median of calls is above {_MOST_MICROSECONDS} microseconds",
    )
    add_arguments(parser)
    args = parser.parse_args()
    if args.rounds < 2:
        parser.error("--rounds must be at least 2")
    output = recorder("benchmarks.hexagon.transport", args)
    sides = {side: summary(times) for side, times in run(args.rounds).items()}
    output.finish({"rounds": args.rounds, "sides": sides})
    if args.require_goals and sides["call"]["median"] > _MOST_MICROSECONDS:
        sys.exit(f"a call takes more than {_MOST_MICROSECONDS} microseconds")


if __name__ == "__main__":
    main()

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of intermediate tensors compared with the minimum that any plan needs.

    python -m benchmarks.arena [--models NAME ...] [--threads N]

The bound is the largest number of bytes that are in use at the same time in a run; no
plan can be smaller. Both numbers come from the engine's log; both contain the scratch
memory of operators, which grows with the threads. Nothing is timed, so other programs
do not disturb. The exit status is 1 if a network exceeds its bound by more than
--limit.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.networks import MEASURED, NAMES, make_network
from benchmarks.record import add_arguments, recorder
from benchmarks.runner import MACE_RUN, model_arguments, require_program
from benchmarks.tables import Table

_PLANNED = re.compile(r"planned (\d+) tensors into (\d+) bytes \(lower bound (\d+)\)")
# Current networks reach 1.000; a planner that does not needs attention.
LIMIT = 1.01


@dataclass(frozen=True)
class Plan:
    """The plan in the engine's log, in bytes."""

    tensors: int
    arena: int
    bound: int

    @property
    def ratio(self) -> float:
        """The size relative to the bound."""
        return self.arena / max(self.bound, 1)


def parse(log: str) -> Plan:
    """The last plan in a log. ValueError if there is none."""
    found = _PLANNED.findall(log)
    if not found:
        raise ValueError("the engine's log tells of no plan")
    return Plan(*map(int, found[-1]))


def measure(command: Sequence[str], name: str, threads: int) -> Plan:
    """The plan of a network.

    Args:
        command: starts `mace_run`.

    Raises:
        SystemExit: it failed; with its message.
    """
    arguments = model_arguments(make_network(name))
    done = subprocess.run(
        [*command, *arguments, f"--num_threads={threads}"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "MACE_CPP_MIN_VLOG_LEVEL": "1"},
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return parse(done.stderr)


def tables(data: Any) -> list[Table]:
    """One row per network."""
    threads = data["threads"]
    table = Table(
        "arena",
        f"intermediate tensors, {threads} thread{'s' * (threads != 1)}",
        ("network", "tensors", "arena, MB", "bound, MB", "arena / bound"),
    )
    for name, fields in data["networks"].items():
        plan = Plan(**fields)
        sizes = (f"{plan.arena / 1e6:.2f}", f"{plan.bound / 1e6:.2f}")
        table.add(name, str(plan.tensors), *sizes, f"{plan.ratio:.3f}")
    return [table]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--models", nargs="+", choices=NAMES, default=MEASURED)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--limit",
        type=float,
        default=LIMIT,
        help="arena / bound (default: %(default)s)",
    )
    parser.add_argument("--mace_run", type=Path, default=MACE_RUN)
    add_arguments(parser)
    args = parser.parse_args()
    output = recorder("benchmarks.arena", args)
    require_program(args.mace_run)
    plans = {
        name: measure([str(args.mace_run)], name, args.threads) for name in args.models
    }
    networks = {name: asdict(plan) for name, plan in plans.items()}
    output.finish({"threads": args.threads, "networks": networks})
    return int(max(plan.ratio for plan in plans.values()) > args.limit)


if __name__ == "__main__":
    sys.exit(main())

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of intermediate tensors beside the least that any plan needs.

    python -m benchmarks.arena [--models NAME ...] [--threads N]

The bound is what is alive at the same time at the worst moment of a run: no
order of offsets can do with less. Both numbers are the engine's, from its log;
scratch memory of operators, which grows with the threads, is in both. Nothing
is timed, so other programs do no harm. The exit status is 1 if a network is
further from its bound than --limit.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import onnx
from rich.console import Console
from rich.table import Table

from benchmarks.library import Library
from benchmarks.networks import NAMES, make_network

_PLANNED = re.compile(r"planned (\d+) tensors into (\d+) bytes \(lower bound (\d+)\)")


@dataclass(frozen=True)
class Plan:
    """What the engine said of its plan, in bytes."""

    tensors: int
    arena: int
    bound: int


def parse(log: str) -> Plan:
    """The last plan in a log. ValueError if there is none."""
    found = _PLANNED.findall(log)
    if not found:
        raise ValueError("the engine's log tells of no plan")
    return Plan(*map(int, found[-1]))


def run(name: str, threads: int) -> None:
    """Runs the network once in this process."""
    network = make_network(name)
    graph = onnx.load(str(network.onnx), load_external_data=False).graph
    shape = [d.dim_value for d in graph.output[0].type.tensor_type.shape.dim]
    if len(shape) == 4:
        shape = [shape[0], *shape[2:], shape[1]]
    image = np.ascontiguousarray(network.image().transpose(0, 2, 3, 1))
    result = np.empty(shape, np.float32)
    with Library().engine(network.mace, threads) as engine:
        engine.bind(network.input_name, image, network.output_name, result)()


def measure(name: str, threads: int) -> Plan:
    """The plan of a network, of a process of its own."""
    command = ["-m", "benchmarks.arena", "--run", name, "--threads", str(threads)]
    log = subprocess.run(
        [sys.executable, *command],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "MACE_CPP_MIN_VLOG_LEVEL": "1"},
    ).stderr
    return parse(log)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--models", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--limit", type=float, default=1.05, help="arena / bound (default: %(default)s)"
    )
    parser.add_argument("--run", choices=NAMES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run:
        run(args.run, args.threads)
        return
    table = Table(title=f"intermediate tensors, {args.threads} thread(s), MB")
    for title in ("network", "tensors", "arena", "bound", "arena / bound"):
        table.add_column(title, justify="left" if title == "network" else "right")
    worst = 0.0
    for name in args.models:
        plan = measure(name, args.threads)
        ratio = plan.arena / max(plan.bound, 1)
        worst = max(worst, ratio)
        sizes = (f"{plan.arena / 1e6:.2f}", f"{plan.bound / 1e6:.2f}")
        table.add_row(name, str(plan.tensors), *sizes, f"{ratio:.3f}")
    Console().print(table)
    if worst > args.limit:
        sys.exit(1)


if __name__ == "__main__":
    main()

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How the time of an inference grows with threads, batch and resolution.

    python -m benchmarks.curves [--model mobilenet_v1]

Each table compares its rows in turns. A row that is as fast per thread, per
image or per pixel as the first has 1.00 in the last column; more is better.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.library import Library
from benchmarks.networks import Network, make_network
from benchmarks.timing import Times, interleave

# Networks that end in a global average and take images of any size.
MODELS = ("mobilenet_v1", "mobilenet_v2", "inception_v3")
BATCHES = (1, 2, 4, 8)
SIZES = (128, 160, 192, 224, 256, 320)


@dataclass(frozen=True)
class Point:
    """A row: its network, and how much work it is beside the first row.

    Attributes:
        work: images or pixels.
        threads: that share it.
    """

    name: str
    network: Network
    work: float
    threads: int = 1


def measure(library: Library, points: list[Point], seconds: float) -> list[Times]:
    """Times all points in turns."""
    with contextlib.ExitStack() as stack:
        calls = {}
        for point in points:
            network = point.network
            image = np.ascontiguousarray(network.image().transpose(0, 2, 3, 1))
            result = np.empty((network.input_shape[0], 1000), np.float32)
            engine = stack.enter_context(library.engine(network.mace, point.threads))
            calls[point.name] = engine.bind(
                network.input_name, image, network.output_name, result
            )
        times = interleave(calls, seconds)
    return [times[point.name] for point in points]


def efficiency(points: list[Point], times: list[Times]) -> list[float]:
    """Work per thread and time, beside that of the first point."""
    rates = [
        point.work / point.threads / time.minimum for point, time in zip(points, times)
    ]
    return [rate / rates[0] for rate in rates]


def show(title: str, points: list[Point], times: list[Times], console: Console) -> None:
    """Prints one curve."""
    table = Table(title=title)
    for column in ("", "minimum", "median", "efficiency"):
        table.add_column(column, justify="right")
    for point, time, share in zip(points, times, efficiency(points, times)):
        table.add_row(
            point.name, f"{time.minimum:.2f}", f"{time.median:.2f}", f"{share:.2f}"
        )
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--model", choices=MODELS, default="mobilenet_v1")
    parser.add_argument("--seconds", type=float, default=8.0, help="per curve")
    args = parser.parse_args()
    library, console = Library(), Console()
    plain = make_network(args.model)
    side = plain.input_shape[2]
    curves = {
        "threads": [
            Point(f"{n} threads", plain, 1.0, n)
            for n in range(1, len(os.sched_getaffinity(0)) + 1)
        ],
        "batch": [
            Point(f"{n} images", make_network(args.model, batch=n), n) for n in BATCHES
        ],
        "resolution": [
            Point(f"{n} x {n}", make_network(args.model, size=n), (n / side) ** 2)
            for n in SIZES
        ],
    }
    for name, points in curves.items():
        times = measure(library, points, args.seconds)
        show(f"{args.model}: ms by {name}", points, times, console)


if __name__ == "__main__":
    main()

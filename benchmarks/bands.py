# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators in bands of rows, compared with running them one after the other.

    python -m benchmarks.bands [--models mobilenet_v1 ...] [--threads 1 2]

Both sides are engines of one library, with and without `MACE_ROW_BANDS=0`, and run in
turns; their outputs must have the same bits. The memory is that of intermediate tensors
in the engine's log.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import arena
from benchmarks.library import LIBRARY, Library
from benchmarks.networks import NAMES, make_network
from benchmarks.record import add_arguments, recorder
from benchmarks.runner import MACE_RUN, require_program
from benchmarks.tables import Table
from benchmarks.timing import Times, interleave

# Networks of which large parts run in bands.
_NETWORKS = (
    "mobilenet_v1",
    "mobilenet_v2",
    "squeezenet",
    "densenet121",
    "shufflenet",
)
_VARIABLE = "MACE_ROW_BANDS"
_SIDES = {"one by one": "0", "in bands": "1"}


@contextmanager
def _set_to(value: str) -> Iterator[None]:
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = value
    try:
        yield
    finally:
        del os.environ[_VARIABLE]
        if before is not None:
            os.environ[_VARIABLE] = before


def measure(
    library: Library, mace_run: Path, name: str, threads: int, seconds: float
) -> dict[str, Any]:
    """Time and memory of a network on both sides.

    Raises:
        SystemExit: their answers differ.
    """
    network = make_network(name)
    calls, results, arenas = {}, {}, {}
    with ExitStack() as stack:
        for side, value in _SIDES.items():
            results[side] = np.empty(network.mace_output_shape(), np.float32)
            with _set_to(value):
                arenas[side] = arena.measure([str(mace_run)], name, threads).arena
                engine = stack.enter_context(library.engine(network.mace, threads))
            calls[side] = engine.bind(
                network.input_name,
                network.mace_image(),
                network.output_name,
                results[side],
            )
        times = interleave(calls, seconds)
    first, second = (result.tobytes() for result in results.values())
    if first != second:
        raise SystemExit(f"{name}: bands change the answer, which they must not")
    return {
        "network": name,
        "threads": threads,
        "arenas": arenas,
        "times": {side: asdict(t) for side, t in times.items()},
    }


def tables(data: Any) -> list[Table]:
    """One row for each network and number of threads."""
    one_by_one, in_bands = _SIDES
    table = Table(
        "bands",
        "ms per inference, minimum (median), and memory of intermediate tensors",
        (
            *("network", "threads", one_by_one, in_bands, "ratio"),
            *(f"{side}, MB" for side in _SIDES),
        ),
    )
    for row in data["rows"]:
        times = {side: Times(**fields) for side, fields in row["times"].items()}
        whole, bands = times[one_by_one], times[in_bands]
        minimum = bands.minimum / whole.minimum
        table.add(
            row["network"],
            str(row["threads"]),
            *(f"{t.minimum:.2f} ({t.median:.2f})" for t in (whole, bands)),
            f"{minimum:.3f} ({bands.median / whole.median:.3f})",
            *(f"{row['arenas'][side] / 1e6:.2f}" for side in _SIDES),
        )
    return [table]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--models", nargs="+", choices=NAMES, default=_NETWORKS)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=8.0, help="per network")
    parser.add_argument("--library", type=Path, default=LIBRARY)
    parser.add_argument("--mace_run", type=Path, default=MACE_RUN)
    add_arguments(parser)
    args = parser.parse_args()
    output = recorder("benchmarks.bands", args)
    require_program(args.mace_run)
    library = Library(args.library)
    rows = [
        measure(library, args.mace_run, name, threads, args.seconds)
        for name in args.models
        for threads in args.threads
    ]
    output.finish({"rows": rows}, {"MACE": library.version})


if __name__ == "__main__":
    main()

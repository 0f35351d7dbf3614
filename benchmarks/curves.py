# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How the time of an inference grows with threads, batch, resolution and lesser
instructions.

    python -m benchmarks.curves [--models mobilenet_v1 ...] [--curves threads ...]
    python -m benchmarks.curves --curves isa [--int8]

Each table compares its rows in turns. A row that is as fast per thread, per
image or per pixel as the first has an efficiency of 1.00; more is better.
Batch and resolution are for the networks that take images of any size, which
are those that end in a global average and were built here.

What threads gain depends on how far apart their cores are, which a virtual
machine's may change at any time: `mace_run` measures before and after each
curve of threads in how many ns a cache line goes to another core and back.

The curve `isa` compares what MACE chooses on this processor with every instruction set
that both have (MACE_CPU_ISA): where one has an efficiency above 1, the choice is wrong
here, see mace/kernels/cpu/isa.h. With --int8, the networks are those of `int8.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.library import Library
from benchmarks.networks import MEASURED, NAMES, Network, make_network
from benchmarks.quantized import quantized
from benchmarks.record import add_arguments, recorder
from benchmarks.runner import MACE_RUN, model_arguments, report, require_program
from benchmarks.tables import Table
from benchmarks.timing import Times, interleave
from test.conformance.models.built import BUILT_MODELS

CURVES = ("threads", "batch", "resolution", "isa")
# Values of MACE_CPU_ISA on x86-64, and the flag in /proc/cpuinfo of a processor that
# has these instructions.
_ISAS = {
    "sse41": "sse4_1",
    "avx2": "avx2",
    "avx2_vnni": "avx_vnni",
    "avx512": "avx512f",
    "avx512_vnni": "avx512_vnni",
}
_VARIABLE = "MACE_CPU_ISA"
BATCHES = (1, 2, 4, 8)
SIZES = (128, 160, 192, 224, 256, 320)


@dataclass(frozen=True)
class Point:
    """A row: its network, and its amount of work compared with the first row.

    Attributes:
        work: images or pixels.
        threads: that share it.
        isa: the instruction set; None: what MACE chooses.
    """

    name: str
    network: Network
    work: float
    threads: int = 1
    isa: str | None = None


def isas(cpuinfo: str) -> list[str]:
    """The instruction sets of a processor, of which /proc/cpuinfo says this."""
    flags = set(cpuinfo.split())
    return [name for name, flag in _ISAS.items() if flag in flags]


def points(model: str, curve: str, int8: bool = False) -> list[Point]:
    """The rows of a curve; none if the network does not support it."""
    plain = make_network(model)
    if int8:
        plain = quantized(plain)
    if curve == "isa":
        found = isas(Path("/proc/cpuinfo").read_text(encoding="utf-8"))
        lesser = [Point(name, plain, 1.0, isa=name) for name in found]
        return [Point("as chosen", plain, 1.0), *lesser]
    if curve == "threads":
        counts = range(1, len(os.sched_getaffinity(0)) + 1)
        return [Point(f"{n}", plain, 1.0, n) for n in counts]
    if model not in BUILT_MODELS:
        return []
    if curve == "batch":
        return [Point(f"{n}", make_network(model, batch=n), n) for n in BATCHES]
    side = plain.input_shape[2]
    return [
        Point(f"{n} x {n}", make_network(model, size=n), (n / side) ** 2) for n in SIZES
    ]


def measure(library: Library, rows: list[Point], seconds: float) -> list[Times]:
    """Times all points in turns."""
    with contextlib.ExitStack() as stack:
        calls = {}
        for point in rows:
            network = point.network
            result = np.empty(network.mace_output_shape(), np.float32)
            with _instructions(point.isa):
                engine = library.engine(network.mace, point.threads)
            stack.enter_context(engine)
            calls[point.name] = engine.bind(
                network.input_name, network.mace_image(), network.output_name, result
            )
        times = interleave(calls, seconds)
    return [times[point.name] for point in rows]


@contextlib.contextmanager
def _instructions(isa: str | None) -> Iterator[None]:
    """Lets engines that are created meanwhile use only these."""
    before = os.environ.get(_VARIABLE)
    if isa is not None:
        os.environ[_VARIABLE] = isa
    try:
        yield
    finally:
        if before is not None:
            os.environ[_VARIABLE] = before
        elif isa is not None:
            del os.environ[_VARIABLE]


def round_trip(mace_run: Path, network: Network) -> tuple[float, float]:
    """Minimum and maximum time in ns of a cache line to another core and back."""
    command = [str(mace_run), *model_arguments(network)]
    result, _ = report(command, ["--measure_peak", "--num_threads=2"])
    peak = result["peak"]
    return peak["least_round_trip_ns"], peak["most_round_trip_ns"]


def efficiency(
    work: list[float], threads: list[int], times: list[Times]
) -> list[float]:
    """Work per thread and time, relative to the first point."""
    rates = [w / t / time.minimum for w, t, time in zip(work, threads, times)]
    return [rate / rates[0] for rate in rates]


def tables(data: Any) -> list[Table]:
    """One for each curve."""
    made: dict[str, Table] = {}
    for part in data["parts"]:
        curve = part["curve"]
        title = f"ms per inference by {curve}, minimum (median)"
        columns = ("network", curve, "ms", "first / this", "efficiency")
        trip = part.get("round_trip_ns")
        if trip:
            columns += ("round trip in ns",)
        table = made.setdefault(curve, Table(curve, title, columns))
        times = [Times(**row["times"]) for row in part["rows"]]
        shares = efficiency(
            [row["work"] for row in part["rows"]],
            [row["threads"] for row in part["rows"]],
            times,
        )
        for row, time, share in zip(part["rows"], times, shares):
            cells = [
                part["network"] if row is part["rows"][0] else "",
                row["name"],
                f"{time.minimum:.2f} ({time.median:.2f})",
                f"{times[0].minimum / time.minimum:.2f}",
                f"{share:.2f}",
            ]
            if trip:
                alone = row["threads"] == 1
                cells.append("" if alone else f"{min(trip):.0f} to {max(trip):.0f}")
            table.add(*cells)
        table.add()
    return list(made.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--models", nargs="+", choices=NAMES, default=MEASURED)
    parser.add_argument("--curves", nargs="+", choices=CURVES, default=CURVES[:3])
    parser.add_argument(
        "--int8", action="store_true", help="with --curves isa: in 8-bit integers"
    )
    parser.add_argument("--seconds", type=float, default=8.0, help="per curve")
    parser.add_argument("--mace_run", type=Path, default=MACE_RUN)
    add_arguments(parser)
    args = parser.parse_args()
    if args.int8 and args.curves != ["isa"]:
        parser.error("--int8 is for --curves isa alone")
    if "threads" in args.curves:
        require_program(args.mace_run)
    output = recorder("benchmarks.curves", args)
    library = Library()
    parts = []
    for curve in args.curves:
        for model in args.models:
            rows = points(model, curve, args.int8)
            if not rows:
                continue
            apart = curve == "threads" and len(rows) > 1
            trips = list(round_trip(args.mace_run, rows[0].network)) if apart else []
            times = measure(library, rows, args.seconds)
            if apart:
                trips += round_trip(args.mace_run, rows[0].network)
            fields = [
                {
                    "name": p.name,
                    "work": p.work,
                    "threads": p.threads,
                    "times": asdict(t),
                }
                for p, t in zip(rows, times)
            ]
            part = {"network": model, "curve": curve, "rows": fields}
            parts.append({**part, "round_trip_ns": trips})
    output.finish({"parts": parts}, {"MACE": library.version})


if __name__ == "__main__":
    main()

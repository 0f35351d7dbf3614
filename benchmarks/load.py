# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Time to create an engine, to the first result, and the memory it takes.

    python -m benchmarks.load [--cold] [--models resnet50 ...]

MACE uses the weights in the mapped file; so creating an engine, and even running it,
must not take memory of the size of the weights. Anonymous memory is memory that a
process cannot share or drop: it would contain copies. It also contains transformed
filters of Winograd's method, therefore there is a row without that method. The engines
are measured in turns, each in a fresh process, because an allocator keeps the memory of
an earlier engine. `--cold` drops the files of the model from the page cache before each
measurement, as after a start of the machine.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.library import Library
from benchmarks.networks import NAMES, Network, make_network
from benchmarks.record import add_arguments, recorder
from benchmarks.tables import Table

PEER = "onnxruntime"
ENGINES = ("mace", "mace, winograd 0", PEER)
# The values of a probe, with their headings.
_COLUMNS = {
    "create": "created, ms",
    "first": "and first result, ms",
    "create_mb": "created, MB",
    "run_mb": "and run, MB",
}


def anonymous_bytes() -> int:
    """Memory of this process that is not backed by a file.

    First returns the allocator's reserve to the system, which an engine could use
    unnoticed.
    """
    ctypes.CDLL(None).malloc_trim(0)
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("the kernel does not report anonymous memory")


def drop_cached(path: Path) -> None:
    """Makes the system drop what it has cached of a file."""
    with path.open("rb") as file:
        os.fsync(file.fileno())  # unwritten data cannot be dropped
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def probe(engine: str, network: Network, cold: bool) -> dict[str, float]:
    """Creates and runs one engine in this process; times in ms, memory in MB."""
    nchw, nhwc = network.image(), network.mace_image()
    if cold:
        mace = (network.mace.with_suffix(end) for end in (".pb", ".data"))
        for path in (network.onnx,) if engine == PEER else mace:
            drop_cached(path)
    result = np.empty(network.mace_output_shape(), np.float32)
    if engine != PEER:
        library = Library()
        before = anonymous_bytes()
        start = time.perf_counter()
        loaded = library.engine(network.mace, 1)
        created = time.perf_counter()
        after = anonymous_bytes()
        loaded.bind(network.input_name, nhwc, network.output_name, result)()
    else:
        from benchmarks.beside_onnxruntime import open_session

        before = anonymous_bytes()
        start = time.perf_counter()
        session = open_session(network.onnx, 1)
        created = time.perf_counter()
        after = anonymous_bytes()
        session.run(None, {network.input_name: nchw})
    end = time.perf_counter()
    return {
        "create": (created - start) * 1e3,
        "first": (end - start) * 1e3,
        "create_mb": (after - before) / 1e6,
        "run_mb": (anonymous_bytes() - before) / 1e6,
    }


def measure(name: str, rounds: int, cold: bool) -> dict[str, Any]:
    """Probes all engines with one network, each in a separate process."""
    samples: dict[str, list[dict[str, float]]] = {engine: [] for engine in ENGINES}
    network = make_network(name)
    for engine in ENGINES:
        make_network(name, _tile(engine))
    for _ in range(rounds):
        for engine in ENGINES:
            command = ["-m", "benchmarks.load", "--models", name, "--probe", engine]
            command += ["--cold"] * cold
            done = subprocess.run(
                [sys.executable, *command], check=False, capture_output=True, text=True
            )
            if done.returncode != 0:
                raise SystemExit(f"{name}, {engine}: {done.stderr}")
            samples[engine].append(json.loads(done.stdout))
    weights = network.mace.with_suffix(".data").stat().st_size / 1e6
    return {"network": name, "weights_mb": weights, "cold": cold, "samples": samples}


def _tile(engine: str) -> int | None:
    """The value of `winograd` in the deployment file."""
    return 0 if engine.endswith("0") else None


def tables(data: Any) -> list[Table]:
    """A row for each engine and network, and ratios to the peer."""
    columns = ("network", "engine", *_COLUMNS.values())
    count = len(data[0]["samples"][PEER])
    files = ", its files not cached" if data[0].get("cold") else ""
    title = (
        f"an engine in a fresh process{files}, minimum (median) of {count} processes"
    )
    table = Table("load", title, columns, labels=2)
    for part in data:
        samples = part["samples"]
        peer = samples[PEER]
        name = f"{part['network']}, {part['weights_mb']:.0f} MB of weights"
        for engine, rows in samples.items():
            table.add(name, engine, *(_cell(rows, key) for key in _COLUMNS))
            name = ""
        for engine, rows in samples.items():
            if engine != PEER:
                ratios = (_least(rows, key) / _least(peer, key) for key in _COLUMNS)
                table.add("", f"{engine} / {PEER}", *(f"{r:.2f}" for r in ratios))
        table.add()
    return [table]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--models", nargs="+", choices=NAMES, default=["resnet50"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--cold", action="store_true", help="files that the system has not cached"
    )
    parser.add_argument("--probe", choices=ENGINES, help=argparse.SUPPRESS)
    add_arguments(parser)
    args = parser.parse_args()
    if args.probe:
        network = make_network(args.models[0], _tile(args.probe), convert=False)
        sys.stdout.write(json.dumps(probe(args.probe, network, args.cold)))
        return
    output = recorder("benchmarks.load", args)
    found = [measure(name, args.rounds, args.cold) for name in args.models]
    output.finish(
        found,
        {"MACE": Library().version, "onnxruntime": version("onnxruntime")},
    )


def _least(rows: list[dict[str, float]], key: str) -> float:
    return min(row[key] for row in rows)


def _cell(rows: list[dict[str, float]], key: str) -> str:
    median = statistics.median(row[key] for row in rows)
    return f"{_least(rows, key):.1f} ({median:.1f})"


if __name__ == "__main__":
    main()

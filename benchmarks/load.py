# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Time to create an engine, to the first result, and the memory it takes.

    python -m benchmarks.load [--model resnet50]

MACE uses the weights where the file is mapped; so creating an engine, even
running it, must not take memory of the size of the weights. Anonymous memory
is what a process cannot share or drop: copies would be there. What Winograd
layers keep beside the weights is there too, hence a row without them. The
engines are measured in turns, each in a fresh process, because an allocator
keeps what an earlier engine gave back.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.library import Library
from benchmarks.networks import NAMES, Network, make_network

ENGINES = ("mace", "winograd 0", "onnxruntime")


def anonymous_bytes() -> int:
    """Memory of this process that is not backed by a file.

    What the allocator holds in reserve is given back first, so that it cannot
    serve an engine unseen.
    """
    ctypes.CDLL(None).malloc_trim(0)
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("the kernel does not report anonymous memory")


def probe(engine: str, network: Network) -> dict[str, float]:
    """Creates and runs one engine in this process; times in ms, memory in MB."""
    nchw = network.image()
    nhwc = np.ascontiguousarray(nchw.transpose(0, 2, 3, 1))
    result = np.empty((1, 1000), np.float32)
    if engine != "onnxruntime":
        library = Library()
        before = anonymous_bytes()
        start = time.perf_counter()
        loaded = library.engine(network.mace, 1)
        created = time.perf_counter()
        after = anonymous_bytes()
        loaded.bind(network.input_name, nhwc, network.output_name, result)()
    else:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        before = anonymous_bytes()
        start = time.perf_counter()
        session = onnxruntime.InferenceSession(
            str(network.onnx), options, providers=["CPUExecutionProvider"]
        )
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--model", choices=NAMES, default="resnet50")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--probe", choices=ENGINES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.probe:
        tile = 0 if args.probe.endswith("0") else None
        network = make_network(args.model, tile)
        sys.stdout.write(json.dumps(probe(args.probe, network)))
        return
    network = make_network(args.model)
    samples: dict[str, list[dict[str, float]]] = {name: [] for name in ENGINES}
    for _ in range(args.rounds):
        for name in ENGINES:
            command = ["-m", "benchmarks.load", "--model", args.model]
            output = subprocess.run(
                [sys.executable, *command, "--probe", name],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            samples[name].append(json.loads(output))
    weights = network.mace.with_suffix(".data").stat().st_size / 1e6
    table = Table(
        title=f"{args.model}, {weights:.0f} MB of weights: minimum (median) of "
        f"{args.rounds} processes"
    )
    for title in ("", "create ms", "+ run ms", "create MB", "+ run MB"):
        table.add_column(title, justify="right", no_wrap=True)
    for name in ENGINES:
        table.add_row(name, *(_cell(samples[name], key) for key in samples[name][0]))
    peer = samples["onnxruntime"]
    for name in ENGINES[:-1]:
        ratios = (_least(samples[name], k) / _least(peer, k) for k in peer[0])
        table.add_row(f"{name} : peer", *(f"{ratio:.3f}" for ratio in ratios))
    Console().print(table)


def _least(rows: list[dict[str, float]], key: str) -> float:
    return min(row[key] for row in rows)


def _cell(rows: list[dict[str, float]], key: str) -> str:
    median = statistics.median(row[key] for row in rows)
    return f"{_least(rows, key):.1f} ({median:.1f})"


if __name__ == "__main__":
    main()

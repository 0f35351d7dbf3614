# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Time per inference beside ONNX Runtime, fp32.

    python -m benchmarks.versus_onnxruntime [--threads 1] [--models NAME ...]

Both engines are in one process, have the same weights and input, and take
turns. A ratio below 1 means that MACE is faster. Outputs are compared first:
numbers of engines that disagree would mean nothing.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import onnxruntime
from rich.console import Console
from rich.table import Table

from benchmarks.library import Library
from benchmarks.networks import NAMES, Network, make_network
from benchmarks.timing import Times, interleave

DEFAULT_MODELS = ("mobilenet_v1", "mobilenet_v2", "squeezenet", "resnet50")
TOLERANCE = 1e-4  # of the largest output


@dataclass(frozen=True)
class Row:
    """One network at one number of threads."""

    name: str
    threads: int
    error: float
    mace: Times
    onnxruntime: Times

    @property
    def ratio(self) -> float:
        """Best time of MACE over that of ONNX Runtime."""
        return self.mace.minimum / self.onnxruntime.minimum


def measure(library: Library, network: Network, threads: int, seconds: float) -> Row:
    """Runs both engines on one network.

    Raises:
        SystemExit: their outputs differ.
    """
    nchw = network.image()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        str(network.onnx), options, providers=["CPUExecutionProvider"]
    )
    feed = {network.input_name: nchw}
    wanted = session.run([network.output_name], feed)[0]
    nhwc = np.ascontiguousarray(nchw.transpose(0, 2, 3, 1))
    found = np.empty(wanted.shape, np.float32)
    with library.engine(network.mace, threads) as engine:
        call = engine.bind(network.input_name, nhwc, network.output_name, found)
        call()
        error = float(np.abs(found - wanted).max() / np.abs(wanted).max())
        if not error <= TOLERANCE:
            raise SystemExit(f"{network.name}: outputs differ by {error:.1e}")
        times = interleave(
            {
                "mace": call,
                "onnxruntime": lambda: session.run([network.output_name], feed),
            },
            seconds,
        )
    return Row(network.name, threads, error, times["mace"], times["onnxruntime"])


def show(rows: list[Row], console: Console) -> None:
    """Prints the table and the geometric mean of the ratios."""
    table = Table(title="milliseconds per inference, fp32: minimum (median)")
    for title in ("network", "threads", "MACE", "(median)", "ORT", "(median)"):
        table.add_column(
            title, justify="left" if title == "network" else "right", no_wrap=True
        )
    table.add_column("ratio", justify="right")
    table.add_column("error", justify="right")
    for row in rows:
        table.add_row(
            row.name,
            str(row.threads),
            f"{row.mace.minimum:.2f}",
            f"{row.mace.median:.2f}",
            f"{row.onnxruntime.minimum:.2f}",
            f"{row.onnxruntime.median:.2f}",
            f"{row.ratio:.2f}",
            f"{row.error:.0e}",
        )
    console.print(table)
    mean = math.exp(sum(math.log(row.ratio) for row in rows) / len(rows))
    console.print(f"geometric mean of the ratios: {mean:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--models", nargs="+", choices=NAMES, default=DEFAULT_MODELS)
    parser.add_argument("--threads", nargs="+", type=int, default=[1])
    parser.add_argument("--seconds", type=float, default=8.0, help="per network")
    parser.add_argument("--json", type=Path, help="write the numbers here too")
    args = parser.parse_args()
    library = Library()
    console = Console()
    console.print(f"libmace {library.version}, onnxruntime {onnxruntime.__version__}")
    networks = [make_network(name) for name in args.models]
    rows = [
        measure(library, network, threads, args.seconds)
        for network in networks
        for threads in args.threads
    ]
    show(rows, console)
    if args.json:
        numbers = [{**asdict(row), "ratio": row.ratio} for row in rows]
        args.json.write_text(json.dumps(numbers, indent=2) + "\n")


if __name__ == "__main__":
    main()

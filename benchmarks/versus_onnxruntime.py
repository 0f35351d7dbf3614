# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Time per inference compared with ONNX Runtime, fp32.

    python -m benchmarks.versus_onnxruntime [--threads 1] [--models NAME ...]

Both engines run in one process, in turns, with the same weights and input. A ratio
below 1 means that MACE is faster. Outputs are compared first, because times of engines
with different results would be meaningless.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict
from typing import Any

import numpy as np
import onnxruntime

from benchmarks.beside_onnxruntime import Row, open_session
from benchmarks.library import Library
from benchmarks.networks import NAMES, Network, make_network
from benchmarks.record import add_arguments, recorder
from benchmarks.tables import Table
from benchmarks.timing import interleave

DEFAULT_MODELS = ("mobilenet_v1", "mobilenet_v2", "squeezenet", "resnet50")
TOLERANCE = 1e-4  # of the largest output


def measure(library: Library, network: Network, threads: int, seconds: float) -> Row:
    """Runs both engines on one network.

    Raises:
        SystemExit: their outputs differ.
    """
    nchw = network.image()
    session = open_session(network.onnx, threads)
    feed = {network.input_name: nchw}
    wanted = session.run([network.output_name], feed)[0]
    nhwc = network.mace_image()
    found = np.empty(network.mace_output_shape(), np.float32)
    with library.engine(network.mace, threads) as engine:
        call = engine.bind(network.input_name, nhwc, network.output_name, found)
        call()
        same = found.transpose(0, 3, 1, 2) if found.ndim == 4 else found
        error = float(np.abs(same - wanted).max() / np.abs(wanted).max())
        if not error <= TOLERANCE:
            raise SystemExit(f"{network.name}: outputs differ by {error:.1e}")
        times = interleave(
            {
                "mace": call,
                "onnxruntime": lambda: session.run([network.output_name], feed),
            },
            seconds,
        )
    return Row(network.name, error, times["mace"], times["onnxruntime"])


def tables(data: Any) -> list[Table]:
    """A row per network and number of threads, and the geometric mean."""
    table = Table(
        "versus",
        "ms per inference, fp32: minimum (median)",
        ("network", "threads", "MACE", "ONNX Runtime", "ratio", "error"),
    )
    rows = [Row.read(fields) for fields in data]
    for row, fields in zip(rows, data):
        table.add(
            row.name,
            str(fields["threads"]),
            *(f"{t.minimum:.2f} ({t.median:.2f})" for t in (row.mace, row.onnxruntime)),
            f"{row.ratio:.2f}",
            f"{row.error:.0e}",
        )
    mean = math.exp(sum(math.log(row.ratio) for row in rows) / len(rows))
    table.add()
    table.add("geometric mean", "", "", "", f"{mean:.2f}", "")
    return [table]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--models", nargs="+", choices=NAMES, default=DEFAULT_MODELS)
    parser.add_argument("--threads", nargs="+", type=int, default=[1])
    parser.add_argument("--seconds", type=float, default=8.0, help="per network")
    add_arguments(parser)
    args = parser.parse_args()
    output = recorder("benchmarks.versus_onnxruntime", args)
    library = Library()
    networks = [make_network(name) for name in args.models]
    rows = [
        {"threads": threads, **asdict(measure(library, network, threads, args.seconds))}
        for network in networks
        for threads in args.threads
    ]
    output.finish(
        rows,
        {"MACE": library.version, "onnxruntime": onnxruntime.__version__},
    )


if __name__ == "__main__":
    main()

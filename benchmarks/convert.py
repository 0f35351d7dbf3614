# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Time and peak memory of a conversion, compared with the size of its model file.

    python -m benchmarks.convert [--model resnet50]
    python -m benchmarks.convert --nodes 1000 4000 10000

With --nodes, the models are networks of so many small nodes, which show how the time
grows.

Runs `tools/converter.py convert` as a user would, each time in a new process.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.deep import SHAPE, write_deep
from benchmarks.networks import NAMES, ROOT, Network, make_network

_DEPLOYMENT = """
library_name: measured
target_abis: [host]
model_graph_format: file
model_data_format: file
models:
  {name}:
    platform: onnx
    model_file_path: {path}
    model_sha256_checksum: {checksum}
    subgraphs:
      - input_tensors: ["{input}"]
        input_shapes: ["{shape}"]
        output_tensors: ["{output}"]
        output_shapes: ["{output_shape}"]
        {formats}
    runtime: cpu
    data_type: fp32_fp32
"""


def deployment(network: Network) -> str:
    """The text of a deployment file."""
    n, c, h, w = network.input_shape
    return _DEPLOYMENT.format(
        name=network.name,
        path=network.onnx,
        checksum=hashlib.sha256(network.onnx.read_bytes()).hexdigest(),
        input=network.input_name,
        output=network.output_name,
        shape=f"{n},{h},{w},{c}",
        output_shape="1,1000",
        formats="output_data_formats: [NONE]",
    )


def deep_deployment(folder: Path, nodes: int) -> str:
    """Writes a network of so many nodes; the text of a deployment file for it."""
    path = folder / f"deep{nodes}.onnx"
    output = write_deep(path, nodes)
    shape = ",".join(map(str, SHAPE))
    return _DEPLOYMENT.format(
        name=path.stem,
        path=path,
        checksum=hashlib.sha256(path.read_bytes()).hexdigest(),
        input="x",
        output=output,
        shape=shape,
        output_shape=shape,
        formats="input_data_formats: [NCHW]\n        output_data_formats: [NCHW]",
    )


# The converter is started from a small process: the kernel includes in a child's peak
# the memory of its parent at the fork.
_MEASURE = """
import resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
seconds = time.perf_counter() - start
if done.returncode:
    sys.exit(done.stderr)
print(seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def convert(config: Path, build_dir: Path) -> tuple[float, float]:
    """Seconds, and peak resident bytes of the process."""
    command = [
        str(ROOT / "tools/converter.py"),
        "convert",
        f"--config={config}",
        f"--build_dir={build_dir}",
    ]
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, sys.executable, *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    seconds, peak = done.stdout.split()
    return float(seconds), float(peak)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--model", choices=NAMES, default="resnet50")
    parser.add_argument(
        "--nodes",
        type=int,
        nargs="+",
        metavar="COUNT",
        help="convert networks of so many small nodes instead",
    )
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    if args.nodes:
        _convert_deep(args.nodes, args.rounds)
        return
    network = make_network(args.model)
    size = network.onnx.stat().st_size
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = folder / "deployment.yml"
        config.write_text(deployment(network))
        runs = [convert(config, folder / "build") for _ in range(args.rounds)]
    seconds, peaks = zip(*runs)
    table = Table(title=f"convert {args.model}, a file of {size / 1e6:.1f} MB")
    for title in ("", "minimum", "median"):
        table.add_column(title, justify="right")
    for title, values, unit, scale in (
        ("seconds", seconds, "", 1.0),
        ("peak memory", peaks, " MB", 1e6),
        ("memory / file", peaks, "", float(size)),
    ):
        table.add_row(
            title,
            f"{min(values) / scale:.2f}{unit}",
            f"{statistics.median(values) / scale:.2f}{unit}",
        )
    Console().print(table)


def _convert_deep(counts: list[int], rounds: int) -> None:
    table = Table(title="convert, networks of many nodes")
    for title in ("nodes", "seconds, minimum", "median", "ms a node", "peak memory"):
        table.add_column(title, justify="right")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count in counts:
            config = folder / "deployment.yml"
            config.write_text(deep_deployment(folder, count))
            runs = [convert(config, folder / "build") for _ in range(rounds)]
            seconds, peaks = zip(*runs)
            table.add_row(
                str(count),
                f"{min(seconds):.2f}",
                f"{statistics.median(seconds):.2f}",
                f"{min(seconds) * 1e3 / count:.2f}",
                f"{min(peaks) / 1e6:.1f} MB",
            )
    Console().print(table)


if __name__ == "__main__":
    main()

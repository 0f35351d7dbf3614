# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Time and peak memory of a conversion, compared with the size of its model file.

    python -m benchmarks.convert [--model resnet50]
    python -m benchmarks.convert --nodes 1000 4000 10000
    python -m benchmarks.convert --large 3
    python -m benchmarks.convert --beside CHECKOUT

With --nodes, the models are networks of so many small nodes, which show how the time
grows. With --large, the model has so many GB of weights in a separate file. With
--beside, the networks that the onnx package describes are converted by this checkout
and by another one in turns, and the ratios of the times are printed: of the wall time,
and of the processor's, which counts on a busy computer.

The peak of memory includes the pages of the model's files that are mapped, which the
system takes back as it needs them; "own memory" does not.

Runs `tools/converter.py convert` as a user would, each time in a new process.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import large
from benchmarks.deep import SHAPE, write_deep
from benchmarks.networks import NAMES, ROOT, Network, make_network
from test.conformance.models.light import LIGHT_MODELS

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
    return _plain_deployment(path, write_deep(path, nodes), SHAPE, "NCHW")


def large_deployment(folder: Path, size: int) -> str:
    """Writes a network of so many bytes; the text of a deployment file for it."""
    path = folder / "large.onnx"
    return _plain_deployment(path, large.write_large(path, size), large.SHAPE, "NONE")


def _plain_deployment(
    path: Path, output: str, shape_of_both: tuple[int, ...], data_format: str
) -> str:
    shape = ",".join(map(str, shape_of_both))
    return _DEPLOYMENT.format(
        name=path.stem,
        path=path,
        checksum=hashlib.sha256(path.read_bytes()).hexdigest(),
        input="x",
        output=output,
        shape=shape,
        output_shape=shape,
        formats=f"input_data_formats: [{data_format}]\n"
        f"        output_data_formats: [{data_format}]",
    )


# The converter is started from a small process: the kernel includes in a child's peak
# the memory of its parent at the fork. What is its own is looked at all the time, as
# the kernel keeps no peak of it.
_MEASURE = """
import re, resource, subprocess, sys, tempfile, time
start = time.perf_counter()
own = 0
with tempfile.TemporaryFile("w+") as errors:
    child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=errors)
    while child.poll() is None:
        with open(f"/proc/{child.pid}/status") as status:
            found = re.search("RssAnon:\\s*(\\d+)", status.read())
        own = max(own, int(found[1]) if found else 0)
        time.sleep(0.01)
    seconds = time.perf_counter() - start
    if child.returncode:
        errors.seek(0)
        sys.exit(errors.read())
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
processor = usage.ru_utime + usage.ru_stime
print(seconds, processor, usage.ru_maxrss * 1024, own * 1024)
"""


@dataclass(frozen=True)
class Cost:
    """What a conversion took.

    Attributes:
        seconds: of wall time.
        processor: seconds of the processor, which other programs hardly change.
        peak: the most resident bytes of the process.
        own: the most that are not pages of files.
    """

    seconds: float
    processor: float
    peak: float
    own: float


def convert(config: Path, build_dir: Path, checkout: Path = ROOT) -> Cost:
    """Converts once, in a new process, by the converter of a checkout."""
    command = [
        str(checkout / "tools/converter.py"),
        "convert",
        f"--config={config}",
        f"--build_dir={build_dir}",
    ]
    # As for a user, modules are compiled in the first run alone.
    environment = {**os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, sys.executable, *command],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return Cost(*map(float, done.stdout.split()))


def _convert_text(text: str, folder: Path, rounds: int) -> list[Cost]:
    config = folder / "deployment.yml"
    config.write_text(text)
    return [convert(config, folder / "build") for _ in range(rounds)]


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
    parser.add_argument(
        "--large",
        type=float,
        metavar="GB",
        help="convert a network with so many GB of weights in a separate file instead",
    )
    parser.add_argument(
        "--beside", type=Path, metavar="CHECKOUT", help="compare with this one"
    )
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if args.beside:
            _convert_beside(args.beside.resolve(), folder, args.rounds)
        elif args.nodes:
            _convert_deep(args.nodes, folder, args.rounds)
        elif args.large:
            runs = _convert_text(
                large_deployment(folder, int(args.large * 1e9)), folder, args.rounds
            )
            size = (folder / "large.weights").stat().st_size
            print(f"largest weights: {large.LARGEST / 1e6:.1f} MB")
            _show("a network of large weights", size, runs)
        else:
            network = make_network(args.model)
            runs = _convert_text(deployment(network), folder, args.rounds)
            _show(args.model, network.onnx.stat().st_size, runs)


def _show(what: str, size: int, runs: list[Cost]) -> None:
    table = Table(title=f"convert {what}, a file of {size / 1e6:.1f} MB")
    for title in ("", "minimum", "median"):
        table.add_column(title, justify="right")
    peaks, owns = [run.peak for run in runs], [run.own for run in runs]
    for title, values, unit, scale in (
        ("seconds", [run.seconds for run in runs], "", 1.0),
        ("peak memory", peaks, " MB", 1e6),
        ("memory / file", peaks, "", float(size)),
        ("own memory", owns, " MB", 1e6),
    ):
        table.add_row(
            title,
            f"{min(values) / scale:.2f}{unit}",
            f"{statistics.median(values) / scale:.2f}{unit}",
        )
    Console().print(table)


def _convert_beside(other: Path, folder: Path, rounds: int) -> None:
    table = Table(title=f"seconds to convert, in turns with {other}")
    for title in ("network", "here: minimum", "median", "there: minimum", "median"):
        table.add_column(title, justify="right")
    for title in ("ratio: minima", "medians", "processor: minima", "medians"):
        table.add_column(title, justify="right")
    ratios = []
    for name in LIGHT_MODELS:
        config = folder / f"{name}.yml"
        config.write_text(deployment(make_network(name)))
        costs: dict[Path, list[Cost]] = {ROOT: [], other: []}
        for turn in range(-1, rounds):
            for checkout, found in costs.items():
                build = folder / f"build_{checkout == ROOT}"
                cost = convert(config, build, checkout)
                if turn >= 0:  # The first warms up.
                    found.append(cost)
        wall = [[cost.seconds for cost in found] for found in costs.values()]
        used = [[cost.processor for cost in found] for found in costs.values()]
        figures = [f(times) for times in wall for f in (min, statistics.median)]
        ratio = tuple(
            f(times[0]) / f(times[1])
            for times in (wall, used)
            for f in (min, statistics.median)
        )
        ratios.append(ratio)
        table.add_row(name, *(f"{figure:.2f}" for figure in (*figures, *ratio)))
    means = [statistics.geometric_mean(column) for column in zip(*ratios, strict=True)]
    table.add_row("geometric mean", "", "", "", "", *(f"{mean:.2f}" for mean in means))
    Console().print(table)


def _convert_deep(counts: list[int], folder: Path, rounds: int) -> None:
    table = Table(title="convert, networks of many nodes")
    for title in ("nodes", "seconds, minimum", "median", "ms a node", "peak memory"):
        table.add_column(title, justify="right")
    for count in counts:
        runs = _convert_text(deep_deployment(folder, count), folder, rounds)
        seconds = [run.seconds for run in runs]
        table.add_row(
            str(count),
            f"{min(seconds):.2f}",
            f"{statistics.median(seconds):.2f}",
            f"{min(seconds) * 1e3 / count:.2f}",
            f"{min(run.peak for run in runs) / 1e6:.1f} MB",
        )
    Console().print(table)


if __name__ == "__main__":
    main()

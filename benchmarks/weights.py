# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Weights stored in 32, 16 and 8 bits: time, size and answers.

    python -m benchmarks.weights [--model mobilenet_v2 ...] [--threads 1]

Measures fully connected layers of one and of several rows, and whole networks.
All three compute in float32 and take turns; the ratios are those of the minima
to that of weights in float32, in which the answers are compared too.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from benchmarks.library import Library
from benchmarks.networks import DIRECTORY, NAMES, make_network, make_variant
from benchmarks.timing import Times, interleave
from mace.python.tools.atomic import atomic_write
from mace.python.tools.export.export import ExportOptions, export_model
from mace.python.tools.export.storage import Storage
from mace.python.tools.ir import DataType, Graph, GraphBuilder
from mace.python.tools.validate.metrics import compute_metrics

# Rows, K, outputs: the classifier of ResNet-50; a layer of VGG and one of a
# transformer, which exceed most caches; and several rows of the latter.
LAYERS = ((1, 2048, 1000), (1, 4096, 4096), (1, 3072, 12288), (16, 3072, 12288))
_STORED = {
    "float32": ExportOptions(),
    "float16": ExportOptions(storage=Storage.FLOAT16),
    "8 bits": ExportOptions(storage=Storage.FLOAT16, eight_bit_weights=True),
}


@dataclass(frozen=True)
class Case:
    """The same computation with weights stored in several ways.

    Attributes:
        models: paths without suffix, by what the weights are stored in.
    """

    name: str
    models: dict[str, Path]
    input_name: str
    output_name: str
    image: NDArray[np.float32]
    output_shape: tuple[int, ...]


def layer(rows: int, depth: int, columns: int) -> Case:
    """A fully connected layer with weights as training starts from."""
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((columns, depth)).astype(np.float32) / depth**0.5
    name = f"fully_connected_{rows}x{depth}x{columns}"
    models = {}
    for stored, options in _STORED.items():
        models[stored] = DIRECTORY / f"{name}-{stored.replace(' ', '_')}"
        _write(_layer_graph(rows, weights), options, models[stored])
    image = rng.standard_normal((rows, depth)).astype(np.float32)
    return Case(
        f"{rows} x {depth} x {columns}", models, "x", "y", image, (rows, columns)
    )


def _layer_graph(rows: int, weights: NDArray[np.float32]) -> Graph:
    b = GraphBuilder("layer", "onnx")
    x = b.input("x", DataType.FLOAT32, (rows, weights.shape[1]))
    b.output(b.one("FullyConnected", [x, b.constant("w", weights)], "y"), "y")
    return b.graph


def _write(graph: Graph, options: ExportOptions, path: Path) -> None:
    with atomic_write(path.with_suffix(".data")) as stream:
        exported = export_model(graph, options, stream)
    with atomic_write(path.with_suffix(".pb")) as file:
        file.write(exported.model.SerializeToString())


def network(name: str) -> Case:
    """A network of the other benchmarks."""
    made = make_network(name)
    models = {
        "float32": made.mace,
        "float16": make_variant(made, "fp16_fp32"),
        "8 bits": make_variant(made, "fp16_fp32", eight_bit_weights=True),
    }
    nhwc = np.ascontiguousarray(made.image().transpose(0, 2, 3, 1))
    batch = made.input_shape[0]
    return Case(name, models, made.input_name, made.output_name, nhwc, (batch, 1000))


def measure(
    case: Case, library: Library, threads: int, seconds: float
) -> dict[str, tuple[Times, NDArray[np.float32]]]:
    """Times and answers, by what the weights are stored in."""
    calls, results = {}, {}
    with ExitStack() as engines:
        for stored, path in case.models.items():
            engine = engines.enter_context(library.engine(path, threads))
            results[stored] = np.empty(case.output_shape, np.float32)
            calls[stored] = engine.bind(
                case.input_name, case.image, case.output_name, results[stored]
            )
        times = interleave(calls, seconds)
    return {stored: (times[stored], results[stored]) for stored in case.models}


def report(cases: Sequence[Case], threads: int, seconds: float) -> Table:
    """A row for each case and storage."""
    library = Library()
    table = Table(
        title=f"MACE {library.version}, {threads} thread(s)",
        box=SIMPLE,
        padding=(0, 0),
        pad_edge=False,
    )
    table.add_column("", no_wrap=True)
    table.add_column("weights", no_wrap=True)
    for title in ("MB", "min ms", "median ms", ": float32", "similarity"):
        table.add_column(title, justify="right", no_wrap=True)
    for case in cases:
        found = measure(case, library, threads, seconds)
        whole_times, whole = found["float32"]
        for stored, (times, answer) in found.items():
            size = case.models[stored].with_suffix(".data").stat().st_size
            table.add_row(
                case.name if stored == "float32" else "",
                stored,
                f"{size / 1e6:.2f}",
                f"{times.minimum:.3f}",
                f"{times.median:.3f}",
                f"{times.minimum / whole_times.minimum:.2f}",
                f"{compute_metrics(whole, answer).similarity:.6f}",
            )
        table.add_section()
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--model", choices=NAMES, nargs="*", default=["mobilenet_v2", "resnet50"]
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each case")
    args = parser.parse_args()
    cases = [layer(*shape) for shape in LAYERS]
    cases += [network(name) for name in args.model]
    Console().print(report(cases, args.threads, args.seconds))


if __name__ == "__main__":
    main()

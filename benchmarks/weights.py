# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Weights stored in 32, 16 and 8 bits: time, size and outputs.

    python -m benchmarks.weights [--models mobilenet_v2 ...] [--threads 1]

Measures fully connected layers of one and of several rows, and whole networks.
All three compute in float32 and take turns; the ratios are those of the minima
to that of weights in float32, in which the answers are compared too.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.library import Library
from benchmarks.networks import DIRECTORY, NAMES, make_network, make_variant
from benchmarks.record import add_arguments, recorder
from benchmarks.tables import Table
from benchmarks.timing import Times, interleave
from mace.python.tools.atomic import atomic_write
from mace.python.tools.export.export import ExportOptions, export_model
from mace.python.tools.export.storage import Storage
from mace.python.tools.ir import DataType, Graph, GraphBuilder
from mace.python.tools.validate.metrics import compute_metrics

# Rows, K, outputs: the classifier of ResNet-50; layers of VGG and of a transformer,
# which exceed most caches; and several rows of the latter.
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
    """A fully connected layer with weights as at the start of training."""
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((columns, depth)).astype(np.float32) / depth**0.5
    name = f"fully_connected_{rows}x{depth}x{columns}"
    models = {}
    for stored, options in _STORED.items():
        models[stored] = DIRECTORY / f"{name}-{stored.replace(' ', '_')}"
        _write(_layer_graph(rows, weights), options, models[stored])
    image = rng.standard_normal((rows, depth)).astype(np.float32)
    title = f"fully connected, {rows} x {depth} x {columns}"
    return Case(title, models, "x", "y", image, (rows, columns))


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
    shape = made.mace_output_shape()
    return Case(
        name, models, made.input_name, made.output_name, made.mace_image(), shape
    )


def measure(
    case: Case, library: Library, threads: int, seconds: float
) -> dict[str, tuple[Times, NDArray[np.float32]]]:
    """Times and outputs, by storage type of the weights."""
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


def compare(case: Case, library: Library, threads: int, seconds: float) -> Any:
    """Times, size and outputs, by storage type of the weights."""
    found = measure(case, library, threads, seconds)
    whole = found["float32"][1]
    rows = {
        stored: {
            "mb": case.models[stored].with_suffix(".data").stat().st_size / 1e6,
            "times": asdict(times),
            "similarity": compute_metrics(whole, answer).similarity,
        }
        for stored, (times, answer) in found.items()
    }
    return {"name": case.name, "rows": rows}


def tables(data: Any) -> list[Table]:
    """A row for each case and storage."""
    threads = data["threads"]
    table = Table(
        "weights",
        f"computed in float32, {threads} thread{'s' * (threads != 1)}; ms are "
        "minimum (median)",
        ("case", "weights", "MB", "ms", "/ float32", "similarity"),
        labels=2,
    )
    for case in data["cases"]:
        whole = case["rows"]["float32"]["times"]["minimum"]
        name = case["name"]
        for stored, row in case["rows"].items():
            times = Times(**row["times"])
            table.add(
                name,
                stored,
                f"{row['mb']:.2f}",
                f"{times.minimum:.3f} ({times.median:.3f})",
                f"{times.minimum / whole:.2f}",
                f"{row['similarity']:.6f}",
            )
            name = ""
        table.add()
    return [table]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--models",
        choices=NAMES,
        nargs="*",
        default=["mobilenet_v2", "squeezenet", "resnet50"],
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each case")
    add_arguments(parser)
    args = parser.parse_args()
    output = recorder("benchmarks.weights", args)
    library = Library()
    cases = [layer(*shape) for shape in LAYERS]
    cases += [network(name) for name in args.models]
    found = [compare(case, library, args.threads, args.seconds) for case in cases]
    data = {"threads": args.threads, "cases": found}
    output.finish(data, {"MACE": library.version})


if __name__ == "__main__":
    main()

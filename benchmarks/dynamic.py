# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products that each run quantizes, compared with fp32 and with ONNX Runtime.

    python -m benchmarks.dynamic [--threads 1] [--record NAME]

Layers of BERT-base for several numbers of tokens, and LSTMs. Four engines run each of
them in turns with the caller's memory: MACE in fp32; MACE with `quantize_dynamic: 1`
(a scale for each row); ONNX Runtime with the file that its `quantize_dynamic` writes,
with a scale for each output; and MACE with that file (a scale for the whole input, and
for the state in each step). The last two compute the same: their outputs are compared.
Those of the second are compared with fp32, as the signal to quantization noise ratio.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from benchmarks.beside_onnxruntime import open_session
from benchmarks.library import Library
from benchmarks.networks import DIRECTORY
from benchmarks.record import add_arguments, recorder
from benchmarks.tables import Table
from benchmarks.timing import Times, interleave
from mace.python.tools.atomic import atomic_write
from mace.python.tools.export.export import ExportOptions, export_model
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.passes.manager import optimize
from mace.python.tools.quantize.dynamic import quantize_dynamically

TOKENS = (1, 16, 128)
LAYERS = ((768, 768), (768, 3072), (3072, 768))
# Steps and units; the input has as many numbers.
LSTMS = ((64, 128), (64, 256), (64, 512), (16, 1024))
# Of the largest output.
TOLERANCE = 1e-5
# Functions differ in their last digits, which seldom round a state to the next integer.
LSTM_TOLERANCE = 0.02

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Row:
    """One layer measured.

    Attributes:
        error: the largest difference from ONNX Runtime, relative to the largest output.
        sqnr_db: of the layer with a scale for each row.
        times: by engine.
    """

    name: str
    error: float
    sqnr_db: float
    times: dict[str, Times]

    @classmethod
    def read(cls, fields: Any) -> Row:
        """The row from fields that `asdict` wrote."""
        times = {name: Times(**of) for name, of in fields["times"].items()}
        return cls(fields["name"], fields["error"], fields["sqnr_db"], times)

    def ratio(self, engine: str, other: str) -> float:
        """The least time of one engine divided by that of another."""
        return self.times[engine].minimum / self.times[other].minimum


@dataclass(frozen=True)
class Layer:
    """What is measured.

    Attributes:
        name: for tables and files.
        shape: of its input.
        write: writes it in floats.
        tolerance: of the difference from ONNX Runtime.
    """

    name: str
    shape: tuple[int, ...]
    write: Callable[[Path], None]
    tolerance: float = TOLERANCE


def layers(tokens: Sequence[int]) -> list[Layer]:
    """All of them."""
    products = [
        Layer(
            f"{count} x {depth} x {outputs}",
            (count, depth),
            partial(write_onnx, depth, outputs),
        )
        for count in tokens
        for depth, outputs in LAYERS
    ]
    recurrent = [
        Layer(
            f"LSTM {steps} x {units} x {units}",
            (steps, 1, units),
            partial(write_lstm, units),
            LSTM_TOLERANCE,
        )
        for steps, units in LSTMS
    ]
    return products + recurrent


def write_lstm(units: int, path: Path) -> None:
    """A layer in floats, for any number of steps."""
    rng = np.random.default_rng(units)
    weights = [
        rng.standard_normal((1, 4 * units, units)) / np.sqrt(units) for _ in range(2)
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["steps", 1, units])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["steps", 1, 1, units])
    graph = helper.make_graph(
        [helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=units)],
        "layer",
        [x],
        [y],
        [
            numpy_helper.from_array(part.astype(np.float32), name)
            for part, name in zip(weights, "wr")
        ],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=opset), path)


def write_onnx(depth: int, outputs: int, path: Path) -> None:
    """A layer in floats, for any number of tokens."""
    rng = np.random.default_rng(depth + outputs)
    weights = rng.standard_normal((depth, outputs)) / np.sqrt(depth)
    shapes = {"x": ["tokens", depth], "y": ["tokens", outputs]}
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in shapes.items()
    )
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["product"]),
            helper.make_node("Add", ["product", "b"], ["y"]),
        ],
        "layer",
        [x],
        [y],
        [
            numpy_helper.from_array(weights.astype(np.float32), "w"),
            numpy_helper.from_array(rng.standard_normal(outputs, np.float32), "b"),
        ],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=opset), path)


def quantize(source: Path, path: Path) -> None:
    """ONNX Runtime's dynamic quantization of a file."""
    logging.disable(logging.WARNING)
    try:
        quantize_dynamic(source, path, weight_type=QuantType.QInt8, per_channel=True)
    finally:
        logging.disable(logging.NOTSET)


def convert(source: Path, shape: tuple[int, ...], path: Path, dynamic: bool) -> None:
    """Writes `<path>.pb` and `<path>.data`."""
    graph = import_model(
        ImportRequest("layer", source, (InputSpec("x", shape),), (OutputSpec("y"),))
    )
    optimize(graph)
    if dynamic:
        quantize_dynamically(graph)
    with atomic_write(path.with_suffix(".data")) as stream:
        exported = export_model(graph, ExportOptions(), stream)
    with atomic_write(path.with_suffix(".pb")) as file:
        file.write(exported.model.SerializeToString())


def measure(library: Library, layer: Layer, how: argparse.Namespace) -> Row:
    """Runs all engines on one layer.

    Raises:
        SystemExit: MACE and ONNX Runtime differ with the same file.
    """
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    shape = layer.shape
    stem = DIRECTORY / f"dynamic-{layer.name.replace(' ', '')}"
    floats, integers = stem.with_suffix(".onnx"), stem.with_suffix(".int8.onnx")
    layer.write(floats)
    quantize(floats, integers)
    x = np.random.default_rng(1).standard_normal(shape, np.float32)
    session = open_session(integers, how.threads)
    (wanted,) = session.run(["y"], {"x": x})
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    place = onnxruntime.OrtValue.ortvalue_from_numpy(np.empty_like(wanted))
    binding.bind_ortvalue_output("y", place)
    sides: dict[str, Callable[[], None]] = {}
    found: dict[str, Array] = {}
    with ExitStack() as stack:
        for side, source in (("fp32", floats), ("row", floats), ("tensor", integers)):
            path = stem.with_name(f"{stem.name}-{side}")
            convert(source, shape, path, side == "row")
            engine = stack.enter_context(library.engine(path, how.threads))
            found[side] = np.empty_like(wanted)
            sides[side] = engine.bind("x", x, "y", found[side])
        sides["onnxruntime"] = lambda: session.run_with_iobinding(binding)
        times = interleave(sides, how.seconds)
    error = float(np.abs(found["tensor"] - wanted).max() / np.abs(wanted).max())
    if not error <= layer.tolerance:
        raise SystemExit(f"{layer.name}: outputs differ by {error:.1e}")
    noise = np.square(found["row"] - found["fp32"]).sum()
    sqnr = 10 * np.log10(np.square(found["fp32"]).sum() / noise)
    return Row(layer.name, error, float(sqnr), times)


def tables(data: Any) -> list[Table]:
    """Microseconds of every layer, and the ratios of the least times."""
    table = Table(
        "dynamic",
        f"microseconds of a layer, {data['threads']} thread(s): minimum (median); "
        "ratios of minima",
        (
            "tokens or steps x inputs x outputs",
            "fp32",
            "a scale for each row",
            "a scale for the tensor",
            "ONNX Runtime",
            "row / fp32",
            "row / ONNX Runtime",
            "tensor / ONNX Runtime",
            "SQNR",
        ),
    )
    for fields in data["rows"]:
        row = Row.read(fields)
        names = ("fp32", "row", "tensor", "onnxruntime")
        table.add(
            row.name,
            *(
                f"{t.minimum * 1e3:.1f} ({t.median * 1e3:.1f})"
                for t in map(row.times.__getitem__, names)
            ),
            f"{row.ratio('row', 'fp32'):.2f}",
            f"{row.ratio('row', 'onnxruntime'):.2f}",
            f"{row.ratio('tensor', 'onnxruntime'):.2f}",
            f"{row.sqnr_db:.1f} dB",
        )
    return [table]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tokens", nargs="+", type=int, default=TOKENS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3.0, help="for each layer")
    add_arguments(parser)
    args = parser.parse_args()
    output = recorder("benchmarks.dynamic", args)
    library = Library()
    rows = [measure(library, layer, args) for layer in layers(args.tokens)]
    output.finish(
        {"threads": args.threads, "rows": [asdict(row) for row in rows]},
        {"MACE": library.version, "onnxruntime": onnxruntime.__version__},
    )


if __name__ == "__main__":
    main()

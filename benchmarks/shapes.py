# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Input shapes that change from run to run, compared with a constant shape.

    python -m benchmarks.shapes [--rounds 2000] [--record NAME]

A small convolutional network (so small that the engine's own time is visible) runs on
eight sizes of image. Each size is timed twice, in turns: in consecutive runs, and with
the other seven sizes in between. The engine keeps what it prepared for the last eight
shapes, so that using one of them again should cost nothing; the exit status is 1 if it
costs more than 5 us per run. With a ninth shape, each run prepares again: that time is
printed for comparison. The resident memory is compared between the second round of the
eight shapes and the last.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from benchmarks.library import LIBRARY, Bound, Engine, Library
from benchmarks.networks import ROOT
from benchmarks.record import add_arguments, recorder
from benchmarks.tables import Table
from benchmarks.timing import microseconds, resident_bytes
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.convert.convert import convert_deployment
from mace.python.tools.convert.options import ConvertOptions

_FOLDER = ROOT / "build/benchmarks"
_LIMIT_US = 5.0
_CHANNELS = 8
_LAYERS = 6
# The number of shapes for which an engine keeps its preparation.
_SHAPES = 8
_SIZES = tuple(range(8, 8 + _SHAPES + 1))
_DEPLOYMENT = """
library_name: benchmarks
target_abis: host
models:
  shapes:
    platform: onnx
    model_file_path: {path}
    runtime: cpu
    data_type: fp32_fp32
    subgraphs:
      - input_tensors: x
        input_shapes: "1,{channels},{size},{size}"
        input_data_formats: NCHW
        output_tensors: y
        output_shapes: "1,{channels},{size},{size}"
        output_data_formats: NCHW
"""


def make_model() -> Path:
    """Converts the network; returns the path of the MACE model without suffix."""
    rng = np.random.default_rng(1)
    nodes, weights, name = [], [], "x"
    for layer in range(_LAYERS):
        filters = rng.standard_normal((_CHANNELS, _CHANNELS, 3, 3)) / 9
        weights.append(numpy_helper.from_array(filters.astype(np.float32), f"w{layer}"))
        to = "y" if layer == _LAYERS - 1 else f"c{layer}"
        nodes.append(helper.make_node("Conv", [name, f"w{layer}"], [to], pads=[1] * 4))
        name = to
    shape = [1, _CHANNELS, "h", "w"]
    ends = [
        helper.make_tensor_value_info(end, TensorProto.FLOAT, shape) for end in "xy"
    ]
    graph = helper.make_graph(nodes, "shapes", ends[:1], ends[1:], weights)
    opset = [helper.make_opsetid("", 13)]
    _FOLDER.mkdir(parents=True, exist_ok=True)
    path = _FOLDER / "shapes.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    text = _DEPLOYMENT.format(path=path, channels=_CHANNELS, size=max(_SIZES))
    convert_deployment(
        load_deployment_text(text, path.with_suffix(".yml")),
        ConvertOptions(build_dir=_FOLDER / "shapes"),
    )
    return _FOLDER / "shapes/benchmarks/model/shapes"


def _bind(engine: Engine, size: int) -> Bound:
    x, y = (np.ones((1, size, size, _CHANNELS), np.float32) for _ in range(2))
    return engine.bind("x", x, "y", y)


def measure(library: Library, rounds: int) -> dict[str, Any]:
    """Microseconds of each size, three times, and the growth of memory."""
    # Arrays, which do not grow, unlike lists.
    few = rounds // 10
    alone = np.zeros((_SHAPES, rounds // _SHAPES, _SHAPES))
    turns = np.zeros((_SHAPES, rounds))
    beyond = np.zeros((_SHAPES + 1, few))
    for samples in (alone, turns, beyond):
        samples.fill(0)  # so that their pages are mapped
    resident = 0
    with library.engine(make_model(), threads=1) as engine:
        calls = [_bind(engine, size) for size in _SIZES]
        for index in range(rounds // _SHAPES * _SHAPES):
            for place, call in enumerate(calls[:_SHAPES]):
                turns[place, index] = microseconds(call)
            block, place = divmod(index, _SHAPES)
            call = calls[place]
            call()
            for repeat in range(_SHAPES):
                alone[place, block, repeat] = microseconds(call)
            if index == 1:
                resident = resident_bytes()
        grown = resident_bytes() - resident
        for index in range(few):
            for place, call in enumerate(calls):
                beyond[place, index] = microseconds(call)
    rows = [
        {
            "size": size,
            "in a row": _summary(alone[place].ravel()),
            "by turns": _summary(turns[place, 1 : rounds // _SHAPES * _SHAPES]),
            "nine by turns": _summary(beyond[place, 1:]),
        }
        for place, size in enumerate(_SIZES[:_SHAPES])
    ]
    return {"rows": rows, "grown_bytes": grown}


def _summary(us: NDArray[np.float64]) -> dict[str, float]:
    return {"minimum": float(us.min()), "median": float(np.median(us))}


def _extra(row: dict[str, Any]) -> float:
    return float(row["by turns"]["median"] - row["in a row"]["median"])


def tables(data: Any) -> list[Table]:
    """One row for each size; and the memory."""
    sides = ("in a row", "by turns", "nine by turns")
    table = Table(
        "shapes",
        "us per run, minimum (median), 1 thread",
        ("image", *sides, "more by turns"),
    )
    for row in data["rows"]:
        table.add(
            f"{row['size']}x{row['size']}",
            *(f"{row[s]['minimum']:.1f} ({row[s]['median']:.1f})" for s in sides),
            f"{_extra(row):+.1f}",
        )
    memory = Table("memory", "resident memory", ("grown after the first round, bytes",))
    memory.add(str(data["grown_bytes"]))
    return [table, memory]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--library", type=Path, default=LIBRARY)
    add_arguments(parser)
    args = parser.parse_args()
    output = recorder("benchmarks.shapes", args)
    library = Library(args.library)
    data = measure(library, args.rounds)
    output.finish(data, {"MACE": library.version})
    mean = statistics.mean(map(_extra, data["rows"]))
    grown = data["grown_bytes"] / 1024
    sys.stderr.write(f"{mean:+.1f} us a run; memory grew by {grown:.0f} KiB\n")
    if mean > _LIMIT_US:
        raise SystemExit(1)


if __name__ == "__main__":
    main()

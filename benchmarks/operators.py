# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Single operators compared with ONNX Runtime, fp32, at shapes of real networks.

    python -m benchmarks.operators [--filter softmax] [--threads 1]

Each is a separate ONNX model, usually of one node. Both engines run it in turns with
the caller's memory, in arrays that begin at a cache line. Images are NHWC for MACE and
NCHW for ONNX Runtime, the preferred order of each. A ratio below 1 means that MACE is
faster. Outputs are compared first.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import helper

from benchmarks.beside_onnxruntime import Row, open_session
from benchmarks.library import Library
from benchmarks.networks import DIRECTORY
from benchmarks.operator_case import Case
from benchmarks.operator_cases import CASES
from benchmarks.record import add_arguments, recorder, refuse
from benchmarks.tables import Table
from benchmarks.timing import interleave
from mace.python.tools.atomic import atomic_write
from mace.python.tools.export.export import ExportOptions, export_model
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.ir import DataFormat
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Target
from mace.python.tools.passes.manager import optimize

TOLERANCE = 1e-5  # of the largest output, or of 1
_CACHE_LINE = 64

Array = NDArray[Any]


def write_onnx(case: Case, path: Path) -> None:
    """The model of a case for ONNX Runtime."""
    graph = helper.make_graph(
        list(case.nodes),
        "operator",
        [
            helper.make_tensor_value_info(name, _onnx_type(case, name), shape)
            for name, shape in case.inputs.items()
        ],
        [
            helper.make_tensor_value_info(name, _onnx_type(case, name), None)
            for name in case.outputs
        ],
        list(case.constants),
    )
    model = helper.make_model(
        graph, ir_version=9, opset_imports=[helper.make_opsetid("", case.opset)]
    )
    onnx.save(model, path)


def _onnx_type(case: Case, name: str) -> int:
    return int(helper.np_dtype_to_tensor_dtype(case.type_of(name)))


def _mace_type(case: Case, name: str) -> np.dtype[Any]:
    """int64 of ONNX is int32 at the border of MACE."""
    kind = case.type_of(name)
    return np.dtype(np.int32) if kind == np.int64 else kind


def convert(case: Case, source: Path, path: Path) -> None:
    """Writes `<path>.pb` and `<path>.data`."""
    order = DataFormat.NHWC if case.images else DataFormat.NONE
    graph = import_model(
        ImportRequest(
            "operator",
            source,
            tuple(
                InputSpec(
                    name,
                    _channels_last_shape(case, shape),
                    DataType(_mace_type(case, name).name),
                    order,
                )
                for name, shape in case.inputs.items()
            ),
            tuple(OutputSpec(name, order) for name in case.outputs),
        )
    )
    graph.target = Target(("CPU",))
    optimize(graph)
    with atomic_write(path.with_suffix(".data")) as stream:
        exported = export_model(graph, ExportOptions(), stream)
    with atomic_write(path.with_suffix(".pb")) as file:
        file.write(exported.model.SerializeToString())


def _channels_last_shape(case: Case, shape: Sequence[int]) -> tuple[int, ...]:
    if not case.images or len(shape) != 4:
        return tuple(shape)
    return (shape[0], shape[2], shape[3], shape[1])


def _channels_last(case: Case, array: Array) -> Array:
    if not case.images or array.ndim != 4:
        return array
    return np.ascontiguousarray(array.transpose(0, 2, 3, 1))


def _aligned(array: Array) -> Array:
    """A copy that begins at a cache line, like the engines' own memory."""
    bytes_ = np.empty(array.nbytes + _CACHE_LINE, np.uint8)
    skip = -bytes_.ctypes.data % _CACHE_LINE
    copy = bytes_[skip : skip + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _for_mace(case: Case, name: str, array: Array) -> Array:
    """A copy as MACE takes or returns it."""
    return _aligned(_channels_last(case, array).astype(_mace_type(case, name)))


def _difference(found: Array, wanted: Array) -> float:
    """The largest one, relative to the largest wanted element, or to 1."""
    exact = wanted.astype(np.float64)
    return float(np.abs(found - exact).max()) / max(1.0, float(np.abs(exact).max()))


def measure(library: Library, case: Case, threads: int, seconds: float) -> Row:
    """Runs both engines on one case.

    Raises:
        SystemExit: their outputs differ.
    """
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    stem = "operator-" + case.name.replace(" ", "_").replace("/", "_")
    path = DIRECTORY / stem
    source = path.with_suffix(".onnx")
    write_onnx(case, source)
    convert(case, source, path)
    rng = np.random.default_rng(0)
    feeds = {
        name: _aligned(rng.uniform(*case.range, shape).astype(case.type_of(name)))
        for name, shape in case.inputs.items()
    }
    session = open_session(source, threads)
    wanted = dict(zip(case.outputs, session.run(list(case.outputs), feeds)))
    # Results are written to preallocated arrays, like those of MACE.
    binding = session.io_binding()
    for name, array in feeds.items():
        binding.bind_cpu_input(name, array)
    for name, array in wanted.items():
        value = onnxruntime.OrtValue.ortvalue_from_numpy(np.empty_like(array))
        binding.bind_ortvalue_output(name, value)
    found = {name: _for_mace(case, name, array) for name, array in wanted.items()}
    with library.engine(path, threads) as engine:
        call = engine.bind_all(
            {name: _for_mace(case, name, array) for name, array in feeds.items()},
            found,
            case.images,
        )
        call()
        error = max(
            _difference(found[name], _channels_last(case, array))
            for name, array in wanted.items()
        )
        if not error <= TOLERANCE:
            raise SystemExit(f"{case.name}: outputs differ by {error:.1e}")
        times = interleave(
            {
                "mace": call,
                "onnxruntime": lambda: session.run_with_iobinding(binding),
            },
            seconds,
        )
    return Row(case.name, error, times["mace"], times["onnxruntime"])


def tables(data: Any) -> list[Table]:
    """Microseconds of every case, and the ratio of the least times."""
    table = Table(
        "operators",
        f"microseconds of an operator, fp32, {data['threads']} thread(s): "
        "minimum (median), and their ratios",
        ("operator", "MACE", "ONNX Runtime", "ratio", "of medians"),
    )
    for fields in data["rows"]:
        row = Row.read(fields)
        table.add(
            row.name,
            *(
                f"{t.minimum * 1e3:.1f} ({t.median * 1e3:.1f})"
                for t in (row.mace, row.onnxruntime)
            ),
            f"{row.ratio:.2f}",
            f"{row.ratio_of_medians:.2f}",
        )
    return [table]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--filter", default="", help="only cases whose name has this")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each case")
    add_arguments(parser)
    args = parser.parse_args()
    output = recorder("benchmarks.operators", args)
    cases = [case for case in CASES if args.filter in case.name]
    if not cases:
        names = "\n".join(case.name for case in CASES)
        refuse(f"--filter {args.filter!r} is in no name; the names are:\n{names}")
    library = Library()
    rows = [measure(library, case, args.threads, args.seconds) for case in cases]
    output.finish(
        {"threads": args.threads, "rows": [asdict(row) for row in rows]},
        {"MACE": library.version, "onnxruntime": onnxruntime.__version__},
    )


if __name__ == "__main__":
    main()

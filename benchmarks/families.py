# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts small networks of many families, exported by PyTorch, and validates them.

    bash benchmarks/setup.sh exports
    bash tools/setup.sh --for validate
    python -m benchmarks.families [--families NAME ...] [--dynamic]

`torch_exports/families.py` writes a file of each family with both of PyTorch's ONNX
exporters. Then this program does what a user does: it writes a deployment file with the
inputs and outputs of the ONNX file, and runs `converter.py convert` and
`converter.py run --validate`, which compares MACE's engine with ONNX Runtime. An output
passes with a cosine similarity of 0.99999; integers must be equal. Where ONNX Runtime
lacks an operator, PyTorch's own outputs are compared. With `--dynamic`, this is done
with open dimensions, for the families that name lengths: one conversion, three runs.
With `--open`, all families are exported with every dimension open that PyTorch can
leave open, as a program (`.pt2`) and as ONNX; `mace.load` with -1 for all of them, and
up to three sizes, are compared with PyTorch, or with ONNX Runtime if the exporter
wrote another network than PyTorch's. The table shows the first message of what
does not work. A network that PyTorch cannot export, or for which it writes a file that
ONNX Runtime takes for invalid, does not count. Exports are kept in
`build/benchmarks`; the exit status is 1 if the share of the others that pass
is less than `--require`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import yaml

from benchmarks.exports import VENV, require_exporter
from benchmarks.networks import DIRECTORY, ROOT
from benchmarks.record import add_arguments, recorder
from benchmarks.tables import Table
from mace.python.tools.cli.main import main as converter
from mace.python.tools.validate.metrics import cosine_similarity

_PROGRAM = ROOT / "benchmarks/torch_exports/families.py"
_EXPORTERS = ("torchscript", "dynamo")
# The files of an export of every length.
_KINDS = ("pt2", "onnx")
_INTEGERS = {
    onnx.TensorProto.INT64,
    onnx.TensorProto.INT32,
    onnx.TensorProto.BOOL,
    onnx.TensorProto.UINT8,
    onnx.TensorProto.INT8,
}
# In ONNX Runtime's errors about operators that it lacks.
_LACKING = "NOT_IMPLEMENTED"
_LINE = re.compile(r": (?P<name>\S+): cosine similarity (\S+), .*max abs error (\S+),")
_LEAST = 0.99999
_PLACES = (0, 1, 2)
_Array = np.ndarray[Any, Any]
_Results = list[list[_Array]]


@dataclass
class Result:
    """How far a network came.

    Attributes:
        step: `not exported`, `not converted`, `not run`, `wrong` or `passed`.
        message: of the first step that failed.
    """

    family: str
    exporter: str
    step: str
    message: str = ""


def _ports(values: Any) -> tuple[list[str], list[list[int]]]:
    """The names and shapes as a user copies them from the file; -1 where open."""
    names = [value.name for value in values]
    shapes = [
        [
            dim.dim_value if dim.HasField("dim_value") else -1
            for dim in value.type.tensor_type.shape.dim
        ]
        for value in values
    ]
    return names, shapes


def _type(elem_type: int) -> str:
    if elem_type == onnx.TensorProto.BOOL:
        return "bool"
    return "int32" if elem_type in _INTEGERS else "float32"


def _array_file(path: Path, name: str, place: int) -> Path:
    """An input or output of an export, for one of its sizes."""
    return path.with_suffix(f".{name}.{place}.npy" if place else f".{name}.npy")


def _reference(path: Path, feeds_of: Sequence[Sequence[_Array]]) -> _Results | str:
    """What ONNX Runtime computes of an export for each list of inputs, or why it cannot
    read or run it.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(str(path), options)
        names = [port.name for port in session.get_inputs()]
        return [session.run(None, dict(zip(names, feeds))) for feeds in feeds_of]
    except Exception as error:  # its errors have no common type
        return " ".join(str(error).split())


def deployment(
    path: Path, own: bool = False, place: int | None = None
) -> dict[str, Any]:
    """A deployment file for an export and its inputs.

    Args:
        path: of the ONNX file.
        own: compare with PyTorch's outputs.
        place: of the inputs for one of several lengths; the dimensions that the export
            leaves open are open.
    """
    graph = onnx.load(str(path), load_external_data=False).graph
    outputs, output_shapes = _ports(graph.output)
    inputs, shapes = _ports(graph.input)
    files = [_array_file(path, name, place or 0) for name in inputs]
    if place is None:
        shapes = [list(np.load(file).shape) for file in files]
    subgraph = {
        "input_tensors": inputs,
        "input_shapes": shapes,
        "input_data_types": [
            _type(value.type.tensor_type.elem_type) for value in graph.input
        ],
        "input_data_formats": "NONE",
        "output_tensors": outputs,
        "output_shapes": output_shapes,
        "output_data_types": [
            _type(value.type.tensor_type.elem_type) for value in graph.output
        ],
        "output_data_formats": "NONE",
        "validation_inputs_data": list(map(str, files)),
        "validation_threshold": {"CPU": _LEAST},
    }
    if not inputs:
        raise ValueError(f"{path} has no inputs")
    if own:
        subgraph["validation_outputs_data"] = [
            str(path.with_suffix(f".output{index}.npy"))
            for index in range(len(outputs))
        ]
    name = re.sub(r"\W", "_", path.stem)
    model = {
        "platform": "onnx",
        "model_file_path": str(path),
        "subgraphs": [subgraph],
        "runtime": "cpu",
        "data_type": "fp32_fp32",
        "winograd": 0,
    }
    return {
        "library_name": name,
        "target_abis": ["host"],
        "model_graph_format": "file",
        "model_data_format": "file",
        "models": {name: model},
    }


def _call(*arguments: str) -> tuple[int, str]:
    """The exit status of converter.py and what it printed."""
    log = io.StringIO()
    with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        status = converter(list(arguments))
    return status, log.getvalue()


def _first_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    marked = [
        index
        for index, line in enumerate(lines)
        if line.startswith("error:") or "FAILED" in line
    ]
    start = marked[0] if marked else max(0, len(lines) - 4)
    found = [
        " ".join(line.split())
        for line in lines[start : start + 12]
        if not line.startswith(("node ", "---"))
    ]
    return "\n".join(found)


def _differing_integers(path: Path, log: str) -> str:
    """The first output of integers that is not equal to ONNX Runtime's."""
    graph = onnx.load(str(path), load_external_data=False).graph
    whole = {
        value.name
        for value in graph.output
        if value.type.tensor_type.elem_type in _INTEGERS
    }
    for line in log.splitlines():
        match = _LINE.search(line)
        if match and match["name"] in whole and float(match[3]) != 0:
            return line.strip()
    return ""


def examine(path: Path, folder: Path, dynamic: bool) -> tuple[str, str]:
    """How far an export comes, and the message that ends it."""
    places = _PLACES if dynamic else (0,)
    names, _ = _ports(onnx.load(str(path), load_external_data=False).graph.input)
    files = [[_array_file(path, name, place) for name in names] for place in places]
    found = _reference(path, [[np.load(file) for file in each] for each in files])
    own = isinstance(found, str) and _LACKING in found
    if isinstance(found, str) and not own:
        return "not exported", f"ONNX Runtime: {found}"
    settings = folder / f"{path.stem}.yml"
    common = [f"--config={settings}", f"--build_dir={folder / 'build'}"]
    for place in places:
        content = deployment(path, own, place if dynamic else None)
        settings.write_text(yaml.safe_dump(content), encoding="utf-8")
        if place == 0:
            status, log = _call("convert", *common)
            if status != 0:
                return "not converted", _first_error(log)
        status, log = _call("run", "--validate", *common)
        (folder / f"{path.stem}.log").write_text(log, encoding="utf-8")
        if status != 0:
            wrong = "cosine similarity" in log or "shape" in log
            return "wrong" if wrong else "not run", _first_error(log)
        different = _differing_integers(path, log)
        if different:
            return "wrong", different
    return "passed", ""


def examine_open(path: Path) -> tuple[str, str]:
    """How far an export of every length comes, and the message that ends it.

    PyTorch's exporter may write another network than the one that PyTorch ran, or one
    for a single size: where results differ from PyTorch's, or there are none, ONNX
    Runtime's for the same file decide.
    """
    import mace

    is_onnx = path.suffix == ".onnx"
    trouble = _reference(path, []) if is_onnx else ""
    if isinstance(trouble, str) and trouble and _LACKING not in trouble:
        return "not exported", f"ONNX Runtime: {trouble}"
    feeds_of = [feeds for place in _PLACES if (feeds := _feeds(path, place))]
    dims = _dimensions(path, feeds_of)
    if isinstance(dims, str):
        return "not converted", dims
    try:
        model = mace.load(path, dims=dims, cache=False)
    except mace.MaceError as error:
        return "not converted", str(error)
    compared = 0
    for place, feeds in enumerate(feeds_of):
        try:
            results = model.run(dict(zip((i.name for i in model.inputs), feeds)))
        except mace.MaceError as error:
            reference = _reference(path, [feeds]) if is_onnx else []
            if isinstance(reference, str) and _LACKING not in reference:
                continue
            return "not run", str(error)
        found = list(results.values())
        files = [
            _array_file(path, f"output{index}", place) for index in range(len(found))
        ]
        different = _first_difference([np.load(file) for file in files], found)
        if different and is_onnx:
            reference = _reference(path, [feeds])
            if not isinstance(reference, str):
                different = _first_difference(reference[0], found)
        if different:
            return "wrong", f"size {place}: {different}"
        compared += 1
    if not compared:
        return "not exported", "ONNX Runtime runs it at no size"
    count = sum(length < 0 for length in dims.values())
    return "passed", f"{count} open lengths, {compared} sizes"


def _feeds(path: Path, place: int) -> list[_Array]:
    """The inputs of one of the sizes; none if there is no such size."""
    feeds: list[_Array] = []
    while (file := _array_file(path, f"input{len(feeds)}", place)).is_file():
        feeds.append(np.load(file))
    return feeds


def _dimensions(
    path: Path, feeds_of: Sequence[Sequence[_Array]]
) -> dict[str, int] | str:
    """-1 for the dimensions that a file leaves open, as `dims` names them, and their
    number for those that PyTorch found no second length for; or why they are not known.
    """
    out, log = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(log):
        status = converter(["inspect", str(path), "--format=json"])
    if status:
        return log.getvalue()
    (model,) = json.loads(out.getvalue())["models"]
    dims: dict[str, int] = {}
    for index, tensor in enumerate(model["inputs"]):
        for axis, dim in enumerate(tensor["shape"] or ()):
            if not isinstance(dim, int):
                lengths = {feeds[index].shape[axis] for feeds in feeds_of}
                length = -1 if len(lengths) > 1 else lengths.pop()
                dims[dim or f"{tensor['name']}[{axis}]"] = length
    return dims


def _first_difference(wanted: Sequence[_Array], found: Sequence[_Array]) -> str:
    """Which output is different, and how; empty if none is."""
    if len(wanted) != len(found):
        return f"{len(found)} outputs, not {len(wanted)}"
    for index, pair in enumerate(zip(wanted, found)):
        different = _difference(*pair)
        if different:
            return f"output {index}: {different}"
    return ""


def _difference(wanted: _Array, found: _Array) -> str:
    """What is different; empty if nothing is."""
    if wanted.shape != found.shape:
        return f"shape {found.shape}, PyTorch has {wanted.shape}"
    if wanted.dtype.kind in "biu":
        differ = int(np.sum(wanted != found))
        return f"{differ} of {wanted.size} integers differ" if differ else ""
    finite = np.isfinite(wanted)
    if not np.array_equal(finite, np.isfinite(found)):
        return "other elements are finite"
    if not finite.all():
        return ""
    similarity = cosine_similarity(wanted, found)
    if similarity >= _LEAST or np.allclose(wanted, found, rtol=1e-3, atol=1e-5):
        return ""
    return f"cosine similarity {similarity:.6f}"


def _export_open(folder: Path, names: Sequence[str]) -> None:
    """Exports what is missing."""

    def missing() -> list[str]:
        return [
            name
            for name in names
            if not any(
                (folder / f"{name}.program.{end}").exists() for end in ("pt2", "failed")
            )
        ]

    require_exporter()
    while before := missing():
        command = [VENV / "bin/python", _PROGRAM, folder, *before, "--open"]
        subprocess.run(list(map(str, command)), check=False)
        after = missing()
        if after == before:
            # It ended the process.
            failed = folder / f"{after[0]}.program.failed"
            failed.write_text("the exporter ended\n", encoding="utf-8")


def _results_of_open(folder: Path, name: str) -> Iterator[Result]:
    for kind in _KINDS:
        path = folder / f"{name}.program.{kind}"
        if path.exists():
            yield Result(name, kind, *examine_open(path))
            continue
        failed = folder / f"{name}.program{'.onnx' * (kind == 'onnx')}.failed"
        if not failed.exists():
            failed = folder / f"{name}.program.failed"
        text = failed.read_text("utf-8") if failed.exists() else "the exporter ended"
        yield Result(name, kind, "not exported", _cause(text))


def _export(
    folder: Path, names: list[str], exporters: list[str], dynamic: bool
) -> None:
    """Exports what is missing."""
    missing = [
        name
        for name in names
        for exporter in exporters
        if not any(
            (folder / f"{name}.{exporter}.{suffix}").exists()
            for suffix in ("onnx", "failed")
        )
    ]
    if missing:
        require_exporter()
        command = [VENV / "bin/python", _PROGRAM, folder, *dict.fromkeys(missing)]
        command += ["--exporters", *exporters, *(["--dynamic"] if dynamic else [])]
        subprocess.run(list(map(str, command)), check=True)


def _cause(trace: str) -> str:
    """The line of a Python traceback that says most. PyTorch's exporter repeats the
    cause with its class.
    """
    lines = [line for line in trace.strip().splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("<class ")]
    errors = [line for line in lines if re.match(r"[\w.]+(Error|Exception)\b", line)]
    return (causes or errors or lines)[-1]


def _names() -> dict[str, bool]:
    """The families, and whether they name lengths, from their sources: PyTorch takes
    seconds to be imported.
    """
    sources = sorted((ROOT / "benchmarks/torch_exports/kinds").glob("*.py"))
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    found = re.findall(r"^@(open_)?family\ndef (\w+)", text, re.MULTILINE)
    return {name: bool(is_open) for is_open, name in found}


def tables(data: Any) -> list[Table]:
    """One row for each family; one for each message."""
    results = [Result(**entry) for entry in data]
    steps = {(result.family, result.exporter): result.step for result in results}
    exporters = tuple(dict.fromkeys(result.exporter for result in results))
    columns = ("family", *exporters)
    overview = Table("families", "How far exports come", columns, len(columns))
    for name in dict.fromkeys(result.family for result in results):
        overview.add(name, *(steps.get((name, other), "") for other in exporters))
    reasons = Table("reasons", "First messages", ("network", "message"), 2)
    for result in results:
        if result.message and result.step != "passed":
            reasons.add(f"{result.family}.{result.exporter}", result.message)
    return [overview, reasons]


def main() -> int:
    names = _names()
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--families", nargs="+", choices=list(names), metavar="NAME")
    parser.add_argument(
        "--dynamic", action="store_true", help="leave dimensions open, run three sizes"
    )
    parser.add_argument(
        "--open", action="store_true", help="leave every dimension open"
    )
    parser.add_argument(
        "--exporters", nargs="+", choices=_EXPORTERS, default=list(_EXPORTERS)
    )
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--require", type=float, default=0.0, metavar="0..1")
    add_arguments(parser)
    args = parser.parse_args()
    output = recorder("benchmarks.families", args)
    way = "open" if args.open else "dynamic" if args.dynamic else "families"
    folder = args.folder or DIRECTORY / way
    folder.mkdir(parents=True, exist_ok=True)
    families = args.families or [n for n in names if names[n] or not args.dynamic]
    if args.open:
        _export_open(folder, families)
    else:
        _export(folder, families, args.exporters, args.dynamic)
    results: list[Result] = []
    for name in families:
        for result in _results_of_open(folder, name) if args.open else ():
            results.append(result)
            output.console.print(
                f"{name}.{result.exporter}: {result.step} {result.message}",
                markup=False,
            )
        for exporter in args.exporters if not args.open else ():
            path = folder / f"{name}.{exporter}.onnx"
            if path.exists():
                result = Result(name, exporter, *examine(path, folder, args.dynamic))
            else:
                text = path.with_suffix(".failed").read_text(encoding="utf-8")
                result = Result(name, exporter, "not exported", _cause(text))
            results.append(result)
            output.console.print(
                f"{name}.{exporter}: {result.step} {result.message}", markup=False
            )
    output.finish([asdict(result) for result in results], {})
    counted = [result for result in results if result.step != "not exported"]
    passed = [result for result in counted if result.step == "passed"]
    output.console.print(f"{len(passed)} of {len(counted)} pass")
    return int(len(passed) < args.require * len(counted))


if __name__ == "__main__":
    sys.exit(main())

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds out what the models of a deployment are."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, TextIO

from mace.python.installation import command
from mace.python.tools.command_line.results import make_console, print_text
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.convert.source import fetch_sources
from mace.python.tools.export.model_file import ModelFile, TensorInfo, read_model_file
from mace.python.tools.export.places import ModelPlaces
from mace.python.tools.importers.frame.description import TensorDescription
from mace.python.tools.importers.frame.journal import Outcome
from mace.python.tools.importers.frame.opened import OpenedModels, recognise
from mace.python.tools.inspection.check import Inspection, check_model
from mace.python.tools.inspection.options import InspectOptions
from mace.python.tools.ir.shapes import format_shape, from_ints
from mace.python.tools.wording import counted

# Raised when a member changes its meaning.
VERSION = 1


def inspection_text(inspections: Sequence[Inspection]) -> str:
    """All models, one after the other."""
    return "\n".join(
        "".join(f"{line}\n" for line in _model(inspection))
        for inspection in inspections
    )


def inspection_json(inspections: Sequence[Inspection]) -> dict[str, Any]:
    """All models, as members of JSON."""
    return {"version": VERSION, "models": [_json(item) for item in inspections]}


def _write_json(data: Mapping[str, Any], stream: TextIO) -> None:
    stream.write(json.dumps(data, indent=1, allow_nan=False) + "\n")
    stream.flush()


def _model(inspection: Inspection) -> Iterator[str]:
    about, check = inspection.description, inspection.check
    yield f"{inspection.name} ({about.framework}, {inspection.size / 1e6:.1f} MB)"
    rows = [*map(_input, about.inputs, repeat(inspection.constants))]
    rows += [("output", t.name, _type(t), _shape(t)) for t in inspection.outputs]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        yield "  " + "  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip()
    count = sum(about.operators.values())
    yield f"  nodes  {count}: " + ", ".join(
        f"{number} {name}" for name, number in by_count(about.operators)
    )
    if check.operators is None:
        refused = check.count(Outcome.REFUSED)
        what = check.problem
        if refused:
            what = f"{counted(refused, 'node')} cannot be converted"
            if inspection.is_open:
                what += " with all of its dimensions open"
        yield f"  MACE   {what}; {command('check')} says why"
    else:
        yield f"  MACE   converts it to {counted(check.operators, 'operator')}"
    macs = _macs(inspection)
    if macs is not None:
        yield f"  computes {macs / 1e6:.1f} million multiply-accumulates"


def _input(
    tensor: TensorDescription, constants: Mapping[str, str]
) -> tuple[str, str, str, str]:
    """The row of an input, which may be the same in every run."""
    side, shape = "input", _shape(tensor)
    if tensor.name in constants:
        side, shape = "constant", f"{shape} = {constants[tensor.name]}"
    return side, tensor.name, _type(tensor), shape


def by_count(operators: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most frequent first."""
    return sorted(operators.items(), key=lambda item: (-item[1], item[0]))


def _shape(tensor: TensorDescription) -> str:
    known = tensor.shape is not None
    return format_shape(tensor.shape) if known else "of unknown shape"


def _type(tensor: TensorDescription) -> str:
    return tensor.dtype.value if tensor.dtype else "?"


def _macs(inspection: Inspection) -> int | None:
    """None: they depend on shapes that are open, or on nodes that MACE lacks."""
    check = inspection.check
    if check.operators is None:
        return None
    macs = [op.macs for node in check.nodes for op in node.operators]
    known = [number for number in macs if number is not None]
    return sum(known) if len(known) == len(macs) else None


def _json(inspection: Inspection) -> dict[str, Any]:
    about, check = inspection.description, inspection.check
    return {
        "model": inspection.name,
        "framework": about.framework,
        "bytes": inspection.size,
        "image_order": about.image_order.value,
        "inputs": [
            _tensor_json(t) for t in about.inputs if t.name not in inspection.constants
        ],
        "constants": dict(inspection.constants),
        "outputs": [_tensor_json(tensor) for tensor in inspection.outputs],
        "nodes": dict(by_count(about.operators)),
        "operators": check.operators,
        "macs": _macs(inspection),
    }


def _tensor_json(tensor: TensorDescription) -> dict[str, Any]:
    shape = None if tensor.shape is None else list(tensor.shape)
    dtype = tensor.dtype.value if tensor.dtype else None
    return {"name": tensor.name, "type": dtype, "shape": shape}


def are_converted(files: Sequence[Path]) -> bool:
    """Whether all of some files are graphs of models that MACE has converted."""
    found = [recognise(path) if path.is_file() else None for path in files]
    return bool(found) and all(item and item.is_converted for item in found)


def inspect_converted(
    graphs: Sequence[Path], options: InspectOptions, stream: TextIO | None = None
) -> None:
    """Prints what every model is.

    Args:
        graphs: `.pb` files; the weights of each are beside it, in a `.data` file.
        stream: where it is printed; None: standard output.

    Raises:
        ModelFileError: one cannot be read.
    """
    out = stream or sys.stdout
    if options.format == "json":
        _write_json(converted_json(graphs), out)
    else:
        lines = (line for model in _read(graphs) for line in _lines(model))
        print_text(make_console(out), "".join(f"{line}\n" for line in lines))


def _read(graphs: Sequence[Path]) -> list[ModelFile]:
    return [
        read_model_file(ModelPlaces(path, path.with_suffix(".data"))) for path in graphs
    ]


def converted_json(graphs: Sequence[Path]) -> dict[str, Any]:
    """What every converted model is, as members of JSON.

    Raises:
        ModelFileError: one cannot be read.
    """
    models = [_converted_json(model) for model in _read(graphs)]
    return {"version": VERSION, "models": models}


def _lines(model: ModelFile) -> Iterator[str]:
    size = _size(model) / 1e6
    yield f"{model.graph_path} (a MACE model, {size:.1f} MB; {model.producer})"
    sides = (
        ("input", model.inputs),
        ("state", [state.tensor for state in model.states]),
        ("output", model.outputs),
    )
    rows = [(side, *_words(t)) for side, tensors in sides for t in tensors]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        yield "  " + "  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip()
    counts = Counter(op.type for op in model.operators)
    yield f"  operators  {len(model.operators)}: " + ", ".join(
        f"{number} {name}" for name, number in by_count(counts)
    )
    devices = ", ".join(model.devices) or "any device"
    yield f"  made for   {devices}; other devices leave what they lack to the CPU"


def _words(tensor: TensorInfo) -> tuple[str, str, str, str]:
    shape = format_shape(from_ints(tensor.shape))
    return tensor.name, tensor.data_type.value, shape, tensor.data_format.value


def _size(model: ModelFile) -> int:
    return model.graph_path.stat().st_size + model.data_path.stat().st_size


def _converted_json(model: ModelFile) -> dict[str, Any]:
    return {
        "model": str(model.graph_path),
        "framework": "MACE",
        "producer": model.producer,
        "bytes": _size(model),
        "inputs": [_tensor(tensor) for tensor in model.inputs],
        "outputs": [_tensor(tensor) for tensor in model.outputs],
        "operators": dict(by_count(Counter(op.type for op in model.operators))),
        "devices": list(model.devices),
    }


def _tensor(tensor: TensorInfo) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "type": tensor.data_type.value,
        "shape": list(tensor.shape),
        "order": tensor.data_format.value,
    }


def inspect_deployment(
    deployment: Deployment,
    options: InspectOptions,
    stream: TextIO | None = None,
    opened: OpenedModels | None = None,
) -> None:
    """Prints what every model is.

    Args:
        stream: where it is printed; None: standard output.
        opened: models that the command has opened already; None: none.

    Raises:
        MaceError: a model cannot be had or read.
    """
    inspections = _inspections(deployment, opened)
    out = stream or sys.stdout
    if options.format == "json":
        _write_json(inspection_json(inspections), out)
    else:
        print_text(make_console(out), inspection_text(inspections))


def deployment_json(
    deployment: Deployment, opened: OpenedModels | None = None
) -> dict[str, Any]:
    """What every model of a deployment is, as members of JSON.

    Raises:
        MaceError: a model cannot be had or read.
    """
    return inspection_json(_inspections(deployment, opened))


def _inspections(
    deployment: Deployment, opened: OpenedModels | None
) -> list[Inspection]:
    models = tuple(deployment.models.values())
    inspections = []
    for model, source in zip(models, fetch_sources(models, opened)):
        about = source.opened.describe()
        inspections.append(
            Inspection(
                model.model_file_path.location,
                source.size(()),
                about,
                check_model(model, source),
                any(dim < 0 for info in model.whole.inputs for dim in info.shape),
                {n: str(item) for n, item in (model.whole.constants or {}).items()},
            )
        )
    return inspections

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Prints what a converted model is."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from mace.python.tools.command_line.results import make_console, print_text
from mace.python.tools.export.model_file import ModelFile, TensorInfo, read_model_file
from mace.python.tools.export.places import ModelPlaces
from mace.python.tools.importers.frame.opened import recognise
from mace.python.tools.inspection.options import InspectOptions
from mace.python.tools.inspection.show_inspection import VERSION, by_count
from mace.python.tools.ir.shapes import format_shape, from_ints


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
    models = [
        read_model_file(ModelPlaces(path, path.with_suffix(".data"))) for path in graphs
    ]
    out = stream or sys.stdout
    if options.format == "json":
        data = {"version": VERSION, "models": [_json(model) for model in models]}
        out.write(json.dumps(data, indent=1, allow_nan=False) + "\n")
        out.flush()
    else:
        lines = (line for model in models for line in _lines(model))
        print_text(make_console(out), "".join(f"{line}\n" for line in lines))


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


def _json(model: ModelFile) -> dict[str, Any]:
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

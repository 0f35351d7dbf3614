# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Prints inspections as text for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mace.python.installation import command
from mace.python.tools.importers.frame.description import TensorDescription
from mace.python.tools.importers.frame.journal import Outcome
from mace.python.tools.inspection.findings import Inspection
from mace.python.tools.ir.shapes import format_shape
from mace.python.tools.wording import counted

# Raised when a member changes its meaning.
VERSION = 1


def inspection_text(inspections: Sequence[Inspection]) -> str:
    """All models, one after the other."""
    return "\n".join(
        "".join(f"{line}\n" for line in _model(inspection))
        for inspection in inspections
    )


def inspection_json(inspections: Sequence[Inspection]) -> str:
    """All models as one JSON object."""
    data = {"version": VERSION, "models": [_json(item) for item in inspections]}
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def _model(inspection: Inspection) -> Iterator[str]:
    about, check = inspection.description, inspection.check
    yield f"{inspection.name} ({about.framework}, {inspection.size / 1e6:.1f} MB)"
    rows = [
        (side, tensor.name, _type(tensor), _shape(tensor))
        for side, tensors in (("input", about.inputs), ("output", inspection.outputs))
        for tensor in tensors
    ]
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
        "inputs": [_tensor_json(tensor) for tensor in about.inputs],
        "outputs": [_tensor_json(tensor) for tensor in inspection.outputs],
        "nodes": dict(by_count(about.operators)),
        "operators": check.operators,
        "macs": _macs(inspection),
    }


def _tensor_json(tensor: TensorDescription) -> dict[str, Any]:
    shape = None if tensor.shape is None else list(tensor.shape)
    dtype = tensor.dtype.value if tensor.dtype else None
    return {"name": tensor.name, "type": dtype, "shape": shape}

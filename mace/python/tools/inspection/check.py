# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds out what of a deployment's models can be converted."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.command_line.results import make_console, print_text
from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.effect import Command, check_effects
from mace.python.tools.convert.quantization import range_file_problem
from mace.python.tools.convert.source import Source, fetch_each, import_model
from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.frame.journal import (
    Journal,
    MadeOperator,
    NodeEntry,
    Outcome,
)
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.inspection.options import CheckOptions
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.shapes import Shape, format_shape
from mace.python.tools.passes.manager import all_passes


@dataclass(frozen=True)
class ModelCheck:
    """What was found out about a model.

    Attributes:
        framework: as the deployment file names it.
        source: the model's file.
        nodes: that the outputs need, in the order of execution.
        operators: of the converted model; None if it cannot be converted.
        outputs: of the converted model, as the framework has them.
        problem: why not, where it is not the matter of a node; '' otherwise.
    """

    name: str
    framework: str
    source: str
    nodes: Sequence[NodeEntry]
    operators: int | None
    outputs: Sequence[TensorDescription] = ()
    problem: str = ""

    @property
    def passed(self) -> bool:
        """Whether it can be converted."""
        return self.operators is not None

    def count(self, outcome: Outcome) -> int:
        """How many nodes have this outcome."""
        return sum(node.outcome is outcome for node in self.nodes)


@dataclass(frozen=True)
class Inspection:
    """What a model is.

    Attributes:
        size: of its files, in bytes.
        description: what its files say.
        check: what would become of its nodes.
        is_open: whether each run decides some of the lengths that it was checked with.
        constants: what inputs hold that are the same in every run, by their names.
    """

    name: str
    size: int
    description: ModelDescription
    check: ModelCheck
    is_open: bool
    constants: Mapping[str, str] = field(default_factory=dict)

    @property
    def outputs(self) -> Sequence[TensorDescription]:
        """Of the model; what its files do not say of them, the conversion found out."""
        found = {tensor.name: tensor for tensor in self.check.outputs}
        return tuple(
            self._completed(tensor, found.get(tensor.name, tensor))
            for tensor in self.description.outputs
        )

    def _completed(
        self, tensor: TensorDescription, found: TensorDescription
    ) -> TensorDescription:
        shape = tensor.shape
        if shape is None:
            shape = self._in_words_of_files(found.shape)
        return TensorDescription(tensor.name, shape, tensor.dtype or found.dtype)

    def _in_words_of_files(self, shape: Shape | None) -> Shape | None:
        """Without names of dimensions that only the conversion gave."""
        if shape is None:
            return None
        inputs = (tensor.shape or () for tensor in self.description.inputs)
        names = {dim for dims in inputs for dim in dims if isinstance(dim, str)}
        return tuple(
            None if isinstance(dim, str) and dim not in names else dim for dim in shape
        )


# Raised when a member changes its meaning.
_VERSION = 1
# Devices that do not compute in floats.
_INTEGERS_ONLY = frozenset({"HEXAGON"})
_HEADING = ("#", "operator", "node", "becomes", "output", "MMAC", "KB", "devices")
_TO_RIGHT = ("#", "MMAC", "KB")
_INDENT = "      "
_BECOMES = {
    Outcome.CONVERTED: "a constant",
    Outcome.REFUSED: "NOT CONVERTED",
    Outcome.NOT_REACHED: "not checked",
}


def check_text(checks: Sequence[ModelCheck], only_problems: bool = False) -> str:
    """All models, one after the other."""
    return "\n".join(
        "".join(f"{line}\n" for line in _model(check, only_problems))
        for check in checks
    )


def check_json(
    library: str, checks: Sequence[ModelCheck], only_problems: bool = False
) -> str:
    """All models as one JSON object."""
    data = {
        "version": _VERSION,
        "library": library,
        "models": [_model_json(check, only_problems) for check in checks],
    }
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def _model(check: ModelCheck, only_problems: bool) -> Iterator[str]:
    yield f"{check.name} ({check.framework}, {check.source}):"
    if check.nodes:
        yield f"  {_summary(check)}"
    if check.problem:
        yield f"  {check.problem}"
    shown = list(_shown(check, only_problems))
    if not shown:
        return
    yield ""
    rows = [_cells(number, node) for number, node in shown]
    widths = [max(map(len, column)) for column in zip(_HEADING, *rows)]
    yield _line(_HEADING, widths)
    for (_, node), row in zip(shown, rows):
        yield _line(row, widths)
        if node.outcome is Outcome.REFUSED:
            yield f"{_INDENT}why: {node.reason}"
            if node.hint:
                yield f"{_INDENT}what helps: {node.hint}"


def _summary(check: ModelCheck) -> str:
    parts = [_counted(len(check.nodes), "node")]
    refused = check.count(Outcome.REFUSED)
    if refused:
        parts.append(f"{refused} cannot be converted")
    hidden = check.count(Outcome.NOT_REACHED)
    if hidden:
        parts.append(f"{hidden} behind them cannot be checked")
    if check.operators is not None:
        made = _counted(check.operators, "operator")
        parts.append(f"all can be converted, to {made}")
    macs = _total([op.macs for node in check.nodes for op in node.operators])
    if macs:
        parts.append(f"{macs / 1e6:.1f} million multiply-accumulates")
    return ", ".join(parts)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _shown(check: ModelCheck, only_problems: bool) -> Iterator[tuple[int, NodeEntry]]:
    for number, node in enumerate(check.nodes):
        if not only_problems or node.outcome is not Outcome.CONVERTED:
            yield number, node


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [
        cell.rjust(width) if name in _TO_RIGHT else cell.ljust(width)
        for cell, width, name in zip(row, widths, _HEADING)
    ]
    return "  ".join(cells).rstrip()


def _cells(number: int, node: NodeEntry) -> tuple[str, ...]:
    made = node.operators if node.outcome is Outcome.CONVERTED else ()
    macs, size = _total([op.macs for op in made]), _total([op.bytes for op in made])
    return (
        str(number),
        node.type,
        node.name,
        _becomes(made) or _BECOMES[node.outcome],
        format_shape(made[-1].shape) if made and made[-1].shape is not None else "",
        _figure(macs, 1e6, 2),
        _figure(size, 1e3, 1),
        " ".join(_devices(made)),
    )


def _becomes(made: Sequence[MadeOperator]) -> str:
    counts: dict[str, int] = {}
    for op in made:
        counts[op.type] = counts.get(op.type, 0) + 1
    return " + ".join(
        name if count == 1 else f"{count} {name}" for name, count in counts.items()
    )


def _devices(made: Sequence[MadeOperator]) -> list[str]:
    """Those that have kernels for all of the operators."""
    known = default_catalogue().devices
    return [
        device
        for device in (known[made[0].type] if made else ())
        if all(device in known[op.type] and _takes(device, op.types) for op in made)
    ]


def _takes(device: str, types: Sequence[DataType]) -> bool:
    return device not in _INTEGERS_ONLY or DataType.FLOAT32 not in types


def _total(figures: Sequence[int | None]) -> int | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if len(known) == len(figures) else None


def _figure(value: int | None, unit: float, digits: int) -> str:
    if value is None:
        return "?"
    return f"{value / unit:.{digits}f}" if value else ""


def _model_json(check: ModelCheck, only_problems: bool) -> dict[str, Any]:
    return {
        "model": check.name,
        "framework": check.framework,
        "source": check.source,
        "passed": check.passed,
        "problem": check.problem,
        "operators": check.operators,
        "nodes": [
            _node_json(number, node) for number, node in _shown(check, only_problems)
        ],
    }


def _node_json(number: int, node: NodeEntry) -> dict[str, Any]:
    return {
        "index": number,
        "node": node.name,
        "operator": node.type,
        "outcome": node.outcome.value,
        "reason": node.reason,
        "hint": node.hint,
        "devices": _devices(node.operators),
        "becomes": [
            {
                "operator": op.type,
                "types": [dtype.value for dtype in op.types],
                "shape": None if op.shape is None else list(op.shape),
                "macs": op.macs,
                "bytes": op.bytes,
            }
            for op in node.operators
        ],
    }


def check_deployment(
    deployment: Deployment,
    options: CheckOptions,
    stream: TextIO | None = None,
    opened: OpenedModels | None = None,
) -> bool:
    """Imports every model and prints what becomes of its nodes.

    Args:
        stream: where it is printed; None: standard output.
        opened: models that the command has opened already; None: none.

    Returns:
        Whether all models can be converted.

    Raises:
        MaceError: what is wrong in the request.
    """
    known = {"graph_optimize_options": sorted(item.name for item in all_passes())}
    check_effects(Command.CONVERT, deployment, options, known)
    models = tuple(deployment.models.values())
    checks = [
        check_model(model, source)
        for model, source in zip(models, fetch_each(models, opened))
    ]
    out = stream or sys.stdout
    if options.format == "json":
        out.write(check_json(deployment.library_name, checks, options.only_problems))
        out.flush()
    else:
        print_text(make_console(out), check_text(checks, options.only_problems))
    return all(check.passed for check in checks)


def check_model(model: ModelConfig, source: Source | MaceError) -> ModelCheck:
    """Imports a model, up to what the passes make of it.

    Args:
        source: its files, or why they cannot be had.
    """
    journal = Journal()
    operators: int | None = None
    outputs: tuple[TensorDescription, ...] = ()
    problem = ""
    try:
        if isinstance(source, MaceError):
            raise source
        graph, _ = import_model(model, source, journal=journal)
        operators = graph.op_count
        outputs = tuple(
            TensorDescription(
                value.source or value.name, value.source_shape, value.dtype
            )
            for value in graph.outputs
        )
    except UnsupportedNodesError:
        pass  # the journal has them
    except MaceError as error:
        problem = str(error)
    problem = "\n".join(filter(None, (problem, range_file_problem(model))))
    return ModelCheck(
        model.name,
        model.platform.value,
        model.model_file_path.location,
        tuple(journal.entries),
        operators,
        outputs,
        problem,
    )

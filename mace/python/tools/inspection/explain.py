# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds out where the operators of a deployment's models run, and why."""

from __future__ import annotations

import dataclasses
import io
import json
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from mace.python.tools.command_line.results import make_console, print_text
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.effect import Command, check_effects
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices.discover import EMULATOR, HOST
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.inspection.options import ExplainOptions
from mace.python.tools.report.placement import (
    BorderCopy,
    Copy,
    PlacedOperator,
    Placement,
    placement_of,
)
from mace.python.tools.report.results import ModelRun, RunReport
from mace.python.tools.run.deployment_run import run_models
from mace.python.tools.run.options import RunOptions

_LOG = logging.getLogger(__name__)

# Raised when a member changes its meaning.
_VERSION = 1
_INDENT = "      "
# What takes memory, with its name in the report.
_MEMORY = {
    "intermediate tensors": "arena",
    "states": "state",
    "weights": "constant",
    "weights copied or transformed": "prepared",
}


def explanation_text(report: RunReport) -> str:
    """All runs, one after the other."""
    return "\n".join("".join(f"{x}\n" for x in _run(run)) for run in report.runs)


def explanation_json(library: str, report: RunReport) -> str:
    """All runs as one JSON object."""
    data = {
        "version": _VERSION,
        "library": library,
        "runs": [_run_json(run) for run in report.runs],
    }
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def _run(run: ModelRun) -> Iterator[str]:
    where = f"{run.model} on {run.where}, runtime {run.runtime.value}"
    placement = placement_of(run.report)
    if run.failure:
        yield f"{where}: FAILED, {run.failure}"
    if placement is None:
        return
    if not run.failure:
        yield f"{where}:"
    yield f"  {_summary(placement)}"
    memory = memory_text(run.report)
    if memory:
        yield f"  memory: {memory}"
    if placement.border_copies is not None:
        yield f"  {_border(placement.border_copies)}"
        yield from (_border_copy(copy) for copy in placement.border_copies)
    for refusal in placement.left_out:
        yield f"  {refusal.device} is left out: {refusal.reason}"
    yield ""
    yield from _operators(placement)


def memory_text(report: Mapping[str, Any]) -> str:
    """What the engine took for a run; '' if it did not run."""
    memory = report.get("memory") or {}
    return ", ".join(
        f"{name} {memory[f'{key}_bytes'] / 1e6:.2f} MB"
        for name, key in _MEMORY.items()
        if memory.get(f"{key}_bytes")
    )


def _summary(placement: Placement) -> str:
    counts = placement.counts
    parts = [
        f"{count} operator{'' if count == 1 else 's'} on {device}"
        for device, count in counts.items()
    ]
    if len(counts) > 1 or placement.copies:
        copies = len(placement.copies)
        parts.append(
            f"{copies} {'copy' if copies == 1 else 'copies'} between devices "
            f"({placement.copied_bytes} bytes)"
        )
    if placement.estimated_us is not None:
        parts.append(f"estimated {_us(placement.estimated_us)}")
    if placement.measured_us is not None:
        parts.append(f"measured {_us(placement.measured_us)}")
    return ", ".join(parts)


def _operators(placement: Placement) -> Iterator[str]:
    operators = placement.operators
    hidden = set()
    if not any(op.subgraph for op in operators):
        hidden.add("subgraph")
    if all(op.measured_us is None for op in operators):
        hidden.add("measured")
    heading = (
        "#",
        "subgraph",
        "device",
        "estimated",
        "measured",
        "type",
        "operator",
        "kernel; output",
    )
    rows = [heading, *(_cells(op) for op in operators)]
    # Figures are read from the right.
    to_right = [heading.index(name) for name in ("#", "estimated", "measured")]
    shown = [i for i, name in enumerate(heading) if name not in hidden]
    widths = [max(len(row[i]) for row in rows) for i in range(len(heading))]

    def line(row: Sequence[str]) -> str:
        cells = [
            row[i].rjust(widths[i]) if i in to_right else row[i].ljust(widths[i])
            for i in shown
        ]
        return "  ".join(cells).rstrip()

    yield line(heading)
    for op, row in zip(placement.operators, rows[1:]):
        yield from (_copy(copy) for copy in placement.copies_before(op.index))
        yield line(row)
        for refusal in op.refusals:
            yield f"{_INDENT}not on {refusal.device}: {refusal.reason}"
    end = len(placement.operators)
    yield from (_copy(copy) for copy in placement.copies_before(end))


def _cells(op: PlacedOperator) -> tuple[str, ...]:
    how = "; ".join(text for text in (op.kernel, op.output, op.remark) if text)
    estimated, measured = _us(op.estimated_us), _us(op.measured_us)
    place = (str(op.index), op.subgraph, op.device)
    return (*place, estimated, measured, op.type, op.name, how)


def _copy(copy: Copy) -> str:
    size = f", {copy.size} bytes" if copy.size >= 0 else ""
    return f"{_INDENT}copy of {copy.tensor} from {copy.source} to {copy.target}{size}"


def _border(copies: Sequence[BorderCopy]) -> str:
    if not copies:
        return "inputs and outputs are used in place"
    count = f"{len(copies)} {'copy' if len(copies) == 1 else 'copies'}"
    return f"{count} of inputs and outputs ({sum(copy.size for copy in copies)} bytes)"


def _border_copy(copy: BorderCopy) -> str:
    kind = "output" if copy.is_output else "input"
    return f"{_INDENT}{kind} {copy.tensor}, {copy.size} bytes: {copy.reason}"


def _us(time: float | None) -> str:
    return "-" if time is None else f"{time:.1f} us"


def _run_json(run: ModelRun) -> dict[str, Any]:
    placement = placement_of(run.report) or Placement((), (), ())
    data = dataclasses.asdict(placement)
    for copy in data["copies"]:
        copy["from"], copy["to"] = copy.pop("source"), copy.pop("target")
        copy["bytes"], copy["before_operator"] = copy.pop("size"), copy.pop("before")
    for copy in data["border_copies"] or ():
        copy["bytes"] = copy.pop("size")
    return {
        "model": run.model,
        "device": run.device,
        "abi": run.abi.value,
        "runtime": run.runtime.value,
        "failure": run.failure,
        "estimated_us": placement.estimated_us,
        "measured_us": placement.measured_us,
        "memory": {
            f"{key}_bytes": run.report.get("memory", {}).get(f"{key}_bytes", 0)
            for key in _MEMORY.values()
        },
        **data,
    }


# The same processors and kernels, in programs that this computer can emulate.
_EMULATED = {Abi.ARM64_V8A: Abi.ARM64, Abi.ARMEABI_V7A: Abi.ARMHF}


def _without_devices(
    deployment: Deployment, options: RunOptions
) -> tuple[Deployment, RunOptions]:
    """The same for this computer and what it emulates, whatever is plugged in."""
    own = dict.fromkeys(_EMULATED.get(abi, abi) for abi in deployment.target_abis)
    _LOG.info(
        "planned for %s",
        ", ".join(
            abi.value + (f" (as {_EMULATED[abi].value})" if abi in _EMULATED else "")
            for abi in deployment.target_abis
        ),
    )
    here = tuple(HOST if abi is Abi.HOST else f"{EMULATOR}-{abi.value}" for abi in own)
    return (
        deployment.model_copy(update={"target_abis": tuple(own), "target_socs": ()}),
        dataclasses.replace(options, devices_to_run=here),
    )


def explain_deployment(
    deployment: Deployment,
    options: ExplainOptions,
    stream: TextIO | None = None,
    opened: OpenedModels | None = None,
) -> RunReport:
    """Runs every model on every device and prints where its operators ran, or, for
    `plan_only`, where they would run and what memory that takes.

    Unlike `run_deployment`, it asks for all devices that the deployment names, so
    that of one that is not there the reason is told.

    Args:
        stream: where it is printed; None: standard output.
        opened: models that the command has opened already; None: none.

    Raises:
        MaceError: what is missing or wrong in the request. Failed runs are in the
            report.
    """
    check_effects(Command.RUN, deployment, options)
    runtimes = {
        model.name: {part.name or "": part.runtime for part in model.subgraphs}
        for model in deployment.models.values()
    }
    run_options = options.run_options()
    if options.plan_only and not options.devices_to_run:
        deployment, run_options = _without_devices(deployment, run_options)
    # What `mace_run` prints of the run is not what was asked for.
    unseen = make_console(io.StringIO())
    done = run_models(deployment, run_options, unseen, runtimes, opened=opened)
    report = RunReport(tuple(done.runs))
    out = stream or sys.stdout
    if options.format == "json":
        out.write(explanation_json(deployment.library_name, report))
        out.flush()
    else:
        print_text(make_console(out), explanation_text(report))
    return report

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""On which device each operator ran, and why; from the report of `mace_run`."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mace.python.tools.export.graph_page import GraphPlaces, OperatorPlace


@dataclass(frozen=True)
class Refusal:
    """A device that does not run an operator, or the model, and why."""

    device: str
    reason: str


@dataclass(frozen=True)
class PlacedOperator:
    """One operator on its device.

    Attributes:
        subgraph: '' where the model has one only.
        kernel: '' where the device has no choice.
        output: types and shapes.
        remark: what else the device says of it, '' for nothing.
        estimated_us: with which the device was chosen; None where the model
            leaves shapes open.
        measured_us: median of a benchmark; None without one.
        refusals: of the devices that were wished for more.
    """

    index: int
    name: str
    type: str
    device: str
    kernel: str
    output: str
    remark: str
    estimated_us: float | None
    measured_us: float | None
    refusals: tuple[Refusal, ...]
    subgraph: str = ""


@dataclass(frozen=True)
class Copy:
    """A tensor that is copied from one device's memory to another's.

    Attributes:
        size: in bytes.
        before: index of the operator that it comes before.
    """

    tensor: str
    source: str
    target: str
    size: int
    before: int


@dataclass(frozen=True)
class BorderCopy:
    """An input or output that a run did not use in place, and why.

    Attributes:
        size: in bytes.
    """

    tensor: str
    is_output: bool
    size: int
    reason: str


@dataclass(frozen=True)
class Placement:
    """Where a model ran.

    Attributes:
        border_copies: None without a benchmark.
        left_out: devices that were asked for and are not there, or failed.
    """

    operators: tuple[PlacedOperator, ...]
    copies: tuple[Copy, ...]
    left_out: tuple[Refusal, ...]
    border_copies: tuple[BorderCopy, ...] | None = None

    @property
    def counts(self) -> Mapping[str, int]:
        """How many operators each device runs, in execution order."""
        return collections.Counter(op.device for op in self.operators)

    @property
    def copied_bytes(self) -> int:
        return sum(copy.size for copy in self.copies)

    @property
    def estimated_us(self) -> float | None:
        """The sum for all operators, if all have an estimate."""
        return _sum([op.estimated_us for op in self.operators])

    @property
    def measured_us(self) -> float | None:
        """The sum for all operators, if all were measured."""
        return _sum([op.measured_us for op in self.operators])

    def copies_before(self, index: int) -> tuple[Copy, ...]:
        """The copies right before an operator runs."""
        return tuple(copy for copy in self.copies if copy.before == index)


def placement_of(report: Mapping[str, Any]) -> Placement | None:
    """The placement of a run; None if the run ended before there was one."""
    found = report.get("placement")
    if found is None or not found["operators"]:
        return None
    measured = _measured(report)
    return Placement(
        operators=tuple(
            _operator(index, op, measured)
            for index, op in enumerate(found["operators"])
        ),
        copies=tuple(
            Copy(
                tensor=copy["tensor"],
                source=copy["from"],
                target=copy["to"],
                size=copy["bytes"],
                before=copy["before_operator"],
            )
            for copy in found["copies"]
        ),
        left_out=_refusals(found["left_out"]),
        border_copies=_border_copies(report),
    )


def graph_places(placement: Placement) -> GraphPlaces:
    """The same for a drawing of the graph."""
    return GraphPlaces(
        {(op.name, op.type): _graph_place(op) for op in placement.operators},
        {
            (copy.tensor, copy.source, copy.target): copy.size
            for copy in placement.copies
        },
    )


def _graph_place(op: PlacedOperator) -> OperatorPlace:
    details = {f"not on {refusal.device}": refusal.reason for refusal in op.refusals}
    details["kernel"] = "; ".join(filter(None, (op.kernel, op.remark)))
    times = {"measured": op.measured_us, "estimated": op.estimated_us}
    shown = {
        name: f"{time:.1f} \u00b5s" for name, time in times.items() if time is not None
    }
    box = ", ".join(f"{name} {time}" for name, time in shown.items())
    return OperatorPlace(op.device, box, {**details, **shown})


def _border_copies(report: Mapping[str, Any]) -> tuple[BorderCopy, ...] | None:
    # Releases before this member have reports without it.
    found = report.get("benchmark", {}).get("border_copies")
    if found is None:
        return None
    return tuple(
        BorderCopy(copy["tensor"], copy["is_output"], copy["bytes"], copy["reason"])
        for copy in found["tensors"]
    )


def _measured(report: Mapping[str, Any]) -> dict[tuple[str, str], list[float]]:
    """Median times in us by name and type, in execution order."""
    times = collections.defaultdict(list)
    for op in report.get("benchmark", {}).get("ops", ()):
        times[op["name"], op["type"]].append(1e3 * op["median_ms"])
    return times


def _operator(
    index: int, op: Mapping[str, Any], measured: dict[tuple[str, str], list[float]]
) -> PlacedOperator:
    # Names may be empty or occur twice: each operator gets the next time of its name.
    times = measured.get((op["name"], op["type"]))
    return PlacedOperator(
        index=index,
        name=op["name"],
        type=op["type"],
        device=op["device"],
        kernel=op["kernel"],
        output=op["output"],
        remark=op["remark"],
        estimated_us=op["estimated_us"] or None,
        measured_us=times.pop(0) if times else None,
        refusals=_refusals(op["refusals"]),
        subgraph=op.get("subgraph", ""),
    )


def _refusals(items: list[Mapping[str, str]]) -> tuple[Refusal, ...]:
    return tuple(Refusal(item["device"], item["reason"]) for item in items)


def _sum(times: list[float | None]) -> float | None:
    known = [time for time in times if time is not None]
    return sum(known) if known and len(known) == len(times) else None

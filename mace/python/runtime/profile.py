# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a model says of its operators: where they run, why, and how long they take."""

from __future__ import annotations

import ctypes
import html
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Callable

from mace.python.runtime.library import DEVICES, COperator, CStats, check, library

_NAMES = {number: name for name, number in DEVICES.items()}
# Of a table on a terminal.
_WIDEST_NAME = 40


@dataclass(frozen=True)
class OperatorInfo:
    """An operator of a loaded model.

    Attributes:
        name: in the model.
        type: ``"Conv2D"``.
        device: that runs it, ``"cpu"``, ``"gpu"``, ...
        kernel: how the device computes it; empty if it has no choice.
        output: types and shapes of the outputs; empty before a run knows them.
        remark: what else the device says; often empty.
        estimated_us: estimated time of a run in microseconds, by which the device was
            chosen; 0 if the model leaves shapes open.
    """

    name: str
    type: str
    device: str
    kernel: str
    output: str
    remark: str
    estimated_us: float


@dataclass(frozen=True)
class OperatorTime:
    """The times of an operator in the runs of a profile, in microseconds."""

    operator: OperatorInfo
    min_us: float
    median_us: float


@dataclass(frozen=True)
class Profile:
    """The times of a model's runs, which `print` and notebooks show as a table.

    Attributes:
        runs: how many were measured.
        operators: in the order of execution.
        min_us, median_us: of whole runs, in microseconds.
    """

    runs: int
    operators: tuple[OperatorTime, ...]
    min_us: float
    median_us: float

    def by_type(self) -> dict[str, float]:
        """The median times of each type of operator together, the longest first."""
        found: dict[str, float] = defaultdict(float)
        for item in self.operators:
            found[item.operator.type] += item.median_us
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    def _rows(self) -> Iterator[tuple[str, ...]]:
        whole = sum(item.median_us for item in self.operators) or 1.0
        yield ("type", "operator", "device", "median us", "min us", "share", "kernel")
        for item in self.operators:
            op = item.operator
            yield (
                op.type,
                op.name,
                op.device,
                f"{item.median_us:.1f}",
                f"{item.min_us:.1f}",
                f"{item.median_us / whole:.1%}",
                op.kernel,
            )

    def __str__(self) -> str:
        rows = [
            tuple(_cut(cell) if i == 1 else cell for i, cell in enumerate(row))
            for row in self._rows()
        ]
        widths = [max(map(len, column)) for column in zip(*rows)]
        to_right = range(3, 6)
        lines = [
            "  ".join(
                cell.rjust(width) if i in to_right else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(row, widths))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, f"{self._summary()}"])

    def _summary(self) -> str:
        return (
            f"a run takes {self.median_us:.1f} us, at least {self.min_us:.1f} us "
            f"({self.runs} runs)"
        )

    def _repr_html_(self) -> str:
        head, *rows = (
            "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
            for tag, row in zip(["th", *["td"] * len(self.operators)], self._rows())
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return (
            f"<table><caption>{self._summary()}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )


def _cut(name: str) -> str:
    """A name in few columns: its middle is left out, as the ends tell names apart."""
    if len(name) <= _WIDEST_NAME:
        return name
    half = (_WIDEST_NAME - 3) // 2
    return f"{name[:half]}...{name[-half:]}"


def operators_of(engine: ctypes.c_void_p) -> list[tuple[OperatorInfo, float]]:
    """The operators of an engine, each with its time in the last measured run, in
    microseconds; -1 if there was none.
    """
    found: list[tuple[OperatorInfo, float]] = []

    def visit(pointer: Any, _: object) -> None:
        op = pointer.contents
        texts = (op.name, op.type, op.kernel, op.output, op.remark)
        name, kind, kernel, output, remark = (
            text.decode("utf-8", "replace") for text in texts
        )
        device = _NAMES.get(op.device, str(op.device))
        info = OperatorInfo(
            name, kind, device, kernel, output, remark, op.estimated_nanos / 1e3
        )
        found.append((info, op.measured_nanos / 1e3))

    check(library().mace_engine_visit_operators(engine, COperator.VISITOR(visit), None))
    return found


def explanation_of(engine: ctypes.c_void_p) -> str:
    """The library's text on an engine."""
    found: list[bytes] = []
    write = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)
    check(
        library().mace_engine_explain(
            engine, write(lambda text, _: found.append(text)), None
        )
    )
    return b"".join(found).decode("utf-8", "replace")


def memory_of(engine: ctypes.c_void_p) -> dict[str, int]:
    """The bytes that an engine holds, by what they are for."""
    stats = CStats()
    check(library().mace_engine_get_stats(engine, ctypes.byref(stats)))
    return {
        "weights": stats.constant_bytes,
        "weights copied or transformed": stats.prepared_bytes,
        "intermediate tensors": stats.arena_bytes,
        "states": stats.state_bytes,
    }


def measured(
    run: Callable[[], float],
    read: Callable[[], Sequence[tuple[OperatorInfo, float]]],
    runs: int,
) -> Profile:
    """A profile of some runs.

    Args:
        run: runs once; returns the time of all, in seconds.
        read: the operators, with their times in that run, in microseconds.
    """
    whole: list[float] = []
    times: list[list[float]] = []
    infos: list[OperatorInfo] = []
    for _ in range(runs):
        whole.append(run() * 1e6)
        found = read()
        infos = [info for info, _ in found]
        times.append([time for _, time in found])
    operators = tuple(
        OperatorTime(info, min(column), statistics.median(column))
        for info, column in zip(infos, zip(*times))
    )
    return Profile(runs, operators, min(whole), statistics.median(whole))

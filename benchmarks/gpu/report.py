# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Prints what `benchmarks.gpu.run` measured, and keeps it for the page.

    python -m benchmarks.gpu.report RESULT.json [RESULT.json ...] [--record gpu]

Several results must be of different networks, of the same computer and commit.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.gpu.run import MACE, PEERS, STARTS, VERSION
from benchmarks.record import Record
from benchmarks.tables import Table, show

PROGRAM = "benchmarks.gpu.report"
LABELS = {
    "mace_fp16": "MACE fp16_fp32",
    "mace_fp32": "MACE fp32_fp32",
    "ncnn_vulkan": "ncnn fp32",
    "ncnn_vulkan_fp16": "ncnn fp16 storage",
    "ncnn_vulkan_fp16_arithmetic": "ncnn fp16 arithmetic",
    "litert_gpu": "LiteRT fp32",
    "litert_gpu_fp16": "LiteRT fp16",
}
_FP32 = ("ncnn_vulkan", "litert_gpu")
# The packages whose versions the page names.
_ENGINES = ("ncnn", "ai-edge-litert")
# Launches that a network may take, if there is a goal.
_LAUNCHES = {"mobilenet_v1": 20, "mobilenet_v2": 40, "resnet50": 56}
# From the context to the loaded model, in milliseconds.
_START_MS = {"cold": 1000.0, "cache": 500.0, "warm": 150.0}
_SIMILARITY = {"mace_fp16": 0.9999, "mace_fp32": 0.99999}
_MB = 1e6


class ResultError(Exception):
    """Results cannot be reported; the message says why."""


def _pair(values: list[float]) -> dict[str, float]:
    return {"minimum": min(values), "median": statistics.median(values)}


def _times(entry: dict[str, Any]) -> dict[str, float]:
    return {key: entry[key] for key in ("minimum", "median")}


def _starts(samples: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """By state of the caches: each time's minimum and median."""
    found: dict[str, Any] = {}
    for start, rows in samples.items():
        found[start] = {"first": _pair([row["first_ms"] for row in rows])}
        if "beyond_ms" in rows[0]:
            found[start]["beyond"] = _pair([row["beyond_ms"] for row in rows])
            context = [row["init_ms"] - row["beyond_ms"] for row in rows]
            found[start]["context"] = _pair(context)
            found[start]["programs"] = rows[0]["programs"]
            found[start]["programs_ms"] = min(row["programs_ms"] for row in rows)
    return found


def _memory(side: str, memory: dict[str, int]) -> dict[str, Any]:
    # The CPU computes in float in any case: in half, its plan would have half the size.
    scale = 0.5 if side == "mace_fp16" else 1.0
    names = ("anonymous", "cpu_anonymous", "context_anonymous")
    whole, cpu, context = (memory[name] for name in names)
    # Some kernels do not report it.
    host = (whole - cpu - context) / _MB if whole and cpu and context else None
    return {
        "stored_mb": memory["stored"] / _MB,
        "weights_mb": memory["weights"] / _MB,
        "arena_mb": memory["arena"] / _MB,
        "cpu_arena_mb": memory["cpu_arena"] * scale / _MB,
        "context_mb": context / _MB,
        "host_mb": host,
    }


def _side(side: str, entry: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "times": _times(entry["times"]),
        "similarity": entry["similarity"],
        "starts": _starts(entry["starts"]),
    }
    if side in MACE:
        found["launches"] = entry["launches"]
        found["on_cpu"] = len(entry["on_cpu"])
        found["floor"] = _times(entry["floor"])
        found["memory"] = _memory(side, entry["memory"])
    return found


def condense(results: list[dict[str, Any]]) -> Record:
    """The record of results.

    Raises:
        ResultError: they do not fit together, or another version wrote them.
    """
    first = results[0]
    networks: dict[str, Any] = {}
    gpus = set()
    for result in results:
        if result["version"] != VERSION:
            raise ResultError(f"version {result['version']}, expected {VERSION}")
        for key in ("machine", "commit", "settings"):
            if result[key] != first[key]:
                raise ResultError(f"different {key}: {result[key]}, {first[key]}")
        for name, found in result["networks"].items():
            if name in networks:
                raise ResultError(f"{name} was measured twice")
            # A side without times failed between its turns.
            sides = {
                side: _side(side, entry)
                for side, entry in found["sides"].items()
                if "times" in entry
            }
            networks[name] = {"sides": sides, "absent": found["absent"]}
            if "gpu" in found:
                gpus.add(f"{found['gpu']['device']}, driver {found['gpu']['driver']}")
    if len(gpus) > 1:
        raise ResultError(f"different GPUs: {sorted(gpus)}")
    versions = {key: value for r in results for key, value in r["versions"].items()}
    return Record(
        PROGRAM,
        ", ".join([*gpus, first["machine"]]),
        first["date"],
        first["commit"],
        {name: versions[name] for name in _ENGINES if name in versions},
        {"settings": first["settings"], "networks": networks},
    )


@dataclass
class Goal:
    """A goal over all networks, with the worst of them.

    Attributes:
        least: whether the measured value must be at least the limit; else at most.
        digits: of the numbers.
    """

    name: str
    limit: float
    least: bool = False
    digits: int = 2
    worst: float | None = None
    where: str = ""

    def add(self, where: str, value: float) -> None:
        """Takes part in the worst."""
        worse = self.worst is None or (
            value < self.worst if self.least else value > self.worst
        )
        if worse:
            self.worst, self.where = value, where

    def row(self) -> tuple[str, ...]:
        """Cells for the table."""
        sign = "≥" if self.least else "≤"
        limit = f"{sign} {self.limit:.{self.digits}f}"
        if self.worst is None:
            return (self.name, "", "not measured", limit, "-")
        met = self.worst >= self.limit if self.least else self.worst <= self.limit
        answer = "yes" if met else "no"
        return (self.name, answer, self.where, limit, f"{self.worst:.{self.digits}f}")


def best(sides: dict[str, Any], among: tuple[str, ...]) -> float | None:
    """The least minimum of some sides; None if none of them was measured."""
    times = [sides[side]["times"]["minimum"] for side in among if side in sides]
    return min(times) if times else None


def ratio(sides: dict[str, Any], own: tuple[str, ...], peers: tuple[str, ...]) -> Any:
    """The best time of MACE, divided by the best of the others; or None."""
    mine, other = best(sides, own), best(sides, peers)
    return None if mine is None or other is None else mine / other


def _cell(times: dict[str, float], digits: int = 2) -> str:
    return f"{times['minimum']:.{digits}f} ({times['median']:.{digits}f})"


def _ratio_cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _time_table(data: Any) -> Table:
    settings = data["settings"]
    labels = [LABELS[side] for side in (*MACE, *PEERS)]
    table = Table(
        "time",
        f"ms per inference, host to host, minimum (median) of {settings['rounds']} "
        f"turns of {settings['runs']} runs",
        ("network", *labels, "best / best peer", "fp32 / best fp32 peer"),
    )
    for name, network in data["networks"].items():
        sides = network["sides"]
        cells = [
            _cell(sides[side]["times"], 3) if side in sides else "-"
            for side in (*MACE, *PEERS)
        ]
        table.add(
            name,
            *cells,
            _ratio_cell(ratio(sides, tuple(MACE), tuple(PEERS))),
            _ratio_cell(ratio(sides, ("mace_fp32",), _FP32)),
        )
    return table


def _own(data: Any) -> Iterator[tuple[str, str, Any]]:
    for name, network in data["networks"].items():
        for side in MACE:
            if side in network["sides"]:
                yield name, side, network["sides"][side]


def _floor_table(data: Any) -> Table:
    table = Table(
        "floor",
        "MACE compared with the floor: write, as many empty kernels, read; ms",
        (
            *("network", "data type", "launches", "operators on the CPU"),
            *("MACE", "floor", "MACE / floor"),
        ),
        labels=2,
    )
    for name, side, entry in _own(data):
        table.add(
            name,
            MACE[side],
            str(entry["launches"]),
            str(entry["on_cpu"]),
            _cell(entry["times"], 3),
            _cell(entry["floor"], 3),
            f"{entry['times']['minimum'] / entry['floor']['minimum']:.2f}",
        )
    return table


def _start_table(data: Any) -> Table:
    table = Table(
        "start",
        "MACE in a fresh process, ms, minimum (median)",
        (
            *("network", "data type", "caches", "context", "beyond it"),
            *("of it programs", "their number", "first run"),
        ),
        labels=3,
    )
    for name, side, entry in _own(data):
        for start in STARTS:
            if start not in entry["starts"]:
                continue
            found = entry["starts"][start]
            table.add(
                name,
                MACE[side],
                start,
                _cell(found["context"], 0),
                _cell(found["beyond"], 0),
                f"{found['programs_ms']:.0f}",
                str(found["programs"]),
                _cell(found["first"], 1),
            )
    return table


def _peer_start_table(data: Any) -> Table:
    table = Table(
        "peer_start",
        "other engines in a fresh process, ms from the file to the first result, with "
        "the context, minimum (median)",
        ("network", "engine", "driver's cache off", "driver's cache warm"),
        labels=2,
    )
    for name, network in data["networks"].items():
        for side, entry in network["sides"].items():
            if side in PEERS:
                starts = entry["starts"]
                cells = (_cell(starts[s]["first"], 0) for s in ("cold", "warm"))
                table.add(name, LABELS[side], *cells)
    return table


def _memory_table(data: Any) -> Table:
    table = Table(
        "memory",
        "memory of MACE, MB: weights in the file and on the GPU; intermediate tensors "
        "there and in the CPU's plan, in the same type; memory of the process that no "
        "file backs, for the driver's context and beyond the CPU engine's and that",
        (
            *("network", "data type", "weights", "on the GPU", "ratio"),
            *("arena", "CPU's plan", "ratio", "context", "host"),
        ),
        labels=2,
    )
    for name, side, entry in _own(data):
        m = entry["memory"]
        table.add(
            name,
            MACE[side],
            f"{m['stored_mb']:.2f}",
            f"{m['weights_mb']:.2f}",
            f"{m['weights_mb'] / m['stored_mb']:.3f}",
            f"{m['arena_mb']:.2f}",
            f"{m['cpu_arena_mb']:.2f}",
            f"{m['arena_mb'] / m['cpu_arena_mb']:.2f}",
            f"{m['context_mb']:.1f}",
            "-" if m["host_mb"] is None else f"{m['host_mb']:.1f}",
        )
    return table


def _goals(data: Any) -> Table:
    table = Table(
        "goals",
        "goals",
        ("goal", "met", "where", "limit", "measured"),
        labels=3,
    )
    goals = [
        Goal("time / best peer's, worst", 0.80),
        Goal("fp32 time / best fp32 peer's, worst", 0.80),
    ]
    for name, network in data["networks"].items():
        sides = network["sides"]
        for value, goal in (
            (ratio(sides, tuple(MACE), tuple(PEERS)), goals[0]),
            (ratio(sides, ("mace_fp32",), _FP32), goals[1]),
        ):
            if value is not None:
                goal.add(name, value)
    for name, limit in _LAUNCHES.items():
        goal = Goal(f"launches of {name}", limit, digits=0)
        for network, side, entry in _own(data):
            if network == name:
                goal.add(MACE[side], entry["launches"])
        goals.append(goal)
    for start, most in _START_MS.items():
        goal = Goal(f"ms beyond the context, {start}, worst", most, digits=0)
        for name, side, entry in _own(data):
            beyond = entry["starts"][start]["beyond"]["minimum"]
            goal.add(f"{name}, {MACE[side]}", beyond)
        goals.append(goal)
    limits: list[tuple[Goal, Callable[[Any], Any]]] = [
        (
            Goal("weights on the GPU / stored, worst", 1.02, digits=3),
            lambda e: e["memory"]["weights_mb"] / e["memory"]["stored_mb"],
        ),
        (
            Goal("arena / the CPU's plan, worst", 1.10),
            lambda e: e["memory"]["arena_mb"] / e["memory"]["cpu_arena_mb"],
        ),
        (
            Goal("host MB beyond the CPU engine, worst", 5.0, digits=1),
            lambda e: e["memory"]["host_mb"],
        ),
    ]
    for goal, measure in limits:
        for name, side, entry in _own(data):
            value = measure(entry)
            if value is not None:
                goal.add(f"{name}, {MACE[side]}", value)
        goals.append(goal)
    for own_side, least in _SIMILARITY.items():
        goal = Goal(f"similarity of {MACE[own_side]}, worst", least, True, digits=6)
        for name, side, entry in _own(data):
            if side == own_side:
                goal.add(name, entry["similarity"])
        goals.append(goal)
    for goal in goals:
        table.add(*goal.row())
    return table


def _remarks(data: Any) -> Table:
    table = Table("remarks", "not measured", ("engine", "networks", "reason"), labels=3)
    reasons: dict[tuple[str, str], list[str]] = {}
    for name, network in data["networks"].items():
        for side, reason in network["absent"].items():
            reasons.setdefault((side, reason), []).append(name)
    for (side, reason), names in reasons.items():
        table.add(LABELS[side], ", ".join(names), reason)
    return table


def _outputs(data: Any) -> Table:
    table = Table(
        "outputs",
        "cosine similarity to MACE on the CPU in fp32",
        ("network", *(LABELS[side] for side in (*MACE, *PEERS))),
    )
    for name, network in data["networks"].items():
        sides = network["sides"]
        cells = [
            f"{sides[side]['similarity']:.6f}" if side in sides else "-"
            for side in (*MACE, *PEERS)
        ]
        table.add(name, *cells)
    return table


def tables(data: Any) -> list[Table]:
    """All tables of a record."""
    return [
        make(data)
        for make in (
            _goals,
            _time_table,
            _floor_table,
            _start_table,
            _peer_start_table,
            _memory_table,
            _outputs,
            _remarks,
        )
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("results", type=Path, nargs="+")
    record.add_arguments(parser)
    args = parser.parse_args()
    output = record.recorder(PROGRAM, args)
    try:
        results = [
            json.loads(path.read_text(encoding="utf-8")) for path in args.results
        ]
        made = condense(results)
    except (ResultError, KeyError, ValueError) as error:
        record.refuse(f"no result of benchmarks.gpu.run: {error}")
    if args.commit:
        made = replace(made, commit=args.commit)
    show(made.tables(), output.console)
    output.console.print(made.origin(), markup=False, highlight=False)
    if output.path:
        record.write(made, output.path)
        output.console.print(f"written: {output.path}", markup=False)


if __name__ == "__main__":
    main()

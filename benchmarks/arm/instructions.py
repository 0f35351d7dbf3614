# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Instructions per inference on ARM, beside other engines.

    python -m benchmarks.arm.instructions --mace_run PROGRAM

Exit status 1 if MACE failed or its output is off by more than 1e-4, in fp16 by
more than 0.03.
"""

from __future__ import annotations

import argparse
import json
import math
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.arm.emulator import CPUS, EmulationError, missing_tools
from benchmarks.arm.engines import (
    LACKS_FP16,
    MACE,
    PEERS,
    PEERS_ROOT,
    Array,
    Measurement,
    measure_mace,
    measure_peer,
    reference_output,
)
from benchmarks.networks import DIRECTORY, NAMES, Network, make_network
from benchmarks.peers.formats import FormatError, require_engines
from mace.python.tools.atomic import atomic_write

_NETWORKS = ("mobilenet_v1", "mobilenet_v2", "squeezenet", "resnet50")
# Of the largest output.
_TOLERANCES = {"mace": 1e-4, "mace_fp16": 0.03}
_RESULTS = DIRECTORY / "arm/instructions.json"
_MACHINES = {183: ("cortex-a76", "cortex-a53"), 40: ("cortex-a15",)}


def main() -> None:
    """Measures, prints a table per processor, writes the results as JSON."""
    options = _parse()
    cpus = options.cpu or _cpus_of(options.mace_run)
    _require(missing_tools(cpus))
    if options.engine:
        require_engines()
        if not (PEERS_ROOT / "installed.txt").exists():
            _require(["the engines are missing: bash benchmarks/arm/setup.sh"])
    results = []
    for name in options.network:
        network = make_network(name)
        expected = reference_output(network)
        for cpu in cpus:
            ours = MACE if cpu not in LACKS_FP16 else ("mace",)
            for engine in (*ours, *options.engine):
                case = _Case(engine, cpu, network, expected)
                results.append(_measure(case, options.mace_run))
                print(json.dumps(results[-1]), file=sys.stderr, flush=True)
    failed = any(
        not r.get("error", math.inf) <= _TOLERANCES[r["engine"]]
        for r in results
        if r["engine"] in _TOLERANCES
    )
    with atomic_write(_RESULTS) as stream:
        stream.write(json.dumps(results, indent=1).encode())
    for cpu in cpus:
        Console().print(_table(cpu, [r for r in results if r["cpu"] == cpu]))
    raise SystemExit(1 if failed else 0)


@dataclass(frozen=True)
class _Case:
    engine: str
    cpu: str
    network: Network
    expected: Array


def _measure(case: _Case, mace_run: Path) -> dict[str, Any]:
    """A row of the results; one that failed says why."""
    row = {"cpu": case.cpu, "engine": case.engine, "network": case.network.name}
    arguments = (case.cpu, case.network, case.expected)
    try:
        if case.engine in MACE:
            measured = measure_mace(mace_run, *arguments, data_type=MACE[case.engine])
        else:
            measured = measure_peer(case.engine, *arguments)
    except (EmulationError, FormatError) as error:
        return {**row, "failed": str(error)}
    return {**row, **_report(measured)}


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--mace_run", type=Path, required=True, help="built for the ARM to count on"
    )
    parser.add_argument(
        "--cpu", nargs="+", choices=CPUS, help="default: those that mace_run is for"
    )
    parser.add_argument("--network", nargs="+", choices=NAMES, default=_NETWORKS)
    parser.add_argument(
        "--engine", nargs="+", choices=PEERS, default=[], help="others to count"
    )
    return parser.parse_args()


def _require(missing: list[str]) -> None:
    if missing:
        sys.stderr.write("\n".join(missing) + "\n")
        raise SystemExit(2)


def _cpus_of(program: Path) -> tuple[str, ...]:
    try:
        with program.open("rb") as stream:
            head = stream.read(20)
    except OSError as error:
        _require([f"--mace_run {program}: {error.strerror}"])
    machine = struct.unpack_from("<H", head, 18)[0] if len(head) == 20 else 0
    if head[:4] != b"\x7fELF" or machine not in _MACHINES:
        _require(
            [
                f"--mace_run {program} is no program for ARM Linux: "
                "bazel build --config=arm64 //mace/tools:mace_run"
            ]
        )
    return _MACHINES[machine]


def _report(measured: Measurement) -> dict[str, Any]:
    counts = measured.counts
    return {
        "millions": round(counts.total / 1e6, 3),
        "multiply_add_share": round(counts.share, 4),
        "error": measured.error,
        "classes": {k: round(v) for k, v in vars(counts).items() if round(v)},
    }


def _table(cpu: str, results: list[dict[str, Any]]) -> Table:
    table = Table(title=f"{cpu}: million instructions per inference (multiply-adds)")
    table.add_column("engine")
    networks = list(dict.fromkeys(r["network"] for r in results))
    for network in networks:
        table.add_column(network, justify="right")
    for engine in dict.fromkeys(r["engine"] for r in results):
        cells = {r["network"]: _cell(r) for r in results if r["engine"] == engine}
        table.add_row(engine, *(cells[network] for network in networks))
    return table


def _cell(result: dict[str, Any]) -> str:
    if "failed" in result:
        return "failed"
    text = f"{result['millions']:.1f}"
    share = result["multiply_add_share"]
    return f"{text} ({share:.0%})" if share else text


if __name__ == "__main__":
    main()

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Where each operator of a network stands below the processor's peak.

    python -m benchmarks.roofline [--model resnet50] [--threads 1]

`mace_run` measures the peak rates of multiply-adds and of memory in the same
process as the operators. An operator can't take less than the longer of the two
times that they allow for its multiply-adds and for the bytes that it must read
and write; `bound` says which, and the last column how near it came. Winograd
convolutions do fewer multiply-adds than are counted, and may exceed 100 %.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.networks import NAMES, ROOT, Network, make_network

MACE_RUN = ROOT / "bazel-bin/mace/tools/mace_run"


@dataclass(frozen=True)
class Row:
    """An operator: its time, and the least time that the peaks allow."""

    name: str
    kind: str
    shape: str
    ms: float
    gmacs: float
    compute_ms: float
    memory_ms: float

    @property
    def bound(self) -> str:
        """What would limit it at the peak."""
        return "compute" if self.compute_ms >= self.memory_ms else "memory"

    @property
    def share(self) -> float:
        """The least possible time over the measured one."""
        return max(self.compute_ms, self.memory_ms) / self.ms


def rows(report: dict[str, Any]) -> list[Row]:
    """Operators of a report that `mace_run --report_json` wrote."""
    peak = report["peak"]
    macs_per_ms = peak["gflops"] / 2 * 1e6
    # What lies in the caches is read faster than from memory: the rate of
    # data that fits them bounds from below.
    bytes_per_ms = peak["cache_gbytes_per_s"] * 1e6
    found = []
    for op in report["benchmark"]["ops"]:
        ms = op["min_ms"]
        if ms <= 0:
            continue
        found.append(
            Row(
                name=op["name"],
                kind=op["type"],
                shape=str(op["output_shape"][0]),
                ms=ms,
                gmacs=op["macs"] / ms / 1e6,
                compute_ms=op["macs"] / macs_per_ms,
                memory_ms=op["bytes"] / bytes_per_ms,
            )
        )
    return found


def measure(program: Path, network: Network, threads: int) -> dict[str, Any]:
    """Runs `mace_run`; SystemExit with its message if it fails."""
    if not program.exists():
        raise SystemExit(
            f"{program} is missing: bazel build //mace/tools:mace_run, or name "
            "another by --mace_run"
        )
    n, c, h, w = network.input_shape
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            str(program),
            f"--model_file={network.mace}.pb",
            f"--model_data_file={network.mace}.data",
            f"--input_node={network.input_name}",
            f"--input_shape={n},{h},{w},{c}",
            f"--output_node={network.output_name}",
            "--output_shape=1,1000",
            f"--num_threads={threads}",
            "--cpu_affinity_policy=0",
            "--benchmark",
            "--measure_peak",
            "--max_seconds=5",
            f"--report_json={report}",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        result: dict[str, Any] = json.loads(report.read_text())
    return result


def show(found: list[Row], report: dict[str, Any], console: Console) -> None:
    """Prints one line per operator and the sum."""
    peak = report["peak"]
    table = Table(
        title=f"peak: {peak['gflops'] / 2:.0f} GMAC/s, "
        f"{peak['cache_gbytes_per_s']:.0f} GB/s in cache, "
        f"{peak['gbytes_per_s']:.0f} GB/s of memory"
    )
    for title in ("operator", "output", "bound"):
        table.add_column(title, no_wrap=True)
    for title in ("ms", "GMAC/s", "of peak"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in found:
        table.add_row(
            row.kind,
            row.shape,
            row.bound,
            f"{row.ms:.3f}",
            f"{row.gmacs:.1f}",
            f"{row.share:.0%}",
        )
    total = sum(row.ms for row in found)
    least = sum(max(row.compute_ms, row.memory_ms) for row in found)
    table.add_section()
    table.add_row("all", "", "", f"{total:.3f}", "", f"{least / total:.0%}")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--model", choices=NAMES, default="resnet50")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--mace_run", type=Path, default=MACE_RUN)
    args = parser.parse_args()
    report = measure(args.mace_run, make_network(args.model), args.threads)
    show(rows(report), report, Console())


if __name__ == "__main__":
    main()

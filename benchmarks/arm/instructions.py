# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Instructions per inference on ARM, compared with other engines.

    python -m benchmarks.arm.instructions --mace_run PROGRAM

Counts are saved in build/benchmarks/arm/instructions.json and reused as long as
program, engines and network are unchanged.

Exit status 1 if MACE failed or its output is wrong, see verdict.py.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.arm import scores
from benchmarks.arm.emulator import CPUS, EmulationError, missing_tools
from benchmarks.arm.engines import (
    LACKS_FP16,
    MACE,
    PEERS,
    Array,
    Measurement,
    arithmetic,
    is_packaged,
    measure_mace,
    measure_peer,
    missing_packages,
    network_for,
    output_step,
    reference_output,
)
from benchmarks.arm.scores import failure
from benchmarks.networks import DIRECTORY, NAMES, Network, make_network
from benchmarks.peers.formats import FormatError, require_engines
from benchmarks.record import add_arguments, recorder
from benchmarks.tables import Table
from mace.python.tools.atomic import atomic_write

_NETWORKS = ("mobilenet_v1", "mobilenet_v2", "squeezenet", "resnet50")
_RESULTS = DIRECTORY / "arm/instructions.json"
_MACHINES = {183: ("cortex-a76", "cortex-a53"), 40: ("cortex-a15",)}
_LIST = Path(__file__).resolve().parent / "requirements.txt"
_PACKAGES = {
    "onnxruntime": "onnxruntime",
    "litert": "ai-edge-litert",
    "ncnn": "ncnn",
    "mnn": "MNN",
}
_PRODUCTS = {
    "onnxruntime": "ONNX Runtime",
    "litert": "LiteRT",
    "ncnn": "ncnn",
    "mnn": "MNN",
}


def tables(data: Any) -> list[Table]:
    """The tables of a record of this program."""
    return scores.tables(data)


def main() -> None:
    """Counts, and shows a table per processor."""
    options = _parse()
    programs = _programs(options.mace_run, options.cpu)
    output = recorder("benchmarks.arm.instructions", options)
    _require(missing_tools(list(programs)))
    if set(options.engine) - set(MACE):
        require_engines()
        _require(missing_packages(programs))
    cases = []
    for name in options.network:
        known: dict[bool, tuple[Network, Array]] = {}  # by whether it is quantized
        network = make_network(name)
        for engine in options.engine:
            kind = arithmetic(engine) == "int8"
            if kind not in known:
                own = network_for(engine, network)
                known[kind] = own, reference_output(own)
            for cpu, program in programs.items():
                if _runs_on(engine, cpu):
                    cases.append(_Case(engine, cpu, *known[kind], program))
    kept = _Kept(_RESULTS)
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(kept.measure, cases))
    output.finish({"rows": results}, _versions(options.engine))
    failures = [text for text in map(failure, results) if text]
    sys.stderr.writelines(f"{text}\n" for text in failures)
    raise SystemExit(1 if failures else 0)


@dataclass(frozen=True)
class _Case:
    engine: str
    cpu: str
    network: Network
    expected: Array
    program: Path  # mace_run

    def stamp(self) -> str:
        """A checksum of everything that affects the count."""
        files = [self.network.onnx]
        if self.engine in MACE:
            files += [self.network.mace.with_suffix(".pb"), self.program]
        else:
            files.append(_LIST)
            made = self.network.files.get(PEERS[self.engine])
            if made is not None:
                files.append(made if made.suffix else made.with_suffix(".bin"))
        digest = hashlib.sha256(f"{self.engine} {self.cpu}".encode())
        for file in files:
            digest.update(file.read_bytes())
        return digest.hexdigest()


class _Kept:
    """Saved rows by stamp, in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows = self._stored()

    def _stored(self) -> dict[str, Any]:
        try:
            rows: dict[str, Any] = json.loads(self._path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        # Rows in an older format lack what MACE's result is checked with.
        return {
            stamp: row
            for stamp, row in rows.items()
            if row["engine"] not in MACE or "similarity" in row
        }

    def measure(self, case: _Case) -> dict[str, Any]:
        """A row of the results; a row of a failure says why, and is not saved."""
        stamp = case.stamp()
        if stamp not in self._rows:
            row = _measure(case)
            sys.stderr.write(json.dumps(row) + "\n")
            if "failed" in row:
                return row
            # Other processes may be counting at the same time.
            self._rows = {**self._stored(), **self._rows, stamp: row}
            with atomic_write(self._path, "w") as stream:
                stream.write(json.dumps(self._rows, indent=1))
        row = self._rows[stamp]
        return dict(row)


def _measure(case: _Case) -> dict[str, Any]:
    row: dict[str, Any] = {
        "cpu": case.cpu,
        "engine": case.engine,
        "network": case.network.name,
    }
    arguments = (case.cpu, case.network, case.expected)
    try:
        if case.engine in MACE:
            kind = MACE[case.engine]
            measured = measure_mace(case.program, *arguments, data_type=kind)
        else:
            measured = measure_peer(case.engine, *arguments)
    except (EmulationError, FormatError) as error:
        return {**row, "failed": str(error)}
    row |= _report(measured)
    if arithmetic(case.engine) == "int8":
        step = output_step(case.network)
        row["steps"] = round(measured.agreement.max_abs_error / step, 2)
    return row


def _runs_on(engine: str, cpu: str) -> bool:
    if engine.endswith("_fp16") and cpu in LACKS_FP16:
        return False
    return engine in MACE or is_packaged(engine, cpu)


def _versions(engines: list[str]) -> dict[str, str]:
    """The versions of the other engines, as setup.sh installs them."""
    pinned = dict(
        line.split("==")
        for line in _LIST.read_text(encoding="utf-8").splitlines()
        if "==" in line
    )
    used = {engine.partition("_")[0] for engine in engines}
    return {
        _PRODUCTS[name]: pinned[package]
        for name, package in _PACKAGES.items()
        if name in used
    }


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--mace_run",
        type=Path,
        nargs="+",
        required=True,
        help="built for arm64, for 32-bit ARM, or one of each",
    )
    parser.add_argument(
        "--cpu", nargs="+", choices=CPUS, help="default: those that mace_run is for"
    )
    parser.add_argument("--network", nargs="+", choices=NAMES, default=_NETWORKS)
    parser.add_argument(
        "--engine",
        nargs="+",
        choices=(*MACE, *PEERS),
        default=["mace", "mace_fp16"],
        help="default: MACE in fp32 and fp16",
    )
    parser.add_argument(
        "--jobs", type=int, default=1, help="how many to count at the same time"
    )
    add_arguments(parser)
    return parser.parse_args()


def _require(missing: list[str]) -> None:
    if missing:
        sys.stderr.write("\n".join(missing) + "\n")
        raise SystemExit(2)


def _programs(programs: list[Path], cpus: list[str] | None) -> dict[str, Path]:
    """The program for each processor."""
    found = {cpu: program for program in programs for cpu in _cpus_of(program)}
    for cpu in cpus or ():
        if cpu not in found:
            _require([f"--cpu {cpu}: no --mace_run is built for it"])
    return {cpu: found[cpu] for cpu in cpus or found}


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
        "error": measured.agreement.max_rel_error,
        "similarity": measured.agreement.similarity,
    }


if __name__ == "__main__":
    main()

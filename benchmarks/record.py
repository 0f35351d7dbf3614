# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Saved results for the page, with their origin. A program that measures has `--record
NAME`, which saves its measurements as `benchmarks/results/NAME.json`, with the machine,
the date and the commit. Its function `tables(data)` makes tables of them.
`benchmarks.page` writes these to the page, so that no figure is typed by hand.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console

from benchmarks.peers.processor import PROCESSORS
from benchmarks.tables import Table, show
from mace.python.tools.atomic import atomic_write

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks/results"
# Of a line in a record.
_WIDEST = 1000
_NAME = re.compile(r"[a-z0-9_]+")
# Changes to these files do not affect measurements.
_NO_CODE = (":!docs", ":!benchmarks/results", ":!*.md")


class RecordError(Exception):
    """A record cannot be read; the message says what to do."""


class NoRecordError(RecordError):
    """The record does not exist."""


@dataclass(frozen=True)
class Record:
    """One run of a program.

    Attributes:
        program: its module, which has `tables(data)`.
        machine: processor and how many of it, see `machine()`.
        date: of the run, UTC, as 2026-11-21.
        commit: of the sources; with "+" if they were changed since.
        versions: of what MACE was compared with, by name.
        data: what the program measured, as JSON has it.
    """

    program: str
    machine: str
    date: str
    commit: str
    versions: dict[str, str]
    data: Any

    def tables(self) -> list[Table]:
        """The tables, as the program prints them."""
        made: list[Table] = importlib.import_module(self.program).tables(self.data)
        return made

    def origin(self) -> str:
        """A line that names the origin of the figures."""
        versions = [f"{name} {version}" for name, version in self.versions.items()]
        parts = [
            f"`{self.program}`",
            self.machine,
            f"{self.date}, commit {self.commit}",
            ", ".join(versions),
        ]
        return "; ".join(part for part in parts if part)


def read(name: str, folder: Path = RESULTS) -> Record:
    """Reads a record. RecordError if it is missing or invalid."""
    path = folder / f"{name}.json"
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        return Record(**fields)
    except FileNotFoundError:
        raise NoRecordError(
            f"{path} is missing: run the program with --record {name}"
        ) from None
    except (TypeError, ValueError) as error:
        raise RecordError(f"{path} is no record: {error}") from None


def write(record: Record, path: Path) -> None:
    """Saves a record, one entry a line."""
    with atomic_write(path, "w") as stream:
        stream.write(_lines(asdict(record)) + "\n")


def _lines(data: Any, indent: str = "") -> str:
    """JSON in which what fits is on one line."""
    whole = json.dumps(data)
    if len(whole) <= _WIDEST or not isinstance(data, (dict, list)):
        return whole
    inner = indent + " "
    if isinstance(data, dict):
        parts = [f"{json.dumps(k)}: {_lines(v, inner)}" for k, v in data.items()]
    else:
        parts = [_lines(item, inner) for item in data]
    first, last = "{}" if isinstance(data, dict) else "[]"
    body = ",\n".join(inner + part for part in parts)
    return f"{first}\n{body}\n{indent}{last}"


# From the newest: flags of /proc/cpuinfo, and the word for kernels that use them.
_INSTRUCTIONS = (
    ("amx_int8", "AMX"),
    ("avx512_bf16", "AVX-512 BF16"),
    ("avx512_vnni", "AVX-512 VNNI"),
    ("avx512f", "AVX-512"),
    ("avx_vnni", "AVX-VNNI"),
    ("avx2", "AVX2"),
    ("sse4_1", "SSE4.1"),
)
_CLASS = re.compile(r"model \d+; ([^)]+)\)")


def instructions_of(text: str) -> str:
    """The best vector instructions of the processor that `machine` named; or "CPU"."""
    found = _CLASS.search(text)
    return found[1] if found else "CPU"


def machine(limit: str | None = None, clock: str = "wall") -> str:
    """The processor with its vector instructions, how many this process may use, and
    the system.

    Args:
        limit: what was measured saw only these instructions, a key of
            `peers.processor.PROCESSORS`.
        clock: a key of `peers.worker.CLOCKS`.
    """
    info: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        info.setdefault(key.strip(), value.strip())
    name = info.get("model name") or platform.machine()
    # Clouds use one name for several generations of processors.
    if "cpu family" in info and "model" in info:
        flags = info.get("flags", "").split()
        best = next((word for flag, word in _INSTRUCTIONS if flag in flags), "")
        if limit is not None:
            best = f"{PROCESSORS[limit]} by CPUID mask"
        name += f" (family {info['cpu family']}, model {info['model']}"
        name += f"; {best})" if best else ")"
    count = len(os.sched_getaffinity(0))
    text = f"{name}, {count} CPU{'s' * (count != 1)}, {platform.system()}"
    return text + (", busy: CPU time" if clock == "cpu" else "")


def commit() -> str:
    """The commit of the sources, with "+" if they were changed. Empty without git."""
    head = _git("rev-parse", "--short=10", "HEAD")
    if head is None:
        return ""
    changed = _git(
        "status", "--porcelain", "--untracked-files=no", "--", ".", *_NO_CODE
    )
    return head + "+" * bool(changed)


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _console() -> Console:
    """A console; for files its width is one in which most tables fit."""
    return Console() if sys.stdout.isatty() else Console(width=160)


@dataclass(frozen=True)
class Recorder:
    """Prints measurements, and saves them if this was requested.

    Attributes:
        program: the module that measures.
        path: where to keep the record; or None.
        commit: of the sources.
        machine: see `machine()`.
    """

    program: str
    path: Path | None
    commit: str
    machine: str = field(default_factory=machine)
    console: Console = field(default_factory=_console)

    def finish(self, data: Any, versions: Mapping[str, str] | None = None) -> Record:
        """Prints the tables of `data`, and writes the record."""
        # Converted through JSON, so that the page gets exactly what is printed now.
        record = Record(
            self.program,
            self.machine,
            f"{datetime.now(timezone.utc):%Y-%m-%d}",
            self.commit,
            dict(versions or {}),
            _rounded(json.loads(json.dumps(data))),
        )
        show(record.tables(), self.console)
        self.console.print(record.origin(), markup=False, highlight=False)
        if self.path:
            write(record, self.path)
            self.console.print(f"written: {self.path}", markup=False)
        return record


def _rounded(data: Any) -> Any:
    """Rounds to seven digits, which are more than any table shows."""
    if isinstance(data, float):
        return float(f"{data:.7g}")
    if isinstance(data, dict):
        return {key: _rounded(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_rounded(value) for value in data]
    return data


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that `recorder` reads."""
    group = parser.add_argument_group("keeping the figures for the page")
    group.add_argument(
        "--record",
        metavar="NAME",
        help="write benchmarks/results/NAME.json, or a path that ends in .json",
    )
    group.add_argument(
        "--commit",
        metavar="HASH",
        help="of the sources, where git does not know it",
    )


def recorder(
    program: str, args: argparse.Namespace, otherwise: Path | None = None
) -> Recorder:
    """What the arguments ask for. Exit status 2, before anything is measured,
    if it cannot be.

    Args:
        otherwise: where the record goes if the arguments do not ask for one.
    """
    path = otherwise
    found = args.commit or commit()
    if args.record:
        path = Path(args.record)
        if path.suffix != ".json":
            if not _NAME.fullmatch(args.record):
                refuse(f"--record {args.record}: lower-case letters, digits and _")
            path = RESULTS / f"{args.record}.json"
        if not found:
            refuse("git knows no commit here: name it by --commit")
    here = machine(getattr(args, "processor", None), getattr(args, "clock", "wall"))
    return Recorder(program, path, found, here)


def refuse(message: str) -> NoReturn:
    """Ends the program with an error in the request."""
    sys.stderr.write(message + "\n")
    raise SystemExit(2)


def names(folder: Path = RESULTS) -> Iterable[str]:
    """The names of all saved records."""
    return sorted(path.stem for path in folder.glob("*.json"))

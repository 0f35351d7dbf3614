# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs ARM programs in QEMU and counts their instructions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.networks import DIRECTORY

_SOURCE = Path(__file__).resolve().parent / "instruction_plugin.c"
_PLUGIN = DIRECTORY / "arm/instruction_plugin.so"
_COMPILERS = ("clang-19", "clang", "cc")


class EmulationError(Exception):
    """The instructions could not be counted; the message says why."""


@dataclass(frozen=True)
class Cpu:
    """A processor, by its name in QEMU.

    Attributes:
        emulator: the program; the static build of QEMU loads no plugins.
        libraries: of the guest, unless the caller brings its own.
    """

    name: str
    emulator: str = "qemu-aarch64"
    libraries: Path = Path("/usr/aarch64-linux-gnu")


_CPUS = {
    "cortex-a76": Cpu("cortex-a76"),
    "cortex-a53": Cpu("cortex-a53"),
    # All features of QEMU, for the plugin's test.
    "max": Cpu("max"),
    # Armv7: only totals are counted.
    "cortex-a15": Cpu("cortex-a15", "qemu-arm", Path("/usr/arm-linux-gnueabihf")),
}
CPUS = MappingProxyType(_CPUS)


@dataclass(frozen=True)
class Run:
    """How to run a program.

    Attributes:
        command: program, a path, and arguments. It runs in a folder of its own.
        libraries: the folder that the guest sees as its root where a file is
            there; that of the CPU if None.
        environment: all of the guest's: a count must not depend on the shell.
        hottest: blocks to report.
        seconds: after which it is given up.
    """

    command: Sequence[str]
    libraries: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    hottest: int = 0
    seconds: float = 1800


def missing_tools(cpus: Sequence[str]) -> list[str]:
    """What to install for these CPUs, one sentence each."""
    lines = []
    for emulator in sorted({CPUS[name].emulator for name in cpus}):
        if shutil.which(emulator) is None:
            lines.append(f"{emulator} is missing: bash tools/setup.sh --for cross")
    for libraries in sorted({CPUS[name].libraries for name in cpus}):
        if not libraries.is_dir():
            lines.append(f"{libraries} is missing: bash tools/setup.sh --for cross")
    if _compiler() is None:
        lines.append("no C compiler is found: bash tools/setup.sh")
    return lines


def execute(cpu: str, run: Run) -> Execution:
    """Runs a program in QEMU under the plugin.

    Raises:
        EmulationError: it cannot be run, or its exit status is not 0.
    """
    plugin = _make_plugin()
    chosen = CPUS[cpu]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        command = [
            *(chosen.emulator, "-cpu", chosen.name),
            *("-L", str(run.libraries or chosen.libraries)),
            *("-plugin", f"{plugin},out={out},hottest={run.hottest}"),
            os.path.abspath(run.command[0]),
            *run.command[1:],
        ]
        try:
            done = subprocess.run(
                command,
                cwd=folder,  # where a crash would leave its core
                env={"PATH": "/usr/bin:/bin", "HOME": folder, **run.environment},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=run.seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise EmulationError(f"took more than {run.seconds:g} s") from error
        except OSError as error:
            raise EmulationError(f"{chosen.emulator}: {error.strerror}") from error
        if done.returncode != 0:
            lines = done.stdout.decode(errors="replace").strip().splitlines()
            last = " | ".join(lines[-3:])[-400:] or "no message"
            raise EmulationError(f"exit status {done.returncode}: {last}")
        try:
            with out.open() as stream:
                return parse(stream)
        except (OSError, ValueError) as error:
            raise EmulationError(f"no counts: {error}") from error


def _compiler() -> str | None:
    found = (shutil.which(name) for name in _COMPILERS)
    return next((path for path in found if path is not None), None)


def _make_plugin() -> Path:
    """The plugin, compiled if its source is newer."""
    if _PLUGIN.exists() and _PLUGIN.stat().st_mtime > _SOURCE.stat().st_mtime:
        return _PLUGIN
    compiler = _compiler()
    if compiler is None:
        raise EmulationError("no C compiler is found: bash tools/setup.sh")
    _PLUGIN.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_PLUGIN.parent) as folder:
        made = Path(folder) / _PLUGIN.name
        done = subprocess.run(
            [compiler, "-O2", "-shared", "-fPIC", "-o", str(made), str(_SOURCE)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise EmulationError(f"{_SOURCE.name} does not compile: {done.stdout}")
        made.replace(_PLUGIN)
    return _PLUGIN


@dataclass(frozen=True)
class Counts:
    """Instructions by class; the names are those of the plugin.

    The first five multiply and accumulate. Everything of a 32-bit guest is in
    `other`: only its total is known.
    """

    fmla: float = 0
    fmla_half: float = 0
    fmadd: float = 0
    dot: float = 0
    mla: float = 0
    simd: float = 0
    load_simd: float = 0
    store_simd: float = 0
    load: float = 0
    store: float = 0
    branch: float = 0
    integer: float = 0
    other: float = 0

    @property
    def total(self) -> float:
        return float(sum(getattr(self, name) for name in CLASSES))

    @property
    def multiply_adds(self) -> float:
        """Instructions, not products: one has up to 16."""
        return self.fmla + self.fmla_half + self.fmadd + self.dot + self.mla

    @property
    def share(self) -> float:
        """Of multiply-adds in all instructions; 0 if they are not known."""
        return self.multiply_adds / self.total if self.total else 0.0

    def per_run(self, fewer: Counts, runs: int) -> Counts:
        """The counts of one inference, from runs with different numbers of them."""
        return Counts(
            *((getattr(self, name) - getattr(fewer, name)) / runs for name in CLASSES)
        )


CLASSES = tuple(field.name for field in fields(Counts))


@dataclass(frozen=True)
class Block:
    """Straight code that ends in a branch, or where the emulator cut it.

    Attributes:
        function: of the executable, as the linker names it; empty if unknown.
        instructions: executed in it.
        address: of its first instruction, where the program was loaded.
        size: instructions of it.
        macs: of these, multiply-adds.
        words: their encodings; empty for a 32-bit guest.
    """

    function: str
    instructions: int
    address: int
    size: int
    macs: int
    words: tuple[int, ...]


@dataclass(frozen=True)
class Execution:
    """What a program executed.

    Attributes:
        total: from start to end.
        marks: from each mark to the next; the first from the start.
        blocks: the hottest first, as many as were asked for.
    """

    total: Counts
    marks: tuple[Counts, ...] = ()
    blocks: tuple[Block, ...] = field(default=(), repr=False)

    def per_mark(self) -> Counts:
        """The mean between marks.

        Raises:
            ValueError: there are fewer than two.
        """
        if len(self.marks) < 2:
            raise ValueError("the program made fewer than two marks")
        runs = self.marks[1:]
        return Counts(
            *(sum(getattr(run, name) for run in runs) / len(runs) for name in CLASSES)
        )


def parse(lines: Iterable[str]) -> Execution:
    """Parses the plugin's output.

    Raises:
        ValueError: it is cut off: the emulated program was killed.
    """
    total = None
    marks = []
    blocks = []
    for line in lines:
        record: dict[str, Any] = json.loads(line)
        kind = record.pop("type")
        if kind == "block":
            record["words"] = tuple(record["words"])
            blocks.append(Block(**record))
        elif kind == "mark":
            marks.append(Counts(**record))
        else:
            total = Counts(**record)
    if total is None:
        raise ValueError("the counts are cut off")
    return Execution(total, tuple(marks), tuple(blocks))

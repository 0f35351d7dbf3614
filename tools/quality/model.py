# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a check is given and what it answers."""

from __future__ import annotations

import enum
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, List, Optional, Sequence, Tuple


class Status(enum.Enum):
    """The outcome of one check."""

    PASSED = "passed"
    WARNED = "warned"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass
class Outcome:
    """What one check found.

    Attributes:
        status: PASSED, or why not.
        note: a few words for the summary table.
        lines: findings, one per line, in ``file:line: message`` form.
    """

    status: Status
    note: str = ""
    lines: List[str] = field(default_factory=list)


@dataclass(frozen=True)
class Context:
    """The tree under check.

    Attributes:
        root: the repository.
        files: its sources, relative to root: tracked, or new and not ignored.
        changed: the part of ``files`` that differs from the main branch.
        fix: whether to repair what can be repaired.
        everything: whether slow checks look at all files, not just changed.
    """

    root: Path
    files: Tuple[Path, ...]
    changed: Tuple[Path, ...]
    fix: bool
    everything: bool

    def with_suffix(self, *suffixes: str) -> List[Path]:
        """The files whose names end so."""
        return [file for file in self.files if file.name.endswith(suffixes)]


@dataclass(frozen=True)
class Check:
    """A named check."""

    name: str
    summary: str
    run: Callable[[Context], Outcome]


def find_program(name: str) -> Optional[str]:
    """The path of a program: of this Python's environment, else of PATH."""
    beside = Path(sys.executable).parent / name
    if beside.is_file() and os.access(beside, os.X_OK):
        return str(beside)
    return shutil.which(name)


def missing(name: str) -> Outcome:
    """The outcome of a check whose program is not there."""
    return Outcome(
        Status.FAILED,
        "not installed",
        [f"{name} not found: run 'bash tools/setup.sh --for test'"],
    )


def run_program(command: Sequence[str], root: Path, text: str = "") -> Tuple[int, str]:
    """Runs a program in ``root`` that reads ``text``; its status and all its output."""
    result = subprocess.run(
        command,
        cwd=root,
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return result.returncode, result.stdout


def from_findings(lines: List[str], checked: int) -> Outcome:
    """FAILED with those findings, or PASSED."""
    if lines:
        return Outcome(Status.FAILED, f"{len(lines)} findings", lines)
    return Outcome(Status.PASSED, f"{checked} files")

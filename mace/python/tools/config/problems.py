# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a deployment file, all of it at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.errors import MaceError


@dataclass(frozen=True)
class Problem:
    """One thing to change in a deployment file.

    Attributes:
        key: path of the key, ``models.m.subgraphs[0].input_shapes``; empty
            for the file as a whole.
        message: what is wrong, what was found and what is accepted.
        origin: the line as ``FILE:12``, the file, or the command-line flag
            that set the value.
        line: 1-based, for sorting; 0 when it is about no line.
    """

    key: str
    message: str
    origin: str
    line: int = 0

    def __str__(self) -> str:
        where = f"{self.origin}: {self.key}" if self.key else self.origin
        return f"{where}: {self.message}"


class ConfigError(MaceError):
    """A deployment file (or a flag that changes it) cannot be used.

    `problems` holds every problem found; the message lists them all.
    """

    def __init__(self, source: Path, problems: Iterable[Problem]) -> None:
        self.source = source
        self.problems = tuple(sorted(problems, key=lambda p: p.line))
        count = len(self.problems)
        if count == 1:
            text = str(self.problems[0])
        else:
            lines = "\n".join(f"  {problem}" for problem in self.problems)
            text = f"{count} problems in {source}:\n{lines}"
        super().__init__(text)

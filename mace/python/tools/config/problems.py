# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a deployment file, all of it at once."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.errors import MaceError


@dataclass(frozen=True)
class Place:
    """Where something of a deployment file stands.

    Attributes:
        origin: the line as ``FILE:12``, the file, or the command-line flag that
            set the value.
        line: 1-based; 0 when it is about no line.
        path: of the key as the user wrote it, ``models.m.subgraphs[0].order``;
            empty for the file as a whole and for flags.
        of_model: the model's own file says so, and the deployment leaves it out.
    """

    origin: str
    line: int = 0
    path: str = ""
    of_model: bool = False

    def __str__(self) -> str:
        return f"{self.origin}: {self.path}" if self.path else self.origin

    def key(self, name: str) -> Place:
        """Of a key of this section that has no place of its own."""
        path = f"{self.path}.{name}" if self.path else name
        return Place(self.origin, self.line, path)


@dataclass(frozen=True)
class Problem:
    """One thing to change: where, what was found and what is accepted."""

    place: Place
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class ConfigError(MaceError):
    """A deployment file (or a flag that changes it) cannot be used.

    `problems` holds every problem of the file; the message lists them all, and after
    them `others`: what is wrong with files that it names.
    """

    def __init__(
        self,
        source: Path,
        problems: Iterable[Problem],
        others: Iterable[MaceError] = (),
    ) -> None:
        self.source = source
        self.problems = tuple(sorted(problems, key=lambda p: p.place.line))
        found = [*map(str, self.problems), *map(str, others)]
        if len(found) == 1:
            text = found[0]
        else:
            lines = "\n".join(textwrap.indent(each, "  ") for each in found)
            text = f"{len(found)} problems in {source}:\n{lines}"
        super().__init__(text)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a deployment file, all of it at once."""

from __future__ import annotations

import contextlib
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mace.python.tools.errors import MaceError

if TYPE_CHECKING:
    from mace.python.tools.config.deployment import ModelConfig


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


# Where the keys of a model stand, for errors that are found after the file was read.
#
# A name that the model file does not have is only found when that is imported. The
# error then begins with the key, and `cited` adds the line.


# `input_tensors: ...`, `models.m: output_shapes says ...` or
# `models.m.subgraphs[0].check_tensors: ...`.
_KEY = re.compile(
    r"(?:models\.[^\s:]+: )?(?P<key>[a-z_]+)(?=:| says| cannot)"
    r"|models\.[^\s:]+\.(?P<last>[a-z_]+)(?:\[\d+\])?:"
)

# These are on no line if a model stands for a deployment file; then the message, which
# begins with the path, is shown without the key.
_FILES = ("model_file_path", "weight_file_path")


@contextlib.contextmanager
def cited(model: ModelConfig) -> Iterator[None]:
    """Adds to an error the lines of the keys of a model with which it begins."""
    try:
        yield
    except MaceError as error:
        if len(error.args) == 1:
            error.args = (_cite(model, str(error.args[0])),)
        raise


def _cite(model: ModelConfig, message: str) -> str:
    lines: dict[str, str] = {}
    for section in (model, *model.subgraphs):
        for key, _, place in section.given:
            # No line says what the model's own file says.
            is_said = place.line and not place.of_model
            if is_said or key.name in _FILES:
                lines.setdefault(key.name, place.origin if is_said else "")
    return "\n".join(_with_line(line, lines) for line in message.split("\n"))


def _with_line(text: str, lines: Mapping[str, str]) -> str:
    found = _KEY.match(text)
    key = (found["key"] or found["last"]) if found else ""
    origin = lines.get(key)
    if origin == "":
        return text.removeprefix(f"{key}: ")
    return f"{origin}: {text}" if origin else text

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of rewrites, and the arguments that users give them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mace.python.tools.errors import UsageError
from mace.python.tools.importers.tensorflow.transforms.work_graph import WorkGraph

# The files with rewrites.
_MODULES = ("batch_norms", "cleaning", "convolutions", "folding", "weights")

# What every rewrite takes.
IGNORE_ERRORS = "ignore_errors"


@dataclass(frozen=True)
class Arguments:
    """The arguments of one rewrite.

    Attributes:
        name: of the rewrite.
        values: by key, in order.
    """

    name: str
    values: Mapping[str, Sequence[str]]

    def all(self, key: str) -> Sequence[str]:
        """Each value of a key that may be repeated."""
        return self.values.get(key, ())

    def one(self, key: str, default: str | None = None) -> str:
        """The only value of a key.

        Raises:
            UsageError: it is repeated, or missing without a default.
        """
        values = self.all(key)
        if len(values) > 1:
            raise UsageError(f"--transforms: {self.name}: {key} is given twice")
        if not values and default is None:
            raise UsageError(f"--transforms: {self.name} needs {key}=...")
        return values[0] if values else str(default)

    def integer(self, key: str, default: int, lowest: int) -> int:
        """A whole number, with its least value."""
        text = self.one(key, str(default))
        try:
            number = int(text)
        except ValueError:
            number = lowest - 1
        if number < lowest:
            raise UsageError(
                f"--transforms: {self.name}: {key}: found {text!r}, accepted: a whole "
                f"number, at least {lowest}"
            )
        return number

    def flag(self, key: str) -> bool:
        """true or false; false if it is not given."""
        text = self.one(key, "false").lower()
        if text not in ("true", "false", "1", "0"):
            raise UsageError(
                f"--transforms: {self.name}: {key}: found {text!r}, accepted: true or "
                "false"
            )
        return text in ("true", "1")


Transform = Callable[[WorkGraph, Arguments], None]


@dataclass(frozen=True)
class Entry:
    """A rewrite and the keys it takes."""

    run: Transform
    keys: tuple[str, ...]

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        return (self.run.__doc__ or "").split("\n\n")[0].replace("\n    ", " ")


_ENTRIES: dict[str, Entry] = {}


def transform(*keys: str) -> Callable[[Transform], Transform]:
    """Decorator: the function is the rewrite of its name, with these keys."""

    def add(function: Transform) -> Transform:
        _ENTRIES[function.__name__] = Entry(function, (*keys, IGNORE_ERRORS))
        return function

    return add


def entries() -> Mapping[str, Entry]:
    """All rewrites by name, sorted."""
    package = __name__.rpartition(".")[0]
    for module in _MODULES:
        importlib.import_module(f"{package}.{module}")
    return dict(sorted(_ENTRIES.items()))

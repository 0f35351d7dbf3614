# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Building blocks of the command line: value types and old spellings."""

from __future__ import annotations

import argparse
import enum
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from mace.python.tools.errors import UsageError

_EnumT = TypeVar("_EnumT", bound=enum.IntEnum)

_TRUE_WORDS = frozenset({"1", "true", "yes", "on", "t", "y"})
_FALSE_WORDS = frozenset({"0", "false", "no", "off", "f", "n"})

# The attribute in which actions collect notes about old spellings.
NOTES_DEST = "old_spelling_notes"


class FlagError(UsageError):
    """An error of argparse; `reason` is its text without the program name."""

    def __init__(self, prog: str, reason: str) -> None:
        super().__init__(f"{prog}: {reason} (see {prog} -h)")
        self.reason = reason


class FlagParser(argparse.ArgumentParser):
    """An argument parser that raises `FlagError` instead of exiting."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        # With abbreviations, a new flag could break old scripts.
        super().__init__(allow_abbrev=False, **kwargs)

    def error(self, message: str) -> NoReturn:
        raise FlagError(self.prog, message)


def boolean(text: str) -> bool:
    """Parses the value in ``--flag=value``."""
    word = text.strip().lower()
    if word in _TRUE_WORDS:
        return True
    if word in _FALSE_WORDS:
        return False
    raise argparse.ArgumentTypeError(f"found {text!r}, accepted: true or false")


def integer(lowest: int, highest: int | None = None) -> Callable[[str], int]:
    """A parser for whole numbers within bounds."""
    accepted = f"a whole number, at least {lowest}"
    if highest is not None:
        accepted = f"a whole number from {lowest} to {highest}"

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = None
        if value is None or value < lowest or (highest is not None and value > highest):
            raise argparse.ArgumentTypeError(f"found {text!r}, accepted: {accepted}")
        return value

    return parse


def thread_count(text: str) -> int:
    """-1 (the library chooses) or a positive number."""
    value = int_or_none(text)
    if value is None or (value < 1 and value != -1):
        raise argparse.ArgumentTypeError(
            f"found {text!r}, accepted: 1 or more, or -1 to let the library choose"
        )
    return value


def number(lowest: float, highest: float) -> Callable[[str], float]:
    """A parser for numbers of a range."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not lowest <= value <= highest:
            raise argparse.ArgumentTypeError(
                f"found {text!r}, accepted: a number from {lowest:g} to {highest:g}"
            )
        return value

    return parse


# A share.
ratio = number(0, 1)


def choice(enum_type: type[_EnumT]) -> Callable[[str], _EnumT]:
    """A parser for an enum, by number or by name."""
    accepted = ", ".join(f"{member.value} ({member.name})" for member in enum_type)

    def parse(text: str) -> _EnumT:
        number = int_or_none(text)
        for member in enum_type:
            if number == member.value or text.strip().upper() == member.name:
                return member
        raise argparse.ArgumentTypeError(f"found {text!r}, accepted: {accepted}")

    return parse


def words(text: str) -> tuple[str, ...]:
    """Values separated by commas."""
    result = tuple(part.strip() for part in text.split(",") if part.strip())
    if not result:
        raise argparse.ArgumentTypeError("found no value, accepted: values like a,b")
    return result


def path(text: str) -> Path:
    """A path; the empty text is an error, not the working directory."""
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError("found an empty path")
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise argparse.ArgumentTypeError(
            f"found {text!r}, accepted: a path without line breaks and other control "
            "characters; rename it"
        )
    return Path(text).expanduser()


def int_or_none(text: str) -> int | None:
    """The number, or None if the text is not a number."""
    try:
        return int(text)
    except ValueError:
        return None


def add_switch(
    group: argparse._ActionsContainer,
    name: str,
    text: str,
    default: bool | None = False,
) -> None:
    """Adds ``--name``, also written ``--name=true`` or ``--name=false``."""
    group.add_argument(
        name,
        nargs="?",
        const=True,
        default=default,
        type=boolean,
        metavar="BOOL",
        help=text,
    )


DEVICE_YML_HELP = (
    "boards to reach by ssh (default: devices.yml in the working directory)"
)


def add_device_yml(group: argparse._ActionsContainer) -> None:
    """Adds ``--device_yml``, the same in every tool that reaches boards."""
    group.add_argument("--device_yml", type=path, metavar="FILE", help=DEVICE_YML_HELP)


class OldFlag(argparse.Action):
    """A flag of an earlier version.

    Stores its value under the current flag's name (`dest`), or nowhere if the flag no
    longer has a meaning, and keeps `advice` for a warning.
    """

    def __init__(
        self, option_strings: Sequence[str], dest: str, advice: str, **kwargs: Any
    ) -> None:
        # SUPPRESS: the default of the current flag must apply.
        kwargs["default"] = argparse.SUPPRESS
        super().__init__(option_strings, dest, **kwargs)
        self._advice = advice

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        notes = getattr(namespace, NOTES_DEST, ())
        setattr(namespace, NOTES_DEST, (*notes, f"{option_string} {self._advice}"))
        if self.dest != argparse.SUPPRESS:
            setattr(namespace, self.dest, self.const if values is None else values)

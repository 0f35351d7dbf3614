# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a command: declared once, as fields of a dataclass.

    @dataclass(frozen=True)
    class RunOptions(CommandOptions):
        round: int = flag(1, "how often to run", integer(1), metavar="N")

`add_options` adds a flag for each field to a parser, `read_options` creates the
dataclass from the parsed flags, and `config.effect` uses the same declaration to report
what a flag cannot do.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from mace.python.tools.command_line import flags
from mace.python.tools.config.effect import Command, Effect, Rule, no_effect
from mace.python.tools.config.vocabulary import Runtime

# The default folder of converted models, libraries and reports.
DEFAULT_BUILD_DIR = Path("build")

_OptionsT = TypeVar("_OptionsT", bound="CommandOptions")


@dataclass(frozen=True)
class Group:
    """Flags that help and documentation show together."""

    title: str
    description: str | None = None


DEPLOYMENT = Group("deployment")
MESSAGES = Group("messages")
OLD = Group("accepted from earlier versions")


@dataclass(frozen=True)
class Flag:
    """How an option is written on the command line, and what it does.

    Attributes:
        parse: of its text; None for a switch.
        was: earlier names.
    """

    help: str
    parse: Callable[[str], Any] | None
    group: Group
    metavar: str
    choices: tuple[str, ...]
    was: tuple[str, ...]
    effect: Effect


def flag(
    default: Any,
    text: str,
    parse: Callable[[str], Any] | None = None,
    *rules: Rule,
    group: Group,
    metavar: str = "",
    choices: tuple[str, ...] = (),
    was: tuple[str, ...] = (),
    on: Mapping[Runtime, str] | None = None,
) -> Any:
    """A field of an options dataclass that is a flag.

    Args:
        text: its help, without what the default and the effect add to it.
        parse: reads the flag's text; None with a bool for a switch.
        on, rules: its `Effect`.
    """
    effect = Effect(on=on or {}, rules=rules)
    shown = default if isinstance(default, (int, float, str)) else None
    is_value = shown not in (None, "") and not isinstance(shown, bool)
    if is_value and "default" not in text:
        # In the form that users write: the number of an enum.
        text += f" (default {int(shown) if isinstance(shown, int) else shown})"
    if effect.text() and not group.description:
        text += f"; {effect.text()}"
    declared = Flag(text, parse, group, metavar, choices, was, effect)
    return field(default=default, metadata={"flag": declared})


def format_flag(group: Group) -> Any:
    """The flag ``--format`` of commands that print for people or for programs."""
    return flag(
        "text",
        "text for people, json for programs",
        group=group,
        choices=("text", "json"),
    )


def same_flag(options: type[CommandOptions], name: str) -> Any:
    """A field that is the flag of that name of another command.

    Earlier names stay with the command that had them.
    """
    (item,) = (item for item in dataclasses.fields(options) if item.name == name)
    declared = dataclasses.replace(item.metadata["flag"], was=())
    return field(default=item.default, metadata={"flag": declared})


_PROGRAM = no_effect("convert builds no program", "", Command.CONVERT)


@dataclass(frozen=True)
class CommandOptions:
    """Options of every command on a deployment file."""

    build_dir: Path = flag(
        DEFAULT_BUILD_DIR,
        "root of all output (default build); models go to DIR/<library_name>/model",
        flags.path,
        group=DEPLOYMENT,
        metavar="DIR",
    )
    debug_mode: bool = flag(
        False, "build and use programs with symbols", None, _PROGRAM, group=DEPLOYMENT
    )
    address_sanitizer: bool = flag(
        False,
        "build and use programs with AddressSanitizer",
        None,
        _PROGRAM,
        group=DEPLOYMENT,
    )
    verbose: bool = flag(False, "print each step", group=MESSAGES)
    vlog_level: int = flag(
        0,
        "detail of the library's own log (default 0); above 0 implies --verbose",
        flags.integer(0, 5),
        group=MESSAGES,
        metavar="0..5",
    )


def add_options(parser: argparse.ArgumentParser, options: type[CommandOptions]) -> None:
    """Adds a flag for each field of `options`, by group."""
    groups: dict[str | None, Any] = {
        group.title: group for group in parser._action_groups
    }
    old: list[tuple[str, str, Flag]] = []
    declared = [item for item in dataclasses.fields(options) if "flag" in item.metadata]
    for item in sorted(
        declared, key=lambda item: item.metadata["flag"].group == MESSAGES
    ):
        declaration: Flag = item.metadata["flag"]
        title, description = declaration.group.title, declaration.group.description
        if title not in groups:
            groups[title] = parser.add_argument_group(title, description)
        if declaration.parse is None and not declaration.choices:
            flags.add_switch(groups[title], f"--{item.name}", declaration.help)
        else:
            groups[title].add_argument(
                f"--{item.name}",
                default=item.default,
                help=declaration.help,
                **_value(declaration),
            )
        old += [(earlier, item.name, declaration) for earlier in declaration.was]
    for earlier, dest, declaration in old:
        add_old_flag(parser, earlier, dest, f"--{dest}", declaration.parse)


def _value(declaration: Flag) -> dict[str, Any]:
    if declaration.choices:
        return {"choices": declaration.choices}
    return {"type": declaration.parse, "metavar": declaration.metavar}


def add_old_flag(
    parser: argparse.ArgumentParser,
    name: str,
    dest: str = argparse.SUPPRESS,
    present: str = "",
    parse: Callable[[str], Any] | None = None,
) -> None:
    """A flag of an earlier version, now written `present` (empty: no effect)."""
    groups = {group.title: group for group in parser._action_groups}
    group = groups.get(OLD.title) or parser.add_argument_group(OLD.title)
    switch = {"nargs": "?", "const": True, "metavar": "BOOL"}
    group.add_argument(
        f"--{name}",
        action=flags.OldFlag,
        dest=dest,
        advice=f"is now written {present}" if present else "has no effect any more",
        type=parse or flags.boolean,
        help=f"now {present}" if present else "no effect",
        **(switch if parse is None else {"metavar": "N"}),
    )


def read_options(options: type[_OptionsT], args: argparse.Namespace) -> _OptionsT:
    """What a command line asks for."""
    return options(
        **{
            item.name: getattr(args, item.name)
            for item in dataclasses.fields(options)
            if hasattr(args, item.name)
        }
    )

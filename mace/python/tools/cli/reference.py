# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The reference of the command line, generated from its parser.

    python -m mace.python.tools.cli.reference [--output FILE]

Prints a Markdown section for each command with a table of its flags.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from mace.python.tools.cli.parser import COMMANDS, command_parser
from mace.python.tools.reference_page import page_parser, table, write_page

# `benchmark` takes the flags of `run`; listing them once is enough.
_SAME_AS = {"benchmark": "run"}


def markdown() -> str:
    """One section per command."""
    lines: list[str] = []
    for command, text in COMMANDS.items():
        lines += [f"## {command}", "", f"{text[0].upper()}{text[1:]}.", ""]
        if command in _SAME_AS:
            lines += [f"Its flags are those of `{_SAME_AS[command]}`.", ""]
        else:
            lines += _tables(command_parser(command))
    return "\n".join(lines)


def _tables(parser: argparse.ArgumentParser) -> Iterator[str]:
    for group in parser._action_groups:
        rows = [
            _row(action) for action in group._group_actions if action.dest != "help"
        ]
        if not rows:
            continue
        title = group.title or ""
        if title not in ("options", "optional arguments"):
            yield from (f"### {title[0].upper()}{title[1:]} ({_short(parser)})", "")
        if group.description:
            yield from (f"{group.description[0].upper()}{group.description[1:]}.", "")
        yield from (*table(("flag", "meaning"), rows), "")


def _short(parser: argparse.ArgumentParser) -> str:
    return parser.prog.rpartition(" ")[2]


def _row(action: argparse.Action) -> tuple[str, str]:
    if not action.option_strings:
        return f"`{action.metavar}`", action.help or ""
    flag = action.option_strings[-1]
    if action.nargs == "?":
        # A switch: the value may be left out.
        flag += "[=BOOL]"
    elif action.nargs != 0:
        value = action.metavar or "|".join(map(str, action.choices or ()))
        flag += f"={value}"
    needed = " (required)" if action.required else ""
    meaning = (action.help or "") + needed
    return f"`{flag}`", meaning.replace("<", "&lt;")


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the reference to a file or to standard output."""
    args = page_parser(
        "mace.python.tools.cli.reference", "Print the reference of the command line."
    ).parse_args(argv)
    write_page(markdown(), args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())

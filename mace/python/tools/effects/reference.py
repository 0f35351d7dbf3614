# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation's table of what is refused or has no effect.

python -m mace.python.tools.effects.reference [--output FILE]
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Sequence

from mace.python.tools.cli.parser import command_parser
from mace.python.tools.effects.command_flags import FLAGS
from mace.python.tools.effects.deployment_keys import KEYS
from mace.python.tools.effects.effect import Command, Rule
from mace.python.tools.reference_page import page_parser, table, write_page


def markdown() -> str:
    """One row per case; keys of several levels are listed once."""
    rows = dict.fromkeys(_rows())
    return "\n".join(table(("key or flag", "on", "is", "when"), rows))


def _rows() -> Iterator[tuple[str, ...]]:
    for keys in KEYS.values():
        for key, effect in keys.items():
            for rule in effect.rules:
                yield _row(f"`{key}`", [c.value for c in rule.commands], rule)
    for flag, effect in FLAGS.items():
        for rule in effect.rules:
            commands = [c.value for c in rule.commands if flag in _flags_of(c)]
            yield _row(f"`--{flag}`", commands, rule)


def _row(name: str, commands: Sequence[str], rule: Rule) -> tuple[str, ...]:
    return name, ", ".join(commands), rule.verdict.value, rule.when


@functools.cache
def _flags_of(command: Command) -> frozenset[str]:
    actions = command_parser(command.value)._actions
    return frozenset(o[2:] for a in actions for o in a.option_strings)


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the table to a file or to standard output."""
    args = page_parser(
        "mace.python.tools.effects.reference",
        "Print what is refused or has no effect.",
    ).parse_args(argv)
    write_page(markdown(), args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())

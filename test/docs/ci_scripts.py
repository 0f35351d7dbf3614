# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The scripts that continuous integration runs, and their commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, List

from test.docs.blocks import Block
from tools.quality.test_steps import steps

# The first script.
_FIRST = ".ci/run"
_STEPS = "tools/test.sh"
# Equivalent spellings of a command: for readers, and for scripts that do not use PATH.
_SAME = (
    (re.compile(r"^(?:\S*\.venv\}?/bin/)?python3? "), "python "),
    (re.compile(r"^exec "), ""),
    (re.compile(r" </dev/null$"), ""),
    (re.compile(r" \$@$"), ""),
)


def _plain(command: str) -> str:
    command = command.replace('"', "").replace("'", "")
    for pattern, text in _SAME:
        command = pattern.sub(text, command)
    return command


def scripts(root: Path) -> Dict[str, List[str]]:
    """Each script that CI runs, with its commands: those that .ci/run names, those that
    these name, and so on; the steps of tools/test.sh count as its commands.
    """
    found: Dict[str, List[str]] = {}
    waiting = [_FIRST]
    while waiting:
        name = waiting.pop()
        if name in found or not (root / name).is_file():
            continue
        text = (root / name).read_text(encoding="utf-8")
        commands = Block(name, 0, text, "", "").commands()
        if name == _STEPS:
            commands += [" ".join(step.command) for step in steps({})]
        found[name] = [_plain(command) for command in commands]
        for command in commands:
            waiting += re.findall(r"\bbash ([\w./-]+\.sh)\b", command)
    return found


def problem_of(block: Block, root: Path) -> str:
    """Why a block's run-by is wrong; empty if it is right."""
    known = scripts(root)
    if block.value not in known:
        names = ", ".join(sorted(known))
        return f"{block.name}: CI does not run {block.value}, but {names}"
    missing = [
        command
        for command in block.commands()
        if _plain(command) not in known[block.value]
    ]
    if missing:
        return f"{block.name}: {block.value} does not run: {'; '.join(missing)}"
    return ""

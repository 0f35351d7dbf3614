# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of all packages for the documentation.

What it says comes from `tools/setup.sh --list`, that is, from the lists that are
installed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Dict, List, Optional, Tuple

_ROOT = Path(__file__).resolve().parents[1]
_TASK = re.compile(r"^  ([a-z]+) {2,}\S", re.MULTILINE)
_TITLES = {"apt": "Packages of the distribution", "pip": "Python packages"}
# The task that includes all others.
_ALL = "all"

# Kind and name of a package.
Package = Tuple[str, str]


def _setup(*arguments: str) -> str:
    return subprocess.run(
        ["bash", "tools/setup.sh", *arguments],
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


def tasks() -> List[str]:
    """The tasks of tools/setup.sh, as its help lists them."""
    text = _setup("--help")
    return _TASK.findall(text[: text.index("Without --for")])


def packages(task: str) -> Dict[Package, str]:
    """The packages of a task, and the use of each."""
    found: Dict[Package, str] = {}
    for line in _setup("--for", task, "--list").splitlines():
        kind, name, use = line.split(None, 2)
        found[kind, name] = use
    return found


def table() -> str:
    """Markdown, one table for each kind."""
    needed_by: Dict[Package, List[str]] = {}
    for task in tasks():
        if task != _ALL:
            for package in packages(task):
                needed_by.setdefault(package, []).append(task)
    lines: List[str] = []
    for kind, title in _TITLES.items():
        lines += [f"### {title}", "", "| package | is for | tasks |", "|---|---|---|"]
        lines += [
            f"| `{name}` | {use} | {', '.join(needed_by[found_kind, name])} |"
            for (found_kind, name), use in sorted(packages(_ALL).items())
            if found_kind == kind
        ]
        lines.append("")
    return "\n".join(lines)


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Writes the tables to the file of --output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args(argv)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(table(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The tasks of `setup/tasks.txt` and the packages that they need.

`tools/setup.sh` installs by the same table and the same lists.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, FrozenSet, Iterator, List, Mapping, Tuple

_TASK = re.compile(r"^([a-z]+) +([^#]*[^# ]) +# (.+)$")
_PACKAGE = re.compile(r"^([\w.+-]+)\s*(?:[=>]=\s*([\d.]+))?")


@dataclass(frozen=True)
class Task:
    """One line of the table.

    Attributes:
        name: for --for.
        use: what it is good for, an imperative.
        includes: tasks.
        lists: of its own, "apt:NAME" or "pip:FILE".
    """

    name: str
    use: str
    includes: Tuple[str, ...]
    lists: Tuple[str, ...]


@dataclass(frozen=True)
class Listed:
    """A package of one or more lists.

    Attributes:
        kind: "apt" or "pip".
        name: as the package registry has it.
        minimum: version; empty if any will do.
        tasks: those whose own lists have it.
    """

    kind: str
    name: str
    minimum: str
    tasks: Tuple[str, ...]


def read_tasks(root: Path) -> Dict[str, Task]:
    """All tasks of a checkout, in the order of the table."""
    tasks = {}
    text = (root / "setup" / "tasks.txt").read_text(encoding="utf-8")
    for name, needs, use in filter(None, map(_parts, text.splitlines())):
        words = needs.split()
        tasks[name] = Task(
            name,
            use,
            tuple(word for word in words if ":" not in word),
            tuple(word for word in words if ":" in word),
        )
    return tasks


def _parts(line: str) -> Tuple[str, ...]:
    found = _TASK.match(line)
    return found.groups() if found else ()


def included(tasks: Mapping[str, Task], name: str) -> FrozenSet[str]:
    """A task and all that it includes."""
    found = {name}
    for part in tasks[name].includes:
        found |= included(tasks, part)
    return frozenset(found)


def listed(root: Path) -> List[Listed]:
    """Every package of every list, in the order of the tasks."""
    found: Dict[Tuple[str, str], Listed] = {}
    for task in read_tasks(root).values():
        for name in task.lists:
            kind, _, file = name.partition(":")
            path = f"apt/{file}.txt" if kind == "apt" else file
            for package, minimum in _lines(root / "setup" / path):
                before = found.get((kind, package))
                tasks = (*(before.tasks if before else ()), task.name)
                found[kind, package] = Listed(kind, package, minimum, tasks)
    return list(found.values())


def _lines(path: Path) -> Iterator[Tuple[str, str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        found = _PACKAGE.match(line.split("#")[0])
        if found:
            yield found[1], found[2] or ""

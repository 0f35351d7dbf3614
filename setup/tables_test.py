# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, List

import pytest

from setup import tables

_SETUP = Path(__file__).resolve().parent
# "package  # its use"; pip's lists may have versions.
_LINE = re.compile(r"[\w.+-]+(?:[=>]=[\d.]+(?:,<[\d.]+)?)?  # \S.*")


def _lists() -> Dict[str, List[str]]:
    """Each list's packages, with their uses; names are those of tasks.txt."""
    texts = {}
    for file in ("apt", "requirements", "optionals", "pip"):
        kind = "apt" if file == "apt" else "pip"
        text = (_SETUP / f"{file}.txt").read_text()
        sections = re.split(r"^# \[(.+)\]$", text, flags=re.M)
        for name, packages in zip(sections[1::2], sections[2::2]):
            assert f"{kind}:{name}" not in texts
            texts[f"{kind}:{name}"] = packages
    return {
        name: [line for line in text.splitlines() if line and not line.startswith("#")]
        for name, text in texts.items()
    }


@pytest.mark.parametrize(("name", "packages"), sorted(_lists().items()))
def test_every_package_says_what_it_is_for(name: str, packages: List[str]) -> None:
    assert packages, name
    assert [line for line in packages if not _LINE.fullmatch(line)] == []


def test_every_list_of_a_task_is_there() -> None:
    text = (_SETUP / "tasks.txt").read_text(encoding="utf-8")
    needs = [line.split("#")[0] for line in text.splitlines()]
    named = re.findall(r"(?:apt|pip):\S+", "\n".join(needs))
    assert named
    assert set(named) <= set(_lists())


def test_every_line_of_the_table_of_tasks_is_read() -> None:
    lines = (_SETUP / "tasks.txt").read_text(encoding="utf-8").splitlines()
    named = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert tables.tasks() == named


def test_every_task_is_known_and_needs_something() -> None:
    names = tables.tasks()
    assert {"convert", "build", "run", "farm", "docs", "all"} <= set(names)
    for name in names:
        assert tables.packages(name), name


# PyTorch has 200 MB to 2 GB, and tests have its results recorded.
_NOT_IN_ALL = "pytorch"


def test_all_is_the_sum_of_the_tasks() -> None:
    parts = {
        package
        for name in tables.tasks()
        if name not in ("all", _NOT_IN_ALL)
        for package in tables.packages(name)
    }
    assert parts == set(tables.packages("all"))


def test_all_lists_are_part_of_a_task() -> None:
    packages = [*tables.packages("all"), *tables.packages(_NOT_IN_ALL)]
    listed = {name for _, name in packages}
    for name, lines in _lists().items():
        for line in lines:
            assert line.split()[0] in listed, f"{name}: {line}"


def test_table_has_every_package() -> None:
    text = tables.table()
    for _, name in tables.packages("all"):
        assert text.count(f"| `{name}` |") == 1

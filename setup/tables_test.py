# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import re
from pathlib import Path

import pytest

from setup import tables

_SETUP = Path(__file__).resolve().parent
# "package  # its use"; pip's lists may have versions.
_LINE = re.compile(r"[\w.+-]+(?:[=>]=[\d.]+(?:,<[\d.]+)?)?  # \S.*")


@pytest.mark.parametrize(
    "file",
    sorted([*_SETUP.glob("apt/*.txt"), *_SETUP.glob("req*.txt")]),
    ids=lambda file: file.name,
)
def test_every_package_says_what_it_is_for(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    packages = [line for line in lines if line and not line.startswith("#")]
    assert packages
    assert [line for line in packages if not _LINE.fullmatch(line)] == []


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
    for file in [*_SETUP.glob("apt/*.txt"), *_SETUP.glob("requirements*.txt")]:
        for line in file.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                assert line.split()[0] in listed, f"{file.name}: {line}"


def test_table_has_every_package() -> None:
    text = tables.table()
    for _, name in tables.packages("all"):
        assert text.count(f"| `{name}` |") == 1

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the headers of mace/public promise to those who include them.

That each compiles by itself, in C where it is C, is a part of test/standalone.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_PUBLIC = Path(__file__).resolve().parents[2] / "mace" / "public"
_HEADERS = sorted(path.name for path in _PUBLIC.glob("*.h"))


def _text(name: str) -> str:
    return (_PUBLIC / name).read_text("utf-8")


def _own_includes(name: str) -> list[str]:
    return re.findall(r'^#include "(.+?)"', _text(name), re.MULTILINE)


def _reached(name: str) -> set[str]:
    """The headers that come with one."""
    found = {name}
    for path in _own_includes(name):
        found |= _reached(Path(path).name)
    return found


@pytest.mark.parametrize("name", _HEADERS)
def test_a_header_includes_nothing_else_of_mace(name: str) -> None:
    allowed = {f"mace/public/{other}" for other in _HEADERS}
    assert set(_own_includes(name)) <= allowed


@pytest.mark.parametrize("name", _HEADERS)
def test_a_header_begins_with_what_it_is_for(name: str) -> None:
    # Below the two lines of the licence, in either style of comment.
    first = r"(?://|/\*) Copyright .*\n(?://|/\*) SPDX-.*\n(?://)?\n(?://|/\*) [A-Z]\w+"
    assert re.match(first, _text(name))


def test_the_readme_has_each_header_once() -> None:
    rows = re.findall(r"^\| (`.*?) \|", _text("README.md"), re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`(\w+\.h)`", row)]
    assert sorted(listed) == _HEADERS


def test_mace_h_has_what_stands_below_it_in_the_readme() -> None:
    text = _text("README.md").partition("`mace.h`")[2].partition("`mace_c.h`")[0]
    listed = set(re.findall(r"`(\w+\.h)`", text))
    assert _reached("mace.h") == {"mace.h"} | listed
    # Each directly: one can see at a glance what it consists of.
    assert {Path(path).name for path in _own_includes("mace.h")} == listed

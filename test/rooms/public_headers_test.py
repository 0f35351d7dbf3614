# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the headers of mace/public and mace/pipeline promise to those who include them.

That each compiles by itself, in C where it is C, is a part of test/standalone.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_MACE = Path(__file__).resolve().parents[2] / "mace"
# As they are included.
_PUBLIC = sorted(f"mace/public/{path.name}" for path in _MACE.glob("public/*.h"))
_PIPELINE = sorted(f"mace/pipeline/{path.name}" for path in _MACE.glob("pipeline/*.h"))


def _text(header: str) -> str:
    return (_MACE.parent / header).read_text("utf-8")


def _own_includes(header: str) -> list[str]:
    return re.findall(r'^#include "(.+?)"', _text(header), re.MULTILINE)


def _reached(header: str) -> set[str]:
    """The headers that come with one."""
    found = {header}
    for included in _own_includes(header):
        found |= _reached(included)
    return found


def _listed(readme: str) -> list[str]:
    """The headers that a part of the README names."""
    return [f"mace/public/{name}" for name in re.findall(r"`(\w+\.h)`", readme)]


@pytest.mark.parametrize("header", _PUBLIC)
def test_a_header_includes_nothing_else_of_mace(header: str) -> None:
    assert set(_own_includes(header)) <= set(_PUBLIC)


@pytest.mark.parametrize("header", _PIPELINE)
def test_chains_include_public_headers_alone(header: str) -> None:
    assert set(_own_includes(header)) <= {*_PUBLIC, *_PIPELINE}


@pytest.mark.parametrize("header", [*_PUBLIC, *_PIPELINE])
def test_a_header_begins_with_what_it_is_for(header: str) -> None:
    # Below the two lines of the licence, in either style of comment.
    first = r"(?://|/\*) Copyright .*\n(?://|/\*) SPDX-.*\n(?://)?\n(?://|/\*) [A-Z]\w+"
    assert re.match(first, _text(header))


def test_the_readme_has_each_header_once() -> None:
    rows = re.findall(r"^\| (`.*?) \|", _text("mace/public/README.md"), re.MULTILINE)
    assert sorted(_listed("".join(rows))) == _PUBLIC


def test_mace_h_has_what_stands_below_it_in_the_readme() -> None:
    text = _text("mace/public/README.md")
    listed = set(_listed(text.partition("`mace.h`")[2].partition("`mace_c.h`")[0]))
    assert _reached("mace/public/mace.h") == {"mace/public/mace.h"} | listed
    # Each directly: one can see at a glance what it consists of.
    assert set(_own_includes("mace/public/mace.h")) == listed

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The rooms of the native side depend one way, and Bazel holds them to it.

The order is that of docs/development/architecture.md.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from mace.python.tools.bazel_command import bazel_command

_ROOT = Path(__file__).resolve().parents[2]
# From the bottom up; each may use those before it.
_ROOMS = ("public", "core", "kernels", "ops", "runtimes", "tools")


def _targets(room: str) -> str:
    return f"//mace/{room}/..."


@functools.cache
def _query(expression: str) -> list[str]:
    # The user's flags are for builds; a query knows few of them.
    bazel = replace(bazel_command(), flags=())
    if shutil.which(bazel.program) is None:
        pytest.skip(f"{bazel.program} is not installed")
    command = bazel.words("query", "--noimplicit_deps", "--order_output=no", expression)
    result = subprocess.run(
        command,
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return sorted(result.stdout.split())


@pytest.mark.parametrize("room", _ROOMS)
def test_a_room_uses_only_those_below(room: str) -> None:
    allowed = _ROOMS[: _ROOMS.index(room) + 1]
    if "ops" in allowed:
        # Reads the declarations when headers are generated from them.
        allowed += ("python",)
    if room == "tools":
        # What users link, and models that are linked into mace_run.
        allowed += ("embedding",)
    used = f"kind(' rule$', filter('^//mace', deps({_targets(room)})))"
    above = " except ".join([used, *map(_targets, allowed)])
    others = _query(f"{above} except //mace:*")
    assert others == []
    library = _query(f"{used} intersect //mace:*")
    assert library == [] or room == "tools"


@pytest.mark.parametrize("room", _ROOMS[:-2])
def test_what_lies_above_is_not_even_visible(room: str) -> None:
    above = " + ".join(map(_targets, _ROOMS[_ROOMS.index(room) + 1 :]))
    wanted = f"kind(' rule$', {above}) except //mace/tools:mace_run"
    assert len(_query(wanted)) > 5
    # Of one target: visible() asks for what all of them see.
    beholder = _query(f"kind(cc_library, {_targets(room)})")[0]
    assert _query(f"visible({beholder}, {wanted})") == []


def test_applications_see_the_library_and_its_headers_only() -> None:
    inside = " + ".join(map(_targets, [*_ROOMS[1:], "embedding"]))
    example = "//mace/examples/cpp:example"
    assert _query(f"visible({example}, kind(' rule$', {inside}))") == [
        "//mace/tools:mace_run"
    ]
    assert _query(f"visible({example}, //mace:mace + //mace/public)") == [
        "//mace/public:public",
        "//mace:mace",
    ]


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("//test/ccunit:mace_cc_test", "//mace/ops:ops_test"),
        ("//test/ccbenchmark:mace_cc_benchmark", "//mace/ops:ops_benchmark"),
    ],
)
def test_names_of_other_releases_hold_the_same(name: str, same: str) -> None:
    cases = _query(f"filter('^//mace', deps({same}) except {same})")
    assert any(label.endswith("_cases") for label in cases)
    assert _query(f"filter('^//mace', deps({name}))") == cases

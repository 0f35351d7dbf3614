# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that dependencies between the native side's rooms have one direction. The order
is that of docs/development/architecture.md.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from mace.python.tools.build_tools import bazel_command
from mace.python.tools.export.selection import PARTS, QUANTIZED_KERNELS

_ROOT = Path(__file__).resolve().parents[2]
_CORE = ("core/base", "core/model", "core/memory", "core/graph", "core/engine")
# From the bottom up; each may use those before it, and `public`.
_ROOMS: dict[str, tuple[str, ...]] = {
    "core/base": (),
    "core/model": ("core/base",),
    "core/memory": ("core/base",),
    "core/graph": _CORE[:3],
    "core/engine": _CORE[:4],
    "kernels": ("core/base",),
    # Reads the declarations when headers are generated from them.
    "ops": ("core/base", "core/model", "kernels", "python"),
    "runtimes": (*_CORE[:4], "kernels", "ops", "python"),
    # What users link, and models that are linked into mace_run.
    "tools": (*_CORE, "kernels", "ops", "python", "runtimes", "embedding"),
}


def _targets(room: str) -> str:
    return f"//mace/{room}/..."


@functools.cache
def _query(expression: str) -> list[str]:
    # The user's flags are for builds; a query supports few of them.
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
    # Tests may use more: tests of the model's reader create an engine.
    library = f"attr(testonly, 0, {_targets(room)})"
    used = f"kind(' rule$', filter('^//mace', deps({library})))"
    allowed = ("public", room, *_ROOMS[room])
    above = " except ".join([used, *map(_targets, allowed)])
    others = _query(f"{above} except //mace:*")
    assert others == []


def test_every_room_is_one_of_these() -> None:
    libraries = "attr(testonly, 0, //mace/core/... + //mace/kernels/...)"
    rooms = " except ".join([libraries, *map(_targets, _ROOMS)])
    assert _query(f"kind(' rule$', {rooms})") == []


def test_a_selection_may_name_kernels_whatever_the_devices() -> None:
    if shutil.which(bazel_command().program) is None:
        pytest.skip(f"{bazel_command().program} is not installed")
    rooms = ["conv2d", *PARTS.values(), QUANTIZED_KERNELS]
    for gpu in ("false", "true"):
        flags = (f"--//mace/ops:only={','.join(rooms)}", f"--define=opencl={gpu}")
        bazel = replace(bazel_command(), flags=())
        command = bazel.words("build", "--nobuild", *flags, "//mace")
        result = subprocess.run(
            command,
            cwd=_ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr

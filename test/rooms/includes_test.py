# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The files of an operator include the kernels that its declaration names.

Bazel lets every room include every family of kernels: a room has no BUILD file or list
from which Bazel could read its own families.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.catalogue import default_catalogue

_ROOT = Path(__file__).resolve().parents[2]
_OPS = _ROOT / "mace" / "ops"
_KERNELS = _ROOT / "mace" / "kernels" / "cpu"
_EVERY_OP = pytest.mark.parametrize("op_type", sorted(default_catalogue().ops))


def _includes(path: Path) -> list[str]:
    return re.findall(r'^#include "(.+)"', path.read_text("utf-8"), re.MULTILINE)


def _sources(room: Path) -> Iterator[Path]:
    for path in sorted((*room.glob("*.cc"), *room.glob("*.h"))):
        if not re.search(r"_(test|testing|benchmark)$", path.stem):
            yield path


def _belongs_to(path: Path, op_type: str) -> bool:
    """Whether a source is an operator's own; what is called like none of its room's
    belongs to that which is called like the room."""
    catalogue = default_catalogue()
    room = catalogue.rooms[op_type]
    names = [
        name for kind, name in catalogue.names.items() if catalogue.rooms[kind] == room
    ]
    begun = [name for name in names if re.match(rf"{name}(_|$)", path.stem)]
    return max(begun, key=len, default=room) == catalogue.names[op_type]


@_EVERY_OP
def test_an_operator_includes_the_kernels_that_it_declares(op_type: str) -> None:
    room = _OPS / default_catalogue().rooms[op_type]
    families = {
        match[1]
        for path in _sources(room)
        if _belongs_to(path, op_type)
        for include in _includes(path)
        if (match := re.match(r"mace/kernels/cpu/(\w+)/", include))
    }
    assert families == set(default_catalogue()[op_type].cpu_kernels)
    assert all((_KERNELS / family).is_dir() for family in families)


@_EVERY_OP
def test_a_room_includes_no_other_operator(op_type: str) -> None:
    rooms = default_catalogue().rooms
    others = set(rooms.values()) - {rooms[op_type]}
    used = {
        match[1]
        for path in _sources(_OPS / rooms[op_type])
        for include in _includes(path)
        if (match := re.match(r"mace/ops/(\w+)/", include))
    }
    assert not used & others


@_EVERY_OP
def test_what_devices_share_includes_nothing_of_one(op_type: str) -> None:
    room = default_catalogue().rooms[op_type]
    shared = [_OPS / room / f"{room}{end}" for end in (".cc", ".h")]
    for path in filter(Path.exists, shared):
        for include in _includes(path):
            assert not re.match(r"mace/(kernels|runtimes|ops/cpu_op)/", include), path

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The rooms of the tools are layers: none imports one above, none in a circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from mace.python.tools.custom_ops import RARE_OPS, rare_modules
from mace.python.tools.importers.frame.opened import available_importers

_TOOLS = Path(__file__).parent
_FRAMEWORK = re.compile(
    r"^\s*(?:from|import) mace\.python\.tools\.importers\.(\w+)", re.M
)
_PACKAGE = "mace.python.tools"

# From the ground up. A room may import rooms of its own layer, too, as long as
# no circle comes of it.
_LAYERS = (
    ("errors", "wording", "data_type", "checksum"),
    (
        "interruption",
        "custom_ops",
        "atomic",
        "reference_page",
        "build_tools",
        "accelerator_facts",
        "html_template",
    ),
    ("config",),
    ("command_line", "bazel", "fetch", "proto"),
    ("catalogue", "ir"),
    ("importers", "passes", "export", "quantize"),
    ("convert",),
    ("load", "devices", "validate"),
    ("report",),
    ("run",),
    ("calibrate", "inspection"),
    (
        "doctor",
        "debug",
        "images",
        "bazel_run",
        "new_op",
        "quantization",
        "rewrite",
        "cli",
    ),
)
# What handlers in users' own folders may use, besides their framework's importer;
# docs/development/adding_an_op.md lists it.
_FOR_HANDLERS = (
    "data_type",
    "errors",
    "importers.emit",
    "importers.frame.budget",
    "importers.frame.errors",
    "importers.standard",
    "importers.tf_operators",
    "ir",
    "wording",
)
_LAYER = {room: number for number, rooms in enumerate(_LAYERS) for room in rooms}


def _imported(tree: ast.Module) -> Iterator[str]:
    """The modules and names of them that a file imports, late and for types only as
    well, without the package's name.
    """
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "rooms are imported by their full name"
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith(f"{_PACKAGE}."):
                yield name[len(_PACKAGE) + 1 :]


def _graph() -> dict[str, dict[str, str]]:
    """By room, the rooms that it imports, each with a file that does."""
    graph: dict[str, dict[str, str]] = {}
    for path in sorted(_TOOLS.rglob("*.py")):
        place = path.relative_to(_TOOLS)
        is_test = path.name.endswith("_test.py") or path.name == "conftest.py"
        if is_test or "testing" in (*place.parts, path.stem):
            continue
        room = place.parts[0] if len(place.parts) > 1 else path.stem
        if room == "__init__":
            continue
        found = graph.setdefault(room, {})
        for name in _imported(ast.parse(path.read_text(encoding="utf-8"))):
            other = name.split(".")[0]
            if other != room:
                found.setdefault(other, place.as_posix())
    return graph


def _circle(graph: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The rooms of one circle of imports; none if there is no circle."""
    done: set[str] = set()

    def visit(room: str, way: list[str]) -> list[str]:
        if room in way:
            return [*way[way.index(room) :], room]
        if room in done:
            return []
        for other in graph.get(room, ()):
            found = visit(other, [*way, room])
            if found:
                return found
        done.add(room)
        return []

    return next((found for room in graph if (found := visit(room, []))), [])


def test_every_room_has_its_layer() -> None:
    assert set(_graph()) == set(_LAYER)


def test_no_room_imports_a_room_above_it() -> None:
    upward = [
        f"{place}: {room} imports {other}"
        for room, others in _graph().items()
        for other, place in others.items()
        if _LAYER[other] > _LAYER[room]
    ]
    assert not upward


def test_rooms_import_each_other_in_no_circle() -> None:
    assert not _circle(_graph())


def test_no_framework_imports_another() -> None:
    """What several need is in `standard`, `tf_operators`, `emit` or `frame`."""
    importers = _TOOLS / "importers"
    frameworks = available_importers()
    wrong = []
    for path in sorted(importers.glob("*/**/*.py")):
        own, *_ = path.relative_to(importers).parts
        is_test = path.stem.endswith("_test") or path.stem == "testing"
        if is_test:
            continue
        found = set(_FRAMEWORK.findall(path.read_text(encoding="utf-8")))
        others = (found & set(frameworks)) - {own}
        wrong += [f"{path.relative_to(_TOOLS)}: {other}" for other in sorted(others)]
    assert not wrong


def test_rare_operators_use_what_users_own_may_use() -> None:
    page = _TOOLS.parents[2] / "docs/development/adding_an_op.md"
    text = page.read_text(encoding="utf-8")
    for name in _FOR_HANDLERS:
        place = re.sub(r"frame\.(\w+)", r"frame/\1.py", name.replace("importers.", ""))
        assert f"`{place}`" in text
    wrong = []
    for framework in available_importers():
        allowed = (*_FOR_HANDLERS, f"importers.{framework}")
        for _, path in rare_modules(framework):
            for name in _imported(ast.parse(path.read_text(encoding="utf-8"))):
                if not f"{name}.".startswith(tuple(f"{a}." for a in allowed)):
                    wrong.append(f"{path.relative_to(RARE_OPS)}: {name}")
    assert not wrong


def test_a_circle_is_found() -> None:
    around = {"a": {"b": ""}, "b": {"c": ""}, "c": {"b": ""}}
    assert _circle(around) == ["b", "c", "b"]
    assert not _circle({"a": {"b": "", "c": ""}, "b": {"c": ""}, "c": {}})

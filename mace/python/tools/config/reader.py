# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""From a tree of YAML to a deployment, key by key.

Every key is judged on its own, so that one wrong key hides no other: what is
right stays available to the rules that involve several keys. Spellings of
earlier versions are read as the present ones, each with one warning.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mace.python.tools.config import values
from mace.python.tools.config.deployment import (
    Deployment,
    FileRef,
    GivenKey,
    ModelConfig,
    SubgraphConfig,
)
from mace.python.tools.config.keys import Key, Section, keys_of
from mace.python.tools.config.problems import Problem
from mace.python.tools.config.yaml_source import (
    MappingNode,
    Node,
    Place,
    Scalar,
    Sequence,
    plain,
)
from mace.python.tools.wording import nearest, shown

# Where a key of this section may be found by someone who misplaced it.
_LEVELS: Mapping[type[Section], str] = {
    Deployment: "at the top of the file",
    ModelConfig: "with the model, beside its subgraphs",
    SubgraphConfig: "in an entry of subgraphs",
}


# Keys of the file that are gone, and what is there instead.
GONE: Mapping[str, str] = {"vlog_level": "use the flag --vlog_level"}

# Subgraph keys that may stand beside `subgraphs` for all of them, or instead
# of them, as in early files.
_SHARED = {
    name: key
    for name, key in keys_of(SubgraphConfig).items()
    if name not in keys_of(ModelConfig)
}

# Data types that say only "in 8 bit", of devices that compute in nothing else.
_EIGHT_BITS = ("uint8", "int8")
_EIGHT_BIT_RUNTIMES = ("dsp", "hta", "htp")

_NOTHING = Scalar(None, "", Place(""))


@dataclass
class Parsed:
    """A section's good values.

    Attributes:
        name: of a model.
        nodes, places: of the keys that the file gives, and where, by their
            present names and in present words.
        values: with defaults for absent keys; a key that is required and
            absent, or whose value is wrong, is not in it. Sections below are
            lists of `Parsed`.
        misspelled: known keys that an unknown key was probably meant to be:
            reported there, and not once more as missing.
    """

    section: type[Section]
    node: MappingNode
    name: str = ""
    nodes: dict[str, Node] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    misspelled: set[str] = field(default_factory=set)

    def get(self, name: str) -> Any:
        """The value, or None when it is absent or wrong."""
        return self.values.get(name)

    def gives(self, name: str) -> bool:
        """Whether the file says it."""
        return plain(self.nodes.get(name, _NOTHING)) is not None

    def word(self, name: str) -> str:
        """A value as written, for what must be known before it is judged."""
        return _word(self.nodes.get(name))

    def path(self, name: str) -> str:
        """The key's path as the user wrote it; of the section itself if ''."""
        if name in self.nodes:
            return self.nodes[name].path
        return ".".join(part for part in (self.node.path, name) if part)

    def place(self, name: str) -> Place:
        """Where the key stands, or the section that lacks it."""
        return self.places.get(name, self.node.place)


class Reader:
    """Reads a tree; `problems` and `warnings` grow as it goes."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.warnings: list[str] = []

    def problem(self, path: str, place: Place, message: str) -> None:
        found = Problem(path, message, place.origin, place.line)
        if found not in self.problems:
            self.problems.append(found)

    def _warn(self, path: str, place: Place, message: str) -> None:
        warning = f"{place.origin}: {path}: {message}"
        if warning not in self.warnings:
            self.warnings.append(warning)

    def read(
        self,
        section: type[Section],
        node: MappingNode,
        name: str = "",
        outer: Parsed | None = None,
    ) -> Parsed:
        """Reads a section.

        Args:
            outer: the model that a subgraph is of.
        """
        parsed = Parsed(section, node, name)
        known = keys_of(section)
        self._find_keys(parsed, known, outer)
        for key in known.values():
            if parsed.gives(key.name):
                child = parsed.nodes[key.name]
                if key.section is not None:
                    self._below(parsed, key, key.section, child)
                else:
                    self._value(parsed, key, child)
            elif not key.required:
                parsed.values[key.name] = key.default
            elif key.name in parsed.nodes or key.name not in parsed.misspelled:
                absent = key.name not in parsed.nodes
                self.problem(
                    parsed.path(key.name),
                    parsed.place(key.name),
                    f"{'is missing' if absent else 'has no value'}; it is required: "
                    f"{key.meaning}",
                )
        return parsed

    def _find_keys(
        self, parsed: Parsed, known: Mapping[str, Key], outer: Parsed | None
    ) -> None:
        """Fills nodes and places, and tells what is no key."""
        node, shared = parsed.node, self._shared(parsed)
        for key in known.values():
            self._find(parsed, key, node)
            if key.name not in parsed.nodes and key.name in _SHARED and outer:
                self._find(parsed, key, outer.node)
        spellings = {*shared, *_names(*known.values())}
        for found in node.entries:
            if found in GONE and parsed.section is Deployment:
                self._no_effect(found, node.key_places[found], GONE[found])
            elif found not in spellings:
                self._unknown_key(parsed, found)
        runtime = parsed.word("runtime") or (outer.word("runtime") if outer else "")
        if parsed.word("data_type") in _EIGHT_BITS and runtime in _EIGHT_BIT_RUNTIMES:
            place = parsed.places.pop("data_type")
            path = parsed.nodes.pop("data_type").path
            self._no_effect(path, place, "it chooses among types of floats")

    def _shared(self, parsed: Parsed) -> tuple[str, ...]:
        """The spellings of subgraph keys that a model may have for its subgraphs."""
        node = parsed.node
        if parsed.section is not ModelConfig:
            return ()
        if "subgraphs" not in node.entries:
            tensors = _names(_SHARED["input_tensors"], _SHARED["output_tensors"])
            if not any(name in node.entries for name in tensors):
                return ()
            # An early file: the model is its only subgraph.
            only = MappingNode({}, node.path, node.place)
            parsed.nodes["subgraphs"] = Sequence([only], node.path, node.place)
            parsed.places["subgraphs"] = node.place
        return _names(*_SHARED.values())

    def _no_effect(self, path: str, place: Place, reason: str) -> None:
        self._warn(path, place, f"has no effect: {reason}")

    def _find(self, parsed: Parsed, key: Key, node: MappingNode) -> None:
        """Finds a key by its present name, or by an earlier one."""
        for spelled in _names(key):
            if spelled not in node.entries:
                continue
            found, place = node.entries[spelled], node.key_places[spelled]
            words = key.words if spelled == key.name else key.was[spelled]
            new_word = words.get(_word(found))
            advice = f"is now called {key.name}"
            if isinstance(found, Scalar) and new_word is not None:
                if spelled == key.name:
                    advice = f"{shown(_word(found))} is now written {shown(new_word)}"
                else:
                    advice = f'is now written "{key.name}: {new_word}"'
                found = Scalar(new_word, found.path, found.place)
            elif spelled == key.name:
                advice = ""
            if key.name in parsed.nodes:
                other = parsed.places[key.name].origin
                text = f"{advice}, which is also given ({other})"
                self.problem(found.path, place, text)
                continue
            parsed.nodes[key.name], parsed.places[key.name] = found, place
            if advice:
                self._warn(found.path, place, advice)

    def _value(self, parsed: Parsed, key: Key, node: Node) -> None:
        assert key.kind is not None
        try:
            parsed.values[key.name] = key.kind.read(plain(node))
        except values.BadValueError as error:
            for index, message in error.problems:
                at = node
                if isinstance(node, Sequence) and index is not None:
                    at = node.items[min(index, len(node.items) - 1)]
                self.problem(at.path, at.place, message)

    def _below(
        self, parsed: Parsed, key: Key, section: type[Section], node: Node
    ) -> None:
        """Reads the sections that a key's value is made of."""
        children: list[tuple[str, Node]] = []
        if key.container is None:
            children = [("", node)]
        elif key.container is dict and isinstance(node, MappingNode):
            children = list(node.entries.items())
        elif key.container is list and isinstance(node, Sequence):
            children = [("", item) for item in node.items]
        if not children:
            self._wrong_container(key, node)
            return
        found = []
        for name, child in children:
            if isinstance(child, MappingNode):
                found.append(self.read(section, child, name, parsed))
            else:
                first = next(k.name for k in keys_of(section).values())
                wanted = next(
                    (k.name for k in keys_of(section).values() if k.required), first
                )
                what = "a list" if isinstance(child, Sequence) else "nothing"
                if isinstance(child, Scalar) and child.text is not None:
                    what = shown(child.text)
                self.problem(
                    child.path,
                    child.place,
                    f"found {what}, accepted: a mapping with keys such as {wanted}",
                )
        parsed.values[key.name] = found

    def _wrong_container(self, key: Key, node: Node) -> None:
        if key.container is dict:
            wanted = "a mapping from name to settings"
        else:
            wanted = "a list of at least one entry"
            if isinstance(node, MappingNode):
                wanted += f'; begin each entry of {key.name} with "- "'
        error = values.refuse(plain(node), wanted)
        self.problem(node.path, node.place, str(error))

    def _unknown_key(self, parsed: Parsed, name: str) -> None:
        known = keys_of(parsed.section)
        message = "unknown key"
        for other, where in _LEVELS.items():
            if other is not parsed.section and name in keys_of(other):
                message += f"; {name} belongs {where}"
                break
        else:
            earlier = [old for key in known.values() for old in key.was]
            near = nearest(name, [*known, *earlier])
            if near:
                message += f"; did you mean {near}?"
                parsed.misspelled.add(near)
            else:
                message += f"; known here: {', '.join(known)}"
        place = parsed.node.key_places[name]
        self.problem(parsed.node.entries[name].path, place, message)


def _names(*keys: Key) -> tuple[str, ...]:
    """All spellings of keys."""
    return tuple(name for key in keys for name in (key.name, *key.was))


def _word(node: Node | None) -> str:
    if isinstance(node, Scalar) and node.text is not None:
        return node.text.strip().lower()
    return ""


def build_deployment(
    parsed: Parsed, source: Path, warnings: tuple[str, ...]
) -> Deployment:
    """The deployment of a file without problems."""
    folder = Path(os.path.abspath(source)).parent
    built: Deployment = _build(parsed, (Path.cwd(), folder), {})
    return dataclasses.replace(
        built, source=source, warnings=warnings, given=tuple(_given(parsed))
    )


def _build(
    parsed: Parsed, search_dirs: tuple[Path, ...], inherited: Mapping[str, Any]
) -> Any:
    keys = keys_of(parsed.section)
    found: dict[str, Any] = {}
    for key in keys.values():
        value = parsed.values[key.name]
        if key.inherited and not parsed.gives(key.name) and key.name in inherited:
            value = inherited[key.name]
        elif value is not None and key.kind is not None and key.kind.is_file:
            value = _files(parsed, key, search_dirs)
        found[key.name] = value
    if parsed.section is ModelConfig:
        found["name"] = parsed.name
        if not parsed.gives("runtime"):
            # Every subgraph has its own then.
            found["runtime"] = parsed.values["subgraphs"][0].values["runtime"]
    for key in keys.values():
        if key.section is not None and found[key.name] is not None:
            below = [_build(item, search_dirs, found) for item in found[key.name]]
            found[key.name] = tuple(below) if key.container else below[0]
    if parsed.section is ModelConfig:
        found["subgraphs"] = tuple(_named(found["subgraphs"], parsed.name))
    return parsed.section(**found)


def _named(
    subgraphs: tuple[SubgraphConfig, ...], model: str
) -> Iterator[SubgraphConfig]:
    for index, subgraph in enumerate(subgraphs):
        name = f"{model}_{index}" if len(subgraphs) > 1 else model
        yield dataclasses.replace(subgraph, name=subgraph.name or name)


def _files(
    parsed: Parsed, key: Key, search_dirs: tuple[Path, ...]
) -> FileRef | tuple[FileRef, ...]:
    value, path = parsed.values[key.name], parsed.path(key.name)
    if isinstance(value, tuple):
        return tuple(
            FileRef(location, f"{path}[{index}]", search_dirs=search_dirs)
            for index, location in enumerate(value)
        )
    checksum = key.checksum
    return FileRef(
        value,
        path,
        parsed.values[checksum] if checksum else None,
        parsed.path(checksum) if checksum else None,
        search_dirs,
    )


def _given(
    parsed: Parsed, model: str = "", subgraph: int | None = None
) -> Iterator[GivenKey]:
    keys = keys_of(parsed.section)
    for name, place in sorted(parsed.places.items(), key=lambda item: item[1].line):
        yield GivenKey(
            keys[name],
            parsed.values[name],
            parsed.path(name),
            place.origin,
            model,
            subgraph,
        )
    for key in keys.values():
        for index, below in enumerate((key.section and parsed.values[key.name]) or ()):
            yield from _given(
                below,
                below.name or model,
                index if below.section is SubgraphConfig else None,
            )

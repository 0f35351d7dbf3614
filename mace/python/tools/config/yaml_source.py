# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads YAML text into a tree that remembers where everything stood.

Scalars stay text: whether ``1``, ``on`` or ``1e5`` is a number, a flag or a
tensor's name is for the schema to say, not for YAML's guesses. That is what
lets ``input_tensors: 0`` name an ONNX tensor and keeps a checksum made of
digits whole.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Union

import yaml

from mace.python.tools.config.problems import ConfigError, Problem
from mace.python.tools.wording import shown

# The biggest real deployment files have a few hundred lines; a file beyond
# this is a model given by mistake.
MAX_BYTES = 1 << 20
# A deployment file nests 6 deep and has some thousand words. PyYAML takes 27 us
# for each, so that this is half a second; aliases count for all they stand for.
MAX_DEPTH = 32
MAX_NODES = 20_000

_ENV = re.compile(r"\$\{(\w+)\}")
# `${X}` is not legal YAML inside [ ], so variables travel through the YAML
# parser between two characters of Unicode's private use area.
_ENV_OPEN, _ENV_CLOSE = "\ue000", "\ue001"
_ENV_MARK = re.compile(f"{_ENV_OPEN}(\\w+){_ENV_CLOSE}")

# An escape such as "\ud800" makes one; no file system or terminal takes it.
_SURROGATE = re.compile("[\ud800-\udfff]")

_NULL_WORDS = frozenset({"", "~", "null", "Null", "NULL"})
_MERGE_TAG = "tag:yaml.org,2002:merge"
_KNOWN_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}"
    for name in ("str", "int", "float", "bool", "null", "map", "seq")
)


@dataclass(frozen=True)
class Place:
    """Where a node stands: the file's line or the flag that gave it."""

    origin: str
    line: int = 0


@dataclass
class Scalar:
    """A single value as written; `text` is None for an empty one."""

    text: str | None
    path: str
    place: Place


@dataclass
class Sequence:
    """A list."""

    items: list[Node]
    path: str
    place: Place


@dataclass
class MappingNode:
    """A mapping; `key_places` tells where each key itself stands."""

    entries: dict[str, Node]
    path: str
    place: Place
    key_places: dict[str, Place] = field(default_factory=dict)


Node = Union[Scalar, Sequence, MappingNode]

# What a node is without its marks, as the schema takes it.
Plain = Union[None, str, "list[Plain]", "dict[str, Plain]"]


def read_yaml(path: Path, env: Mapping[str, str] | None = None) -> MappingNode:
    """Reads the YAML mapping in file `path`.

    Args:
        path: the file.
        env: variables that ``${NAME}`` may name; the process's own if None.

    Raises:
        ConfigError: no such file, not text, not YAML, or not a mapping;
            duplicate keys, unknown variables and unsupported YAML features
            are listed together.
    """
    return parse_yaml(_read_text(path), path, env)


def parse_yaml(
    text: str, source: Path, env: Mapping[str, str] | None = None
) -> MappingNode:
    """As `read_yaml`, for text that was read from `source`."""
    marked = _ENV.sub(f"{_ENV_OPEN}\\1{_ENV_CLOSE}", text)
    loader = None
    try:
        # The constructor already reads ahead and rejects control characters.
        loader = _LimitedLoader(marked)
        root = loader.get_single_node()
    except _TooLargeError as error:
        raise _whole_file(source, str(error)) from None
    except yaml.YAMLError as error:
        raise _yaml_error(source, error) from None
    except ValueError as error:
        # PyYAML lets some malformed escapes through as ValueError.
        raise _whole_file(source, f"is not valid YAML: {error}") from None
    finally:
        if loader is not None:
            loader.dispose()
    if root is None:
        raise _whole_file(source, "is empty")
    builder = _TreeBuilder(source, os.environ if env is None else env)
    tree = builder.build(root)
    if builder.problems:
        raise ConfigError(source, builder.problems)
    if not isinstance(tree, MappingNode):
        raise _whole_file(source, 'holds no "key: value" lines at its top')
    return tree


def plain(node: Node) -> Plain:
    """The node's content without marks; keys with an empty value left out."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {
        key: plain(value)
        for key, value in node.entries.items()
        if not (isinstance(value, Scalar) and value.text is None)
    }


def _read_text(path: Path) -> str:
    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        # ValueError: a null byte in the path.
        reason = getattr(error, "strerror", None) or str(error)
        raise _whole_file(path, f"cannot be read: {reason}") from None
    if len(data) > MAX_BYTES:
        raise _whole_file(
            path, f"is larger than {MAX_BYTES >> 20} MiB: not a YAML file?"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _whole_file(path, f"is not UTF-8 text (byte {error.start})") from None


def _whole_file(source: Path, message: str) -> ConfigError:
    return ConfigError(source, [Problem("", message, str(source))])


def _yaml_error(source: Path, error: yaml.YAMLError) -> ConfigError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    parts = [getattr(error, "context", None), getattr(error, "problem", None)]
    reason = ", ".join(part for part in parts if part) or str(error)
    reason = " ".join(reason.split())
    line = mark.line + 1 if mark else 0
    origin = f"{source}:{line}" if mark else str(source)
    if "\\t" in reason:
        reason += "; indent with spaces, not tabs"
    return ConfigError(
        source, [Problem("", f"is not valid YAML: {reason}", origin, line)]
    )


class _TooLargeError(Exception):
    """The text holds more than any file of settings."""


class _LimitedLoader(yaml.SafeLoader):
    """Stops at the first node beyond the limits, before the rest is even scanned."""

    def __init__(self, text: str) -> None:
        self._depth = 0
        self._nodes = 0
        # Of a finished node, with all below it.
        self._sizes: dict[int, int] = {}
        super().__init__(text)

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        is_alias = self.check_event(yaml.AliasEvent)
        before = self._nodes
        self._depth += 1
        self._nodes += 1
        self._check()
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        if is_alias:
            self._nodes += self._sizes.get(id(node), 0)
            self._check()
        else:
            self._sizes[id(node)] = self._nodes - before
        return node

    def _check(self) -> None:
        if self._depth > MAX_DEPTH:
            raise _TooLargeError(f"is nested more than {MAX_DEPTH} deep")
        if self._nodes > MAX_NODES:
            raise _TooLargeError(
                f"holds more than {MAX_NODES} keys and values: not a file of settings?"
            )


class _TreeBuilder:
    """Turns PyYAML's node graph into our tree, collecting problems."""

    def __init__(self, source: Path, env: Mapping[str, str]) -> None:
        self.problems: list[Problem] = []
        self._source = source
        self._env = env
        self._too_deep = False
        self._open: set[int] = set()

    def build(self, root: yaml.Node) -> Node:
        return self._node(root, "")

    def _place(self, node: yaml.Node) -> Place:
        line = node.start_mark.line + 1
        return Place(f"{self._source}:{line}", line)

    def _problem(self, node: yaml.Node, path: str, message: str) -> None:
        place = self._place(node)
        self.problems.append(Problem(path, message, place.origin, place.line))

    def _node(self, node: yaml.Node, path: str) -> Node:
        place = self._place(node)
        if len(self._open) > MAX_DEPTH:
            # By aliases: what is written out was checked before.
            if not self._too_deep:
                self._problem(node, path, f"aliases nest more than {MAX_DEPTH} deep")
            self._too_deep = True
            return Scalar(None, path, place)
        if id(node) in self._open:
            self._problem(node, path, "an alias refers to itself")
            return Scalar(None, path, place)
        if node.tag not in _KNOWN_TAGS and not _is_implicit(node):
            self._problem(node, path, f"YAML tag {shown(node.tag)} is not supported")
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.ScalarNode):
                return Scalar(self._text(node, path), path, place)
            if isinstance(node, yaml.SequenceNode):
                items = [
                    self._node(item, f"{path}[{index}]")
                    for index, item in enumerate(node.value)
                ]
                return Sequence(items, path, place)
            return self._mapping(node, path, place)
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: yaml.Node, path: str, place: Place) -> MappingNode:
        result = MappingNode({}, path, place)
        merged: list[MappingNode] = []
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE_TAG:
                merged.extend(self._merged(value_node, path))
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                self._problem(key_node, path, "a key must be a plain word")
                continue
            key = self._text(key_node, path) or ""
            child_path = f"{path}.{key}" if path else key
            if key in result.entries:
                first = result.key_places[key].line
                self._problem(
                    key_node,
                    child_path,
                    f"the key is given twice, first on line {first}",
                )
                continue
            child = self._node(value_node, child_path)
            place = self._place(key_node)
            if isinstance(child, MappingNode):
                # A section is where its name is, not its first key.
                child.place = place
            result.entries[key] = child
            result.key_places[key] = place
        for source in merged:
            for key, value in source.entries.items():
                result.entries.setdefault(key, value)
                result.key_places.setdefault(key, source.key_places[key])
        return result

    def _merged(self, node: yaml.Node, path: str) -> Iterator[MappingNode]:
        is_list = isinstance(node, yaml.SequenceNode)
        for part in node.value if is_list else [node]:
            tree = self._node(part, path)
            if isinstance(tree, MappingNode):
                yield tree
            else:
                self._problem(part, path, "'<<' can only merge mappings")

    def _text(self, node: yaml.ScalarNode, path: str) -> str | None:
        text: str = node.value
        if _SURROGATE.search(text):
            self._problem(node, path, "holds half of a Unicode character")
            return ""
        if node.style is None and text in _NULL_WORDS:
            return None

        def substitute(match: re.Match[str]) -> str:
            name = match.group(1)
            if name in self._env:
                return self._env[name]
            self._problem(
                node,
                path,
                f"environment variable {name} is not set; "
                f"export it or replace ${{{name}}} by its value",
            )
            return ""

        return _ENV_MARK.sub(substitute, text)


def _is_implicit(node: yaml.Node) -> bool:
    # Plain scalars that look like dates, '=' or '<<' get a tag from YAML's
    # resolver; no one wrote it, and we read the text anyway.
    return isinstance(node, yaml.ScalarNode) and node.tag in (
        "tag:yaml.org,2002:timestamp",
        "tag:yaml.org,2002:value",
        _MERGE_TAG,
    )

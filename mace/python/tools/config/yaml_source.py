# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads YAML text into texts, lists and mappings that know their place.

Scalars stay text: whether ``1``, ``on`` or ``1e5`` is a number, a flag or a
tensor's name is for the schema to say, not for YAML's guesses. That is what
lets ``input_tensors: 0`` name an ONNX tensor and keeps a checksum made of
digits whole.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from mace.python.installation import typed
from mace.python.tools.config.problems import ConfigError, Place, Problem
from mace.python.tools.config.vocabulary import DEPLOYMENT_SUFFIXES
from mace.python.tools.wording import near_file, shown

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
_TAG = "tag:yaml.org,2002:"
_MERGE = f"{_TAG}merge"
_KNOWN_TAGS = tuple(
    f"{_TAG}{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq")
)


class Text(str):
    """A single value as written."""

    place: Place

    def __new__(cls, text: str, place: Place) -> Text:
        made = super().__new__(cls, text)
        made.place = place
        return made


class Items(list[Any]):
    """A list; an item without a value is None."""

    def __init__(self, items: Iterable[Any], place: Place) -> None:
        super().__init__(items)
        self.place = place


class Table(dict[str, Any]):
    """A mapping; `places` has its keys with and without a value."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place
        self.places: dict[str, Place] = {}

    def add(self, name: str, value: Any, place: Place) -> None:
        """Adds a key; None: it stands there without a value."""
        self.places[name] = place
        if value is not None:
            self[name] = value


def read_yaml(path: Path, env: Mapping[str, str] | None = None) -> Table:
    """Reads the YAML mapping in file `path`.

    Args:
        path: the file.
        env: variables that ``${NAME}`` may name; the process's own if None.

    Raises:
        ConfigError: no such file, not text, not YAML, or not a mapping;
            duplicate keys, unknown variables and unsupported YAML features
            are listed together.
    """
    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 text (byte {error.start})"
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            problem = "is UTF-16 text: save it as UTF-8"
        elif path.suffix.lower() not in DEPLOYMENT_SUFFIXES:
            problem += f"; a model is given without --config: {typed('convert')} {path}"
        raise _whole_file(path, problem) from None
    except (OSError, ValueError) as error:
        # ValueError: a null byte in the path.
        reason = getattr(error, "strerror", None) or str(error)
        near = near_file(path) if isinstance(error, FileNotFoundError) else ""
        raise _whole_file(path, f"cannot be read: {reason}{near}") from None
    if len(data) > MAX_BYTES:
        size = f"is larger than {MAX_BYTES >> 20} MiB: not a YAML file?"
        raise _whole_file(path, size)
    return parse_yaml(text, path, env)


def parse_yaml(text: str, source: Path, env: Mapping[str, str] | None = None) -> Table:
    """As `read_yaml`, for text that was read from `source`."""
    marked = _ENV.sub(f"{_ENV_OPEN}\\1{_ENV_CLOSE}", text)
    builder = _TreeBuilder(source, os.environ if env is None else env)
    loader = None
    try:
        # The constructor already reads ahead and rejects control characters.
        loader = _LimitedLoader(marked)
        root = loader.get_single_node()
        if root is None:
            raise _whole_file(source, "is empty")
        tree = builder.node(root, builder.place(root, ""))
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
    if builder.problems:
        raise ConfigError(source, builder.problems)
    if not isinstance(tree, Table):
        raise _whole_file(source, 'holds no "key: value" lines at its top')
    return tree


def _whole_file(source: Path, message: str) -> ConfigError:
    return ConfigError(source, [Problem(Place(str(source)), message)])


def _yaml_error(source: Path, error: yaml.YAMLError) -> ConfigError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    parts = [getattr(error, "context", None), getattr(error, "problem", None)]
    reason = ", ".join(part for part in parts if part) or str(error)
    reason = " ".join(reason.split())
    if "\\t" in reason:
        reason += "; indent with spaces, not tabs"
    line = mark.line + 1 if mark else 0
    place = Place(f"{source}:{line}" if mark else str(source), line)
    return ConfigError(source, [Problem(place, f"is not valid YAML: {reason}")])


class _TooLargeError(Exception):
    """The text holds more than any file of settings."""


def _check_size(nodes: int, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _TooLargeError(f"is nested more than {MAX_DEPTH} deep")
    if nodes > MAX_NODES:
        raise _TooLargeError(
            f"holds more than {MAX_NODES} keys and values: not a file of settings?"
        )


class _LimitedLoader(yaml.SafeLoader):
    """Stops at the first node beyond the limits, before the rest is even scanned.

    It makes no guess what a plain word means, but for the key that merges.
    """

    yaml_implicit_resolvers = {"<": [(_MERGE, re.compile("<<$"))]}  # noqa: RUF012
    _nodes = _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._nodes += 1
        self._depth += 1
        _check_size(self._nodes, self._depth)
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node


class _TreeBuilder:
    """Turns PyYAML's node graph into our tree, collecting problems.

    What an alias stands for is built anew, so that it counts each time.
    """

    def __init__(self, source: Path, env: Mapping[str, str]) -> None:
        self.problems: list[Problem] = []
        self._source = source
        self._env = env
        self._nodes = 0
        # Those that are being built, from the outside.
        self._open: list[yaml.Node] = []

    def place(self, node: yaml.Node, path: str) -> Place:
        line = node.start_mark.line + 1
        return Place(f"{self._source}:{line}", line, path)

    def _problem(self, place: Place, message: str) -> None:
        self.problems.append(Problem(place, message))

    def node(self, node: yaml.Node, place: Place) -> Any:
        if node in self._open:
            raise _TooLargeError("an alias refers to itself")
        self._open.append(node)
        self._nodes += 1
        _check_size(self._nodes, len(self._open))
        built = self._built(node, place)
        self._open.pop()
        return built

    def _built(self, node: yaml.Node, place: Place) -> Any:
        if node.tag not in (*_KNOWN_TAGS, _MERGE):
            self._problem(place, f"YAML tag {shown(node.tag)} is not supported")
        if isinstance(node, yaml.ScalarNode):
            is_null = node.style is None and node.value in _NULL_WORDS
            return None if is_null else Text(self._text(node, place), place)
        if isinstance(node, yaml.SequenceNode):
            places = (
                self.place(item, f"{place.path}[{index}]")
                for index, item in enumerate(node.value)
            )
            return Items(map(self.node, node.value, places), place)
        return self._table(node, place)

    def _table(self, node: yaml.Node, place: Place) -> Table:
        result = Table(place)
        merged: list[Table] = []
        for key_node, value_node in node.value:
            at = self.place(key_node, place.path)
            if key_node.tag == _MERGE:
                merged += self._merged(value_node, at)
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                self._problem(at, "a key must be a plain word")
                continue
            name = self._text(key_node, at)
            # A value is where its key is, not where its first line begins.
            at = at.key(name)
            if name in result.places:
                line = result.places[name].line
                self._problem(at, f"the key is given twice, first on line {line}")
            else:
                result.add(name, self.node(value_node, at), at)
        for source in merged:
            for name, at in source.places.items():
                if name not in result.places:
                    result.add(name, source.get(name), at)
        return result

    def _merged(self, node: yaml.Node, place: Place) -> Iterator[Table]:
        is_list = isinstance(node, yaml.SequenceNode)
        for part in node.value if is_list else [node]:
            tree = self.node(part, place)
            if isinstance(tree, Table):
                yield tree
            else:
                self._problem(place, "'<<' can only merge mappings")

    def _text(self, node: yaml.ScalarNode, place: Place) -> str:
        if _SURROGATE.search(node.value):
            self._problem(place, "holds half of a Unicode character")
            return ""

        def substitute(match: re.Match[str]) -> str:
            name = match.group(1)
            if name in self._env:
                return self._env[name]
            self._problem(
                place,
                f"environment variable {name} is not set; "
                f"export it or replace ${{{name}}} by its value",
            )
            return ""

        return _ENV_MARK.sub(substitute, node.value).strip()

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the sections of a file by the schema, key by key.

Every key is judged on its own, so that one wrong key hides no other: what is
right stays available to the rules that involve several keys.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence as AbstractSequence
from dataclasses import dataclass, field
from typing import Any, Optional

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from mace.python.tools.config import spellings
from mace.python.tools.config.problems import Problem
from mace.python.tools.config.schema import (
    DeploymentSection,
    MicroSection,
    ModelSection,
    Section,
    SubgraphSection,
    keys_of,
)
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
_LEVELS: dict[type[Section], str] = {
    DeploymentSection: "at the top of the file",
    ModelSection: "with the model, beside its subgraphs",
    SubgraphSection: "in an entry of subgraphs",
}
_OLD_KEYS: dict[type[Section], tuple[spellings.OldKey, ...]] = {
    DeploymentSection: spellings.TOP_KEYS,
    ModelSection: spellings.MODEL_KEYS,
    SubgraphSection: spellings.SUBGRAPH_KEYS,
}


@dataclass
class ParsedSection:
    """A section's good values.

    `values` holds defaults for absent keys; a key that is required and absent,
    or whose value is wrong, is not in it.
    """

    node: MappingNode
    values: dict[str, Any] = field(default_factory=dict)
    # Known keys that an unknown key was probably meant to be: reported there,
    # and not once more as missing.
    misspelled: set[str] = field(default_factory=set)

    def get(self, key: str) -> Any:
        """The value, or None when it is absent or wrong."""
        return self.values.get(key)

    def path(self, key: str) -> str:
        """The key's path as the user wrote it."""
        node = self.node.entries.get(key)
        return node.path if node is not None else _join(self.node.path, key)

    def place(self, key: str) -> Place:
        """Where the key stands, or the section that lacks it."""
        return self.node.key_places.get(key, self.node.place)


@dataclass
class ParsedModel(ParsedSection):
    """A model with its subgraphs."""

    name: str = ""
    subgraphs: list[ParsedSection] = field(default_factory=list)


@dataclass
class ParsedDeployment(ParsedSection):
    """A file with its models."""

    models: list[ParsedModel] = field(default_factory=list)


class SectionReader:
    """Reads a tree; `problems` grows as it goes."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def problem(self, path: str, place: Place, message: str) -> None:
        self.problems.append(Problem(path, message, place.origin, place.line))

    def deployment(self, root: MappingNode) -> ParsedDeployment:
        result = ParsedDeployment(root)
        self._fill(result, DeploymentSection, nested=("models",))
        models = root.entries.get("models")
        if isinstance(models, MappingNode) and models.entries:
            for name, node in models.entries.items():
                if isinstance(node, MappingNode):
                    result.models.append(self._model(name, node))
                else:
                    self._not_a_mapping(node, "settings such as platform")
        else:
            self._judge(result, DeploymentSection, "models")
        return result

    def _model(self, name: str, node: MappingNode) -> ParsedModel:
        result = ParsedModel(node, name=name)
        self._fill(result, ModelSection, nested=("subgraphs", "micro"))
        subgraphs = node.entries.get("subgraphs")
        if isinstance(subgraphs, Sequence) and subgraphs.items:
            for item in subgraphs.items:
                if isinstance(item, MappingNode):
                    subgraph = ParsedSection(item)
                    self._fill(subgraph, SubgraphSection)
                    result.subgraphs.append(subgraph)
                else:
                    self._not_a_mapping(item, "keys such as input_tensors")
        else:
            self._judge(result, ModelSection, "subgraphs")
        micro = node.entries.get("micro")
        if isinstance(micro, MappingNode):
            section = ParsedSection(micro)
            self._fill(section, MicroSection)
            result.values["micro"] = section
        elif micro is not None and plain(micro) is not None:
            self._not_a_mapping(micro, "the key backend")
        return result

    def _fill(
        self,
        result: ParsedSection,
        section: type[Section],
        nested: tuple[str, ...] = (),
    ) -> None:
        node = result.node
        known = keys_of(section)
        for key in node.entries:
            if key not in known:
                self._unknown_key(result, section, key)
        for key in known:
            if key not in nested:
                found, value = self._judge(result, section, key)
                if found:
                    result.values[key] = value

    def _judge(
        self, parsed: ParsedSection, section: type[Section], key: str
    ) -> tuple[bool, Any]:
        """Reads one key: (True, its value) or (False, None) and a problem."""
        node = parsed.node
        info = section.model_fields[key]
        child = node.entries.get(key)
        if child is None or (isinstance(child, Scalar) and child.text is None):
            if child is None and key in parsed.misspelled:
                return False, None
            if not info.is_required():
                return True, info.get_default(call_default_factory=True)
            missing = "is missing" if child is None else "has no value"
            place = node.key_places.get(key, node.place)
            self.problem(
                _join(node.path, key),
                place,
                f"{missing}; it is required: {info.description}",
            )
            return False, None
        try:
            return True, _adapter(section, key).validate_python(plain(child))
        except ValidationError as error:
            for detail in error.errors():
                at = _descend(child, detail["loc"])
                self.problem(at.path, at.place, _message(detail))
            return False, None

    def _not_a_mapping(self, node: Node, wanted: str) -> None:
        found = "nothing"
        if isinstance(node, Sequence):
            found = "a list"
        elif isinstance(node, Scalar) and node.text is not None:
            found = shown(node.text)
        self.problem(
            node.path,
            node.place,
            f"found {found}, accepted: a mapping with {wanted}",
        )

    def _unknown_key(
        self, parsed: ParsedSection, section: type[Section], key: str
    ) -> None:
        node = parsed.node
        known = keys_of(section)
        message = "unknown key"
        old = [item.old for item in _OLD_KEYS.get(section, ())]
        for other, where in _LEVELS.items():
            if other is not section and key in keys_of(other):
                message += f"; {key} belongs {where}"
                break
        else:
            near = nearest(key, [*known, *old])
            if near:
                message += f"; did you mean {near}?"
                parsed.misspelled.add(near)
            else:
                message += f"; known here: {', '.join(known)}"
        place = node.key_places[key]
        self.problem(_join(node.path, key), place, message)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


@functools.cache
def _adapter(section: type[Section], key: str) -> TypeAdapter[Any]:
    return TypeAdapter(section.model_fields[key].rebuild_annotation())


def _descend(node: Node, loc: AbstractSequence[int | str]) -> Node:
    """The deepest node on the way `loc`; single values count as lists."""
    for part in loc:
        below: Optional[Node] = None
        if isinstance(part, int) and isinstance(node, Sequence):
            below = node.items[part] if part < len(node.items) else None
        elif isinstance(part, str) and isinstance(node, MappingNode):
            below = node.entries.get(part)
        if below is None:
            break
        node = below
    return node


def _message(detail: ErrorDetails) -> str:
    return detail["msg"]

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How a key of a deployment file is declared: once, with all there is to it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mace.python.tools.config.effect import Effect, Rule
from mace.python.tools.config.values import Kind
from mace.python.tools.config.vocabulary import Runtime


class Section:
    """A mapping of the file; its keys are the fields that `key` declares."""


@dataclass(frozen=True)
class Key:
    """Everything about one key.

    Attributes:
        name: as the file spells it.
        meaning: for the reference and for editors.
        kind: of its value; None where that is made of further sections.
        required: it has no default.
        effect: what it changes, and when it does not.
        hint: the field of the model file's `DeploymentHints` that hands it to
            the runtime.
        was: earlier names, each with the words whose spelling changed too.
        words: earlier spellings of its values.
        each: the key whose values this one has one each of.
        one_for_all: one value may stand for all of them.
        checksum: the key that verifies the file that this one names.
        inherited: a subgraph that does not say it takes the model's.
        replaceable: a flag of the same name takes the place of the file's value.
        section: what the value is made of.
        container: whether there is one section, a list or a mapping.
    """

    meaning: str
    kind: Kind | None = None
    default: Any = None
    required: bool = False
    effect: Effect = field(default_factory=Effect)
    hint: str = ""
    was: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    each: str = ""
    one_for_all: bool = False
    checksum: str = ""
    inherited: bool = False
    replaceable: bool = False
    section: type[Section] | None = None
    container: type | None = None
    name: str = ""

    @property
    def accepts(self) -> str:
        """The reference table's cell."""
        if self.kind is not None:
            return self.kind.accepts
        if self.container is list:
            return "list, see below"
        return f"mapping{' from name' if self.container else ''}, see below"


def key(
    kind: Kind | None,
    meaning: str,
    acts: str = "",
    *rules: Rule,
    on: Mapping[Runtime, str] | None = None,
    **more: Any,
) -> Any:
    """A field of a `Section` that is a key of the file.

    Args:
        acts, on, rules: its `Effect`.
        more: further attributes of `Key`.
    """
    declared = Key(meaning, kind, effect=Effect(acts, on or {}, rules), **more)
    return field(default=declared.default, metadata={"key": declared})


def keys_of(section: type[Section]) -> Mapping[str, Key]:
    """The keys that a section knows, in the order of the documentation."""
    found = {
        item.name: dataclasses.replace(item.metadata["key"], name=item.name)
        for item in dataclasses.fields(section)  # type: ignore[arg-type]
        if "key" in item.metadata
    }
    own = [name for name in section.__annotations__ if name in found]
    # What sections share comes last, though their base class has it first.
    return {name: found[name] for name in (*own, *(n for n in found if n not in own))}


def sections_below(section: type[Section]) -> Sequence[type[Section]]:
    """This section and all that it is made of."""
    below = [k.section for k in keys_of(section).values() if k.section]
    return [section, *(deep for item in below for deep in sections_below(item))]

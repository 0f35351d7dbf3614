# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How a key of a deployment file is declared: once, with all there is to it."""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, Union

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo

from mace.python.tools.config.effect import Effect, Rule
from mace.python.tools.config.problems import Place
from mace.python.tools.config.values import (
    WHEN_USED,
    FileRef,
    OneOrMany,
    told,
    unfit,
)
from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.config.yaml_source import Table

_PartT = TypeVar("_PartT")


class Section(BaseModel):
    """A mapping of the file; its keys are the fields that `key` declares."""

    model_config = ConfigDict(
        **WHEN_USED, frozen=True, extra="forbid", protected_namespaces=()
    )

    # By the name of each key that the file gives, with whatever value.
    _places: Mapping[str, Place] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _from_mapping(cls, found: Any, build: Any, info: ValidationInfo) -> Any:
        if not isinstance(found, dict):
            keys = keys_of(cls).values()
            first = next((k.name for k in keys if k.required), next(iter(keys)).name)
            raise unfit(found, f"a mapping with keys such as {first}")
        if not isinstance(found, Table):
            return build(found)
        if info.context:
            info.context["spellings"].renew(cls, found)
        built = build(found)
        built._places = {name: found.places[name] for name in found}
        return built

    @property
    def given(self) -> Iterator[tuple[Key, Any, Place]]:
        """What the file says in so many words, line by line."""
        keys = keys_of(type(self))
        for name in sorted(self._places, key=lambda name: self._places[name].line):
            yield keys[name], getattr(self, name), self._places[name]

    @field_validator("*")
    @classmethod
    def _goes_with(cls, found: Any, info: ValidationInfo) -> Any:
        """What a key says of the one that it belongs to."""
        declared = keys_of(cls).get(info.field_name or "")
        if declared is not None and declared.each in info.data and found is not None:
            found = _one_for_each(declared, found, info.data[declared.each])
        if declared is not None and declared.verifies in info.data:
            file: FileRef | None = info.data[declared.verifies]
            if file is None and found:
                raise told(f"is given without {declared.verifies}")
            if file is not None and file.is_url and not found:
                raise told(
                    f"is missing; it is required as {declared.verifies} is an address "
                    "(sha256sum FILE prints it)"
                )
        return found


def _one_for_each(declared: Key, values: Any, tensors: Any) -> Any:
    """As many values as there are tensors."""
    if tensors is None:
        raise told(f"is given without {declared.each}")
    if len(values) == len(tensors):
        return values
    column = declared.part(OneOrMany)
    if column.one_for_all and len(values) == 1:
        return values * len(tensors)
    counts = (len(values), "value"), (len(tensors), "tensor")
    found, wanted = (f"{n} {noun}{'' if n == 1 else 's'}" for n, noun in counts)
    advice = column.advice(values)
    raise told(f"found {found} for {wanted} in {declared.each}; {advice}")


@dataclass(frozen=True)
class Key:
    """Everything about one key that its type does not say.

    Attributes:
        meaning: for the reference and for editors.
        effect: what it changes, and when it does not.
        hint: the field of the model file's `DeploymentHints` that hands it to
            the runtime.
        was: earlier names, each with the words whose spelling changed too.
        words: earlier spellings of its values.
        each: the key whose values this one has one each of.
        verifies: the key that names the file that this one is the checksum of.
        replaceable: a flag of the same name takes the place of the file's value.
        of_model: what the model says stands for it where the file does not give it.
        accepts: the reference table's cell, where its type does not say it.
        name: as the file spells it.
        info: its field.
    """

    meaning: str
    effect: Effect = field(default_factory=Effect)
    hint: str = ""
    was: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    each: str = ""
    verifies: str = ""
    replaceable: bool = False
    of_model: bool = False
    accepts: str = ""
    name: str = ""
    info: FieldInfo = field(default_factory=FieldInfo)

    def __call__(self, schema: dict[str, Any]) -> None:
        """Puts into a JSON Schema what an editor shows."""
        text = ""
        if self.effect.why_never or self.effect.rules:
            text = self.effect.text()
            text = f" {text[0].upper()}{text[1:]}."
        schema["description"] = self.meaning + text
        if self.effect.why_never:
            # An editor strikes it out and shows why.
            schema["deprecated"] = True

    @property
    def default(self) -> Any:
        """Its value where the file does not give it."""
        return None if self.required else self.info.default

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.info.is_required()

    def part(self, kind: type[_PartT]) -> _PartT:
        """What its type is annotated with of that kind."""
        return next(part for part in self._parts() if isinstance(part, kind))

    @functools.cached_property
    def section(self) -> type[Section] | None:
        """What the value is made of."""
        kinds = [part for part in self._parts() if isinstance(part, type)]
        return next((kind for kind in kinds if issubclass(kind, Section)), None)

    @property
    def accepted(self) -> str:
        """The reference table's cell."""
        cell = self.accepts or "{}"
        for part in self._parts():
            cell = cell.format(getattr(part, "cell", "{}"))
        return cell

    def _parts(self) -> Iterator[Any]:
        yield from reversed(self.info.metadata)
        yield from _parts(self.info.annotation)


def _parts(kind: Any) -> Iterator[Any]:
    """A type with all that it is made of and annotated with, from the outside."""
    yield kind
    for part in reversed(typing.get_args(kind)):
        yield from _parts(part)


def key(
    meaning: str,
    *changes: Union[str, Rule],
    default: Any = None,
    required: bool = False,
    on: Mapping[Runtime, str] | None = None,
    is_checked_if_absent: bool = False,
    **more: Any,
) -> Any:
    """A field of a `Section` that is a key of the file.

    Args:
        changes, on: its `Effect`: on what it acts, and the rules.
        default: of a key that is not required.
        is_checked_if_absent: its validator also says when it is missing.
        more: further attributes of `Key`.
    """
    acts = "; ".join(text for text in changes if isinstance(text, str))
    rules = tuple(rule for rule in changes if isinstance(rule, Rule))
    declared = Key(meaning, Effect(acts, on or {}, rules), **more)
    return Field(
        ... if required else default,
        json_schema_extra=declared,
        # Whether a checksum or a list of the right length is missing, its key says.
        validate_default=bool(
            declared.verifies or declared.each or is_checked_if_absent
        ),
    )


@functools.cache
def keys_of(section: type[Section]) -> Mapping[str, Key]:
    """The keys that a section knows, in the order of the documentation."""
    found = {
        name: dataclasses.replace(info.json_schema_extra, name=name, info=info)
        for name, info in section.model_fields.items()
        if isinstance(info.json_schema_extra, Key)
    }
    own = [name for name in section.__annotations__ if name in found]
    # What sections share comes last, though their base class has it first.
    return {name: found[name] for name in (*own, *(n for n in found if n not in own))}


def sections_below(section: type[Section]) -> Sequence[type[Section]]:
    """This section and all that it is made of."""
    below = [k.section for k in keys_of(section).values() if k.section]
    return [section, *(deep for item in below for deep in sections_below(item))]

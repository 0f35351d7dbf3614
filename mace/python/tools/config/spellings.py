# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Files of any age, in the present spelling.

Renames keys and words of earlier versions, with one warning each, moves what a
model says for all of its subgraphs into these, and tells what is no key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mace.python.tools.config.deployment import Deployment, ModelConfig, SubgraphConfig
from mace.python.tools.config.keys import Key, Section, keys_of
from mace.python.tools.config.problems import Place, Problem
from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.config.yaml_source import Items, Table, Text
from mace.python.tools.wording import listed, nearest, shown

# Keys of the file that are gone, and what is there instead.
GONE: Mapping[str, str] = {"vlog_level": "use the flag --vlog_level"}

# Where a key of this section may be found by someone who misplaced it.
_LEVELS: Mapping[type[Section], str] = {
    Deployment: "at the top of the file",
    ModelConfig: "with the model, beside its subgraphs",
    SubgraphConfig: "in an entry of subgraphs",
}

# Data types that say only "in 8 bit", of devices that compute in nothing else.
_EIGHT_BITS = ("uint8", "int8")
_EIGHT_BIT_RUNTIMES = (Runtime.DSP.value, Runtime.HTA.value, Runtime.HTP.value)


class Spellings:
    """Reads trees; `problems` and `warnings` grow as it goes."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.warnings: list[str] = []

    def problem(self, place: Place, message: str) -> None:
        self.problems.append(Problem(place, message))

    def _warn(self, place: Place, message: str) -> None:
        # What a model says for all subgraphs is told once.
        warning = f"{place}: {message}"
        if warning not in self.warnings:
            self.warnings.append(warning)

    def present(self, section: type[Section], node: Any) -> Any:
        """The tree of a section in present spelling."""
        if not isinstance(node, Table):
            # The section itself says what is wrong with that.
            return node
        found = Table(node.place)
        given = [(_key(section, name), name) for name in node.all_keys()]
        # A present spelling wins over an earlier one, and both over a wrong one.
        for key, name in sorted(given, key=lambda pair: _rank(*pair)):
            if key is None:
                key = self._unknown(section, name)
                if key is not None and found.key(key.name) is None:
                    # Goes on as if it had been meant, to find what else is wrong.
                    self._take(found, key, key.name, node.get(name), name.place)
            else:
                self._take(found, key, name, node.get(name), name.place)
        if section is ModelConfig:
            self._share(found)
        return found

    def _take(
        self, found: Table, key: Key, name: str, value: Any, place: Place
    ) -> None:
        is_present = name == key.name
        advice = "" if is_present else f"is now called {key.name}"
        words = key.words if is_present else key.was[name]
        if isinstance(value, Text) and value.lower() in words:
            new = Text(words[value.lower()], value.place)
            advice = f'is now written "{key.name}: {new}"'
            if is_present:
                advice = f"{shown(value.lower())} is now written {shown(new)}"
            value = new
        other = found.key(key.name)
        if other is not None:
            self.problem(place, f"{advice}, which is also given ({other.place.origin})")
            return
        if advice:
            self._warn(place, advice)
        found.add(Text(key.name, place), self._below(key, value))

    def _below(self, key: Key, value: Any) -> Any:
        """The tree of a key's value in present spelling."""
        section = key.section
        if section is None:
            return value
        if key.container is tuple and isinstance(value, Items):
            return Items((self.present(section, item) for item in value), value.place)
        if key.container is dict and isinstance(value, Table):
            result = Table(value.place)
            for name in value.all_keys():
                result[name] = self.present(section, value.get(name))
            return result
        return value if key.container else self.present(section, value)

    def _unknown(self, section: type[Section], name: Text) -> Key | None:
        """Tells that this is no key; the key that it was probably meant to be."""
        if section is Deployment and name in GONE:
            self._warn(name.place, f"has no effect: {GONE[name]}")
            return None
        keys = keys_of(section)
        for other, where in _LEVELS.items():
            if other is not section and name in keys_of(other):
                self.problem(name.place, f"unknown key; {name} belongs {where}")
                return None
        earlier = [old for key in keys.values() for old in key.was]
        near = nearest(name, [*keys, *earlier])
        hint = f"did you mean {near}?" if near else f"known here: {', '.join(keys)}"
        self.problem(name.place, f"unknown key; {hint}")
        return _key(section, near) if near else None

    def _share(self, model: Table) -> None:
        """Gives the subgraphs what the model says for all of them."""
        is_early = any(f"{side}_tensors" in model for side in ("input", "output"))
        if is_early and model.key("subgraphs") is None:
            # An early file: the model is its only subgraph.
            entries = Items([Table(model.place)], model.place)
            model.add(Text("subgraphs", model.place.key("subgraphs")), entries)
        subgraphs = model.get("subgraphs")
        tables = [t for t in subgraphs or () if isinstance(t, Table)]
        if tables and "runtime" not in model:
            self._take_runtime(model, tables)
        own, below = keys_of(ModelConfig), keys_of(SubgraphConfig)
        for name in [name for name in model if name in below]:
            for table in tables:
                table.setdefault(name, model[name])
            if name not in own:
                del model[name]
        for table in (model, *tables):
            self._drop_eight_bits(table)

    def _take_runtime(self, model: Table, subgraphs: list[Table]) -> None:
        """A model is for what its first subgraph is for, unless it says so."""
        key = subgraphs[0].key("runtime")
        if key is not None and key in subgraphs[0]:
            model[key] = subgraphs[0][key]
        else:
            runtimes = listed(member.value for member in Runtime if member.in_release)
            place = model.place.key("runtime")
            self.problem(place, f"is missing; it is required: {runtimes}")

    def _drop_eight_bits(self, section: Table) -> None:
        key = section.key("data_type")
        if key is None or str(section.get(key)).lower() not in _EIGHT_BITS:
            return
        if str(section.get("runtime")).lower() in _EIGHT_BIT_RUNTIMES:
            self._warn(key.place, "has no effect: it chooses among types of floats")
            del section[key]


def _rank(key: Key | None, name: str) -> int:
    return 2 if key is None else int(name != key.name)


def _key(section: type[Section], name: str) -> Key | None:
    """The key that this is a spelling of, of the section or what it may share."""
    shared = (SubgraphConfig,) if section is ModelConfig else ()
    for kind in (section, *shared):
        for key in keys_of(kind).values():
            if name == key.name or name in key.was:
                return key
    return None

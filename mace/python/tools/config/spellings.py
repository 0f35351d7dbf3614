# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Files of any age, in the present spelling.

Renames keys and words of earlier versions, with one warning each, moves what a
model says for all of its subgraphs into these, and tells what is no key.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.keys import Key, Section, keys_of
from mace.python.tools.config.problems import Place, Problem
from mace.python.tools.config.subgraph import SubgraphConfig
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
        # What a model says for all subgraphs is told once.
        self.problems: dict[Problem, None] = {}
        self.warnings: dict[str, None] = {}

    def problem(self, place: Place, message: str) -> None:
        self.problems[Problem(place, message)] = None

    def renew(self, section: type[Section], node: Table) -> None:
        """Puts a section into present spelling; again, it changes nothing."""
        known = _spellings(section)
        given, places = dict(node), dict(node.places)
        node.clear()
        node.places.clear()

        def rank(name: str) -> int:
            # A present spelling wins over an earlier one, and both over a wrong one.
            return int(known[name].name != name) if name in known else 2

        for name in sorted(places, key=rank):
            key = known.get(name) or self._meant(section, name, places[name])
            if key is not None and (name in known or key.name not in node.places):
                self._take(node, key, name, given.get(name), places[name])
        if section is ModelConfig:
            self._share(node)

    def _take(self, node: Table, key: Key, name: str, value: Any, place: Place) -> None:
        advice = f"is now called {key.name}" if name in key.was else ""
        words = key.was.get(name, key.words)
        if isinstance(value, Text) and value.lower() in words:
            new = Text(words[value.lower()], value.place)
            advice = f'is now written "{key.name}: {new}"'
            if name not in key.was:
                advice = f"{shown(value.lower())} is now written {shown(new)}"
            value = new
        if key.name in node.places:
            other = node.places[key.name].origin
            self.problem(place, f"{advice}, which is also given ({other})")
            return
        if advice:
            self.warnings[f"{place}: {advice}"] = None
        node.add(key.name, value, place)

    def _meant(self, section: type[Section], name: str, place: Place) -> Key | None:
        """Tells that this is no key; the key that it was probably meant to be.

        The reader goes on as if that one had been given, to find what else is wrong.
        """
        if section is Deployment and name in GONE:
            self.warnings[f"{place}: has no effect: {GONE[name]}"] = None
            return None
        for other, where in _LEVELS.items():
            if other is not section and name in keys_of(other):
                self.problem(place, f"unknown key; {name} belongs {where}")
                return None
        keys = keys_of(section)
        near = nearest(name, [*keys, *(old for k in keys.values() for old in k.was)])
        hint = f"did you mean {near}?" if near else f"known here: {', '.join(keys)}"
        self.problem(place, f"unknown key; {hint}")
        return _spellings(section)[near] if near else None

    def _share(self, model: Table) -> None:
        """Gives the subgraphs what the model says for all of them."""
        own, below = keys_of(ModelConfig), keys_of(SubgraphConfig)
        is_early = any(name in below and name not in own for name in model)
        if is_early and "subgraphs" not in model.places:
            # An early file: the model is its only subgraph.
            entries = Items([Table(model.place)], model.place)
            model.add("subgraphs", entries, model.place.key("subgraphs"))
        subgraphs = model.get("subgraphs")
        tables = [t for t in subgraphs or () if isinstance(t, Table)]
        for table in tables:
            self.renew(SubgraphConfig, table)
        if tables and "runtime" not in model:
            # A model is for what its first subgraph is for, unless it says so.
            if "runtime" in tables[0]:
                model.add("runtime", tables[0]["runtime"], tables[0].places["runtime"])
            else:
                runtimes = listed(item.value for item in Runtime if item.in_release)
                place = model.place.key("runtime")
                self.problem(place, f"is missing; it is required: {runtimes}")
        for name in [name for name in model if name in below]:
            for table in tables:
                if name not in table:
                    table.add(name, model[name], model.places[name])
            if name not in own:
                del model[name]
        for table in (model, *tables):
            self._drop_eight_bits(table)

    def _drop_eight_bits(self, section: Table) -> None:
        if str(section.get("data_type")).lower() not in _EIGHT_BITS:
            return
        if str(section.get("runtime")).lower() in _EIGHT_BIT_RUNTIMES:
            place = section.places.pop("data_type")
            advice = "has no effect: it chooses among types of floats"
            self.warnings[f"{place}: {advice}"] = None
            del section["data_type"]


@functools.cache
def _spellings(section: type[Section]) -> Mapping[str, Key]:
    """The keys, by present and earlier names, of a section and what it may share."""
    shared = (SubgraphConfig,) if section is ModelConfig else ()
    found: dict[str, Key] = {}
    for key in (key for kind in (section, *shared) for key in keys_of(kind).values()):
        for name in (key.name, *key.was):
            found.setdefault(name, key)
    return found

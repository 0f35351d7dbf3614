# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites the spellings of earlier versions to the present ones.

Works on the tree, before the schema, so that the rest of the code knows one
spelling. Each rewriting gives one warning that names the present spelling;
nodes keep the path and line the user wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.config.problems import Problem
from mace.python.tools.config.schema import (
    ModelSection,
    SubgraphSection,
    keys_of,
)
from mace.python.tools.config.yaml_source import (
    MappingNode,
    Node,
    Place,
    Scalar,
    Sequence,
)
from mace.python.tools.wording import shown


@dataclass(frozen=True)
class OldKey:
    """A key with another name today, and its words with other words."""

    old: str
    new: str
    values: Mapping[str, str]


_ON = dict.fromkeys(("1", "true", "yes", "on"), "1")
_OFF = dict.fromkeys(("0", "false", "no", "off"), "0")
# Winograd was a switch when the one tile size was 2.
_OLD_WINOGRAD = {**dict.fromkeys(_ON, "2"), **dict.fromkeys(_OFF, "0")}

# Old key, its present name, and old word -> present word. A word that is not
# listed is passed on for the schema to judge.
TOP_KEYS = (
    OldKey("build_type", "model_graph_format", {"proto": "file"}),
    OldKey(
        "embed_model_data",
        "model_data_format",
        {**dict.fromkeys(_ON, "code"), **dict.fromkeys(_OFF, "file")},
    ),
    OldKey("target_soc", "target_socs", {}),
)
MODEL_KEYS = (
    OldKey("limit_opencl_kernel_completion", "limit_opencl_kernel_time", {}),
    OldKey("fast_conv", "winograd", _OLD_WINOGRAD),
    OldKey("input_files", "validation_inputs_data", {}),
    OldKey("input_nodes", "input_tensors", {}),
    OldKey("output_nodes", "output_tensors", {}),
)
SUBGRAPH_KEYS = (
    OldKey("input_files", "validation_inputs_data", {}),
    OldKey("input_nodes", "input_tensors", {}),
    OldKey("output_nodes", "output_tensors", {}),
)

# Present key -> old word -> (present word, why).
_OLD_RUNTIMES = {"cpu_gpu": "cpu+gpu", "hexagon": "dsp", "neon": "cpu"}
_OLD_DATA_TYPES = {"fp32": "fp32_fp32", "bf16": "bf16_bf16"}
VALUES: Mapping[str, Mapping[str, str]] = {
    "runtime": _OLD_RUNTIMES,
    "data_type": _OLD_DATA_TYPES,
    "winograd": _OLD_WINOGRAD,
}

# Keys that are read for old files' sake and change nothing any more.
WITHOUT_EFFECT = {
    "nnlib_graph_mode": "the DSP runtime chooses its mode itself",
    "dsp_mode": "the DSP runtime chooses its mode itself",
}
# Data types that say only "the DSP computes in 8 bit".
_DSP_DATA_TYPES = frozenset({"uint8", "int8"})

# Subgraph keys that may stand beside `subgraphs` for all of them, unless they
# are about tensors of one subgraph in particular.
_OWN_MODEL_KEYS = frozenset(keys_of(ModelSection))
_SHARED_KEYS = tuple(
    key for key in keys_of(SubgraphSection) if key not in _OWN_MODEL_KEYS
)


class Rewriter:
    """Rewrites one file; `warnings` and `problems` grow as it goes."""

    def __init__(self, source: Path) -> None:
        self.warnings: list[str] = []
        self.problems: list[Problem] = []
        self._source = source

    def rewrite(self, root: MappingNode) -> None:
        """Rewrites the tree in place."""
        self._rename(root, TOP_KEYS)
        if "vlog_level" in root.entries:
            self._drop(root, "vlog_level", "use the flag --vlog_level")
        models = root.entries.get("models")
        if not isinstance(models, MappingNode):
            return
        for model in models.entries.values():
            if isinstance(model, MappingNode):
                self._model(model)

    def _model(self, model: MappingNode) -> None:
        self._rename(model, MODEL_KEYS)
        for key, reason in WITHOUT_EFFECT.items():
            # Most old files say 0, which asks for nothing.
            if _word(model.entries.get(key)) not in ("", "0"):
                self._warn(model, key, f"has no effect: {reason}")
        self._old_values(model, inherited_runtime="")
        runtime = _word(model.entries.get("runtime"))
        self._spread_to_subgraphs(model)
        subgraphs = model.entries.get("subgraphs")
        if isinstance(subgraphs, Sequence):
            for subgraph in subgraphs.items:
                if isinstance(subgraph, MappingNode):
                    self._rename(subgraph, SUBGRAPH_KEYS)
                    self._old_values(subgraph, runtime)

    def _spread_to_subgraphs(self, model: MappingNode) -> None:
        """Moves subgraph keys written on the model into its subgraphs.

        Early files had no `subgraphs` at all, and until today a key such as
        `backend` may stand on either level.
        """
        found = [key for key in _SHARED_KEYS if key in model.entries]
        if not found:
            return
        if "subgraphs" not in model.entries:
            if "input_tensors" not in found and "output_tensors" not in found:
                return
            only = MappingNode({}, model.path, model.place)
            model.entries["subgraphs"] = Sequence([only], model.path, model.place)
            model.key_places["subgraphs"] = model.place
        subgraphs = model.entries["subgraphs"]
        if not isinstance(subgraphs, Sequence):
            return
        targets = [s for s in subgraphs.items if isinstance(s, MappingNode)]
        if not targets:
            return
        for key in found:
            node = model.entries.pop(key)
            place = model.key_places.pop(key)
            for target in targets:
                if key not in target.entries:
                    target.entries[key] = node
                    target.key_places[key] = place

    def _rename(self, section: MappingNode, old_keys: tuple[OldKey, ...]) -> None:
        for item in old_keys:
            if item.old not in section.entries:
                continue
            node = section.entries.pop(item.old)
            place = section.key_places.pop(item.old)
            new_word = item.values.get(_word(node))
            if isinstance(node, Scalar) and new_word is not None:
                node = Scalar(new_word, node.path, node.place)
                advice = f'is now written "{item.new}: {new_word}"'
            else:
                advice = f"is now called {item.new}"
            path = _child(section, item.old)
            if item.new in section.entries:
                other = section.key_places[item.new].origin
                self._problem(path, place, f"{advice}, which is also given ({other})")
                continue
            section.entries[item.new] = node
            section.key_places[item.new] = place
            self._say(path, place, advice)

    def _old_values(self, section: MappingNode, inherited_runtime: str) -> None:
        for key, words in VALUES.items():
            self._replace_word(section, key, words.get)
        runtime = _word(section.entries.get("runtime")) or inherited_runtime
        data_type = _word(section.entries.get("data_type"))
        if data_type in _DSP_DATA_TYPES and runtime in ("dsp", "hta", "htp"):
            self._drop(
                section,
                "data_type",
                f"{runtime} always computes in 8 bit; leave it out",
            )

    def _replace_word(
        self,
        section: MappingNode,
        key: str,
        new_word_of: Callable[[str], str | None],
    ) -> None:
        node = section.entries.get(key)
        if not isinstance(node, Scalar):
            return
        old_word = _word(node)
        new_word = new_word_of(old_word)
        if new_word is None:
            return
        section.entries[key] = Scalar(new_word, node.path, node.place)
        if (node.text or "").strip() != new_word:
            self._say(
                node.path,
                node.place,
                f"{shown(old_word)} is now written {shown(new_word)}",
            )

    def _drop(self, section: MappingNode, key: str, reason: str) -> None:
        self._warn(section, key, f"has no effect: {reason}")
        del section.entries[key]
        del section.key_places[key]

    def _warn(self, section: MappingNode, key: str, text: str) -> None:
        self._say(_child(section, key), section.key_places[key], text)

    def _say(self, path: str, place: Place, text: str) -> None:
        self.warnings.append(f"{place.origin}: {path}: {text}")

    def _problem(self, path: str, place: Place, text: str) -> None:
        self.problems.append(Problem(path, text, place.origin, place.line))


def _word(node: Node | None) -> str:
    if isinstance(node, Scalar) and node.text is not None:
        return node.text.strip().lower()
    return ""


def _child(section: MappingNode, key: str) -> str:
    return f"{section.path}.{key}" if section.path else key

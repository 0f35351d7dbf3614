# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The reference of deployment files, written from the declarations of the keys.

    python -m mace.python.tools.config.reference [--output FILE]
    python -m mace.python.tools.config.reference --json_schema [--output FILE]

The first form gives Markdown tables of all keys and old spellings, which the
documentation includes; the second a JSON Schema that editors check files with.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mace.python.tools.config.deployment import (
    CalibrationConfig,
    Deployment,
    MicroConfig,
    ModelConfig,
)
from mace.python.tools.config.keys import Key, Section, keys_of
from mace.python.tools.config.spellings import GONE
from mace.python.tools.config.subgraph import SubgraphConfig
from mace.python.tools.reference_page import page_parser, table, write_page

_SECTIONS: tuple[tuple[str, str, type[Section]], ...] = (
    ("file", "Keys of the file", Deployment),
    ("model", "Keys of a model", ModelConfig),
    ("subgraph", "Keys of a subgraph", SubgraphConfig),
    ("calibration", "Keys of `calibration`", CalibrationConfig),
    ("micro", "Keys of `micro`", MicroConfig),
)


def markdown() -> str:
    """Tables of all keys, then of all old spellings."""
    lines: list[str] = []
    for _, title, section in _SECTIONS:
        head = ("key", "value", "default", "meaning", "what it changes")
        rows = [
            (f"`{k.name}`", k.accepted, _default(k), k.meaning, k.effect.text())
            for k in keys_of(section).values()
        ]
        lines += [f"## {title}", "", *table(head, rows), ""]
    lines += [
        "## Earlier spellings",
        "",
        "Files of earlier versions keep working; each spelling below gives one",
        "warning that names the present one.",
        "",
    ]
    # What model and subgraph share is listed once, with the model.
    old = {row[1:]: row for row in reversed(list(_old_rows()))}
    lines += table(("where", "earlier", "present"), reversed(old.values()))
    return "\n".join(lines)


def json_schema() -> dict[str, Any]:
    """JSON Schema of the canonical spellings, for editors."""
    schema = Deployment.model_json_schema()
    model, subgraph = (
        schema["$defs"][kind.__name__]["properties"]
        for kind in (ModelConfig, SubgraphConfig)
    )
    # What a model says for all of its subgraphs.
    model.update({name: subgraph[name] for name in subgraph if name not in model})
    for section in (Deployment, ModelConfig, SubgraphConfig):
        part = schema if section is Deployment else schema["$defs"][section.__name__]
        part["required"] = [
            name
            for name in part.get("required", ())
            if not keys_of(section)[name].of_model
        ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "MACE deployment file",
    }


def _default(key: Key) -> str:
    if key.of_model:
        return "what the model says"
    if key.required:
        return "required"
    value = key.default[:1] if isinstance(key.default, tuple) else (key.default,)
    if value in ((), (None,)):
        return ""
    word = getattr(value[0], "value", value[0])
    return f"`{int(word) if isinstance(word, bool) else word}`"


def _old_rows() -> Iterator[tuple[str, str, str]]:
    for where, _, section in _SECTIONS:
        for key in keys_of(section).values():
            for old, words in key.was.items():
                yield where, f"`{old}`", f"`{key.name}`"
                for old_words, word in _grouped(words):
                    yield where, f"`{old}`: {old_words}", f"`{key.name}: {word}`"
            for old_words, word in _grouped(key.words):
                yield where, f"`{key.name}`: {old_words}", f"`{key.name}: {word}`"
    for name, advice in GONE.items():
        yield "file", f"`{name}`", f"no effect: {advice}"


def _grouped(words: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Old words that become the same word, on one line."""
    groups: dict[str, list[str]] = {}
    for old, new in words.items():
        groups.setdefault(new, []).append(f"`{old}`")
    for new, old_words in groups.items():
        yield ", ".join(old_words), new


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the reference to a file or to standard output."""
    parser = page_parser(
        "mace.python.tools.config.reference", "Print the reference of deployment files."
    )
    parser.add_argument(
        "--json_schema", action="store_true", help="JSON Schema, not Markdown"
    )
    args = parser.parse_args(argv)
    text = json.dumps(json_schema(), indent=2) if args.json_schema else markdown()
    write_page(text, args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())

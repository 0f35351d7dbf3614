# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The reference of deployment files, written from the schema.

    python -m mace.python.tools.config.reference [--output FILE]
    python -m mace.python.tools.config.reference --json_schema [--output FILE]

The first form gives Markdown tables of all keys and old spellings, which the
documentation includes; the second a JSON Schema that editors check files with.
"""

from __future__ import annotations

import enum
import json
import sys
from collections.abc import Iterator, Mapping, Sequence

from pydantic.fields import FieldInfo

from mace.python.tools.config import spellings
from mace.python.tools.config.field_types import Accepts
from mace.python.tools.config.schema import (
    DeploymentSection,
    MicroSection,
    ModelSection,
    Section,
    SubgraphSection,
    json_schema,
)
from mace.python.tools.reference_page import page_parser, table, write_page

_SECTIONS: tuple[tuple[str, type[Section]], ...] = (
    ("Keys of the file", DeploymentSection),
    ("Keys of a model", ModelSection),
    ("Keys of a subgraph", SubgraphSection),
    ("Keys of `micro`", MicroSection),
)
_OLD_KEYS = (
    ("file", spellings.TOP_KEYS),
    ("model", spellings.MODEL_KEYS),
    ("subgraph", spellings.SUBGRAPH_KEYS),
)


def markdown() -> str:
    """Tables of all keys, then of all old spellings."""
    lines: list[str] = []
    for title, section in _SECTIONS:
        lines += [f"## {title}", ""]
        head = ("key", "value", "default", "meaning")
        lines += [*table(head, _key_rows(section)), ""]
    lines += ["## Earlier spellings", ""]
    lines += [
        "Files of earlier versions keep working; each spelling below gives one",
        "warning that names the present one.",
        "",
    ]
    lines += table(("where", "earlier", "present"), _old_rows())
    return "\n".join(lines)


def _key_rows(section: type[Section]) -> Iterator[tuple[str, ...]]:
    for key, info in section.model_fields.items():
        yield f"`{key}`", _accepted(info), _default(info), info.description or ""


def _accepted(info: FieldInfo) -> str:
    for item in info.metadata:
        if isinstance(item, Accepts):
            return item.text
    # Optional[...] keeps the description of a type inside its annotation.
    for argument in getattr(info.annotation, "__args__", ()):
        for item in getattr(argument, "__metadata__", ()):
            if isinstance(item, Accepts):
                return item.text
    return "mapping, see below"


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    value = info.default
    if isinstance(value, list):
        value = value[0]
    if value is None:
        return ""
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, bool):
        value = int(value)
    return f"`{value}`"


def _old_rows() -> Iterator[tuple[str, ...]]:
    for where, old_keys in _OLD_KEYS:
        for item in old_keys:
            yield where, f"`{item.old}`", f"`{item.new}`"
            for old_words, word in _grouped(item.values):
                yield where, f"`{item.old}`: {old_words}", f"`{item.new}: {word}`"
    for key, values in spellings.VALUES.items():
        for old_words, word in _grouped(values):
            yield "model, subgraph", f"`{key}`: {old_words}", f"`{key}: {word}`"
    for key, reason in spellings.WITHOUT_EFFECT.items():
        yield "model", f"`{key}`", f"no effect: {reason}"


def _grouped(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Old words that become the same word, on one line."""
    groups: dict[str, list[str]] = {}
    for old, new in values.items():
        if old != new:
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

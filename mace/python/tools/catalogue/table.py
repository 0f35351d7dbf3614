# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The operator reference of the documentation, from the declarations.

python -m mace.python.tools.catalogue.table [--output FILE]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mace.python.tools.atomic import atomic_write
from mace.python.tools.catalogue.loader import default_catalogue
from mace.python.tools.catalogue.schema import (
    Attribute,
    AttributeKind,
    Catalogue,
    OpSchema,
    Port,
)
from mace.python.tools.errors import MaceError


def operator_table(catalogue: Catalogue) -> str:
    """Markdown: a table of all operators, then a section for each."""
    ops = sorted(catalogue.ops.values(), key=lambda op: op.type.lower())
    lines = ["# Operators", ""]
    lines += ["| operator | what it computes |", "|---|---|"]
    lines += [
        f"| [{op.type}](#{op.type.lower()}) | {_cell(op.summary)} |" for op in ops
    ]
    for op in ops:
        lines += _section(op)
    return "\n".join(lines) + "\n"


def _section(op: OpSchema) -> list[str]:
    lines = ["", f"## {op.type}", "", op.summary]
    if op.doc:
        lines += ["", op.doc]
    lines += ["", "| port | element types | meaning |", "|---|---|---|"]
    for side, ports in (("input", op.inputs), ("output", op.outputs)):
        lines += [_port(side, port) for port in ports]
    if op.attributes:
        lines += ["", "| attribute | type | default | meaning |", "|---|---|---|---|"]
        lines += [_attribute(attribute) for attribute in op.attributes.values()]
    return lines


def _port(side: str, port: Port) -> str:
    notes = [
        word
        for word, holds in (
            ("optional", port.optional),
            ("constant", port.constant),
            ("one or more", port.variadic),
        )
        if holds
    ]
    meaning = "; ".join([*notes, *([port.doc] if port.doc else [])])
    return f"| {side} `{port.name}` | {', '.join(port.types)} | {_cell(meaning)} |"


def _attribute(attribute: Attribute) -> str:
    default = "required" if attribute.required else f"`{_value(attribute.default)}`"
    kind = attribute.kind.value
    if attribute.size is not None:
        kind = f"{attribute.size} {kind}"
    meaning = [attribute.doc] if attribute.doc else []
    if attribute.kind is AttributeKind.ENUM:
        meaning.append(", ".join(f"`{word}`" for word in attribute.values))
    if attribute.min is not None:
        meaning.append(f"at least {attribute.min}")
    if attribute.max is not None:
        meaning.append(f"at most {attribute.max}")
    return f"| `{attribute.name}` | {kind} | {default} | {_cell('; '.join(meaning))} |"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(str(v) for v in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(description="Writes the operator reference.")
    parser.add_argument(
        "--output", type=Path, help="file to write; standard output if left out"
    )
    args = parser.parse_args(argv)
    try:
        text = operator_table(default_catalogue())
        if args.output is None:
            sys.stdout.write(text)
        else:
            with atomic_write(args.output, "w") as stream:
                stream.write(text)
    except MaceError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main())

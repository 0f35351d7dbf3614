# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of saved records to the page, or checks that they are there.

    python -m benchmarks.page [--check]

docs/development/benchmarks.md has places between two comments:

    <!-- results: NAME [TABLE ...] -->
    <!-- end of results -->

The tables of benchmarks/results/NAME.json are written between them: all tables, or the
named ones, that have rows; and a line if nothing has been measured. The word `chart`
stands for a picture beside the page, which the program's `draw(record, path, source)`
draws. The table of README.md is made by `benchmarks.readme`. With --check nothing is
written, and the exit status is 1 if a place differs from its record, or if a record has
no place on the page.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import re
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from benchmarks import readme, record
from benchmarks.record import NoRecordError, Record, RecordError
from mace.python.tools.atomic import atomic_write

PAGE = record.ROOT / "docs/development/benchmarks.md"
_PLACE = re.compile(
    r"(<!-- results: (?P<words>[a-z0-9_ ]+) -->\n)(?P<body>.*?)"
    r"(<!-- end of results -->)",
    re.DOTALL,
)
_BEGIN = "<!-- results:"
CHART = "chart"
Read = Callable[[str], Record]


def digest(kept: Record) -> str:
    """The checksum in a picture that shows from which record it was drawn."""
    text = json.dumps(asdict(kept), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def fill(text: str, read: Read = record.read) -> str:
    """The page with every place filled from its record.

    Raises:
        RecordError: a place names a table that its record does not have, or
            is not closed.
    """
    if text.count(_BEGIN) != len(_PLACE.findall(text)):
        raise RecordError(f"a place '{_BEGIN} ...' is misspelt or has no end")

    def place(found: re.Match[str]) -> str:
        name, *tables = found["words"].split()
        try:
            body = _body(name, tables, read(name))
        except NoRecordError:
            body = f"Not measured yet (`--record {name}`)."
        return f"{found[1]}\n{body}\n\n{found[4]}"

    return _PLACE.sub(place, text)


def _body(name: str, wanted: list[str], kept: Record) -> str:
    made = {table.name: table for table in kept.tables()}
    parts = []
    for table in wanted or made:
        if table == CHART:
            title = f"{name}: {kept.program}, {kept.date}"
            parts.append(f"![{title}]({picture(name).name})")
        elif table in made:
            parts += [made[table].markdown()] * bool(made[table].rows)
        else:
            raise RecordError(
                f"{name}.json has no table {table!r}, but: {', '.join(made)}"
            )
    return "\n\n".join([*parts, f"Measured by {kept.origin()}."])


def shown(text: str) -> dict[str, set[str]]:
    """Names of the records on the page, with the named tables."""
    found: dict[str, set[str]] = {}
    for match in _PLACE.finditer(text):
        name, *tables = match["words"].split()
        found.setdefault(name, set()).update(tables)
    return found


def picture(name: str) -> Path:
    """The path of a record's chart."""
    return PAGE.with_name(f"{name}.png")


def picture_source(path: Path) -> str:
    """The checksum in a picture, see digest(); empty if there is none."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            return str(image.info.get("Source", ""))
    except (FileNotFoundError, UnidentifiedImageError):
        return ""


def problems(text: str, read: Read = record.read) -> list[str]:
    """The differences between the page and the records."""
    wrong = []
    if fill(text, read) != text:
        wrong.append(f"{PAGE.name} is not as benchmarks/results has it")
    places = shown(text)
    wrong += [
        f"{PAGE.name} has no place for benchmarks/results/{name}.json"
        for name in record.names()
        if name not in places
    ]
    wrong += [
        f"{path.name} of benchmarks/results is no record"
        for path in sorted(record.RESULTS.iterdir())
        if path.suffix != ".json"
    ]
    own = readme.README.read_text(encoding="utf-8")
    if _readme(own) != own:
        wrong.append(f"{readme.README.name} is not as benchmarks/results has it")
    for name, tables in places.items():
        if name not in record.names():
            continue
        if CHART in tables and picture_source(picture(name)) != digest(read(name)):
            wrong.append(f"{picture(name).name} is not of {name}.json as it is now")
    return wrong


def _readme(text: str) -> str:
    return readme.fill(text)


def update() -> None:
    """Writes page, pictures and the table of README.md."""
    own = readme.README.read_text(encoding="utf-8")
    if _readme(own) != own:
        with atomic_write(readme.README, "w") as stream:
            stream.write(_readme(own))
    text = PAGE.read_text(encoding="utf-8")
    filled = fill(text)
    for name, tables in shown(filled).items():
        if CHART not in tables or name not in record.names():
            continue
        kept = record.read(name)
        if picture_source(picture(name)) != digest(kept):
            draw = importlib.import_module(kept.program).draw
            draw(kept, picture(name), digest(kept))
    if filled != text:
        with atomic_write(PAGE, "w") as stream:
            stream.write(filled)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit status 1 if it would"
    )
    args = parser.parse_args()
    try:
        if not args.check:
            update()
        wrong = problems(PAGE.read_text(encoding="utf-8"))
    except RecordError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for line in wrong:
        sys.stderr.write(f"{line}; python -m benchmarks.page\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Puts the tables of saved records into the documentation, and checks their places.

    python -m benchmarks.page [--check]

docs/development/benchmarks.md has places for records:

    <!-- results: NAME [TABLE ...] -->

When the documentation is built (docs/conf.py), the tables of
benchmarks/results/NAME.json follow there: all tables, or the named ones, that have
rows; and a line if nothing has been measured. The word `chart` stands for a picture,
which the program's `draw(record, path)` draws. The table of README.md, which is read
where nothing is built, is made by `benchmarks.readme` and written here. With --check
nothing is written. The exit status is 1 if a record has no place on the page, a place
no such table, or if README.md differs from the records.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import readme, record
from benchmarks.record import NoRecordError, Record, RecordError
from mace.python.tools.atomic import atomic_write

PAGE = record.ROOT / "docs/development/benchmarks.md"
# Beside which the page finds pictures.
PICTURES = record.ROOT / "docs/generated"
_PLACE = re.compile(r"^<!-- results: (?P<words>[a-z0-9_ ]+) -->$", re.MULTILINE)
_BEGIN = "<!-- results:"
CHART = "chart"
Read = Callable[[str], Record]


def fill(text: str, read: Read = record.read) -> str:
    """The page with the tables of the records at every place.

    Raises:
        RecordError: a place names a table that its record does not have, or
            is misspelt.
    """
    if text.count(_BEGIN) != len(_PLACE.findall(text)):
        raise RecordError(f"a place '{_BEGIN} ...' is misspelt")

    def place(found: re.Match[str]) -> str:
        name, *tables = found["words"].split()
        try:
            return _body(name, tables, read(name))
        except NoRecordError:
            return f"Not measured yet (`--record {name}`)."

    return _PLACE.sub(place, text)


def _body(name: str, wanted: list[str], kept: Record) -> str:
    made = {table.name: table for table in kept.tables()}
    parts = []
    for table in wanted or made:
        if table == CHART:
            title = f"{name}: {kept.program}, {kept.date}"
            parts.append(f"![{title}](../{PICTURES.name}/{picture(name).name})")
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
    return PICTURES / f"{name}.png"


def draw_charts(text: str) -> None:
    """Draws the charts of a page."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, tables in shown(text).items():
        if CHART in tables and name in record.names():
            kept = record.read(name)
            importlib.import_module(kept.program).draw(kept, picture(name))


def problems(text: str, read: Read = record.read) -> list[str]:
    """What is wrong with the places on the page, and with the table of README.md.

    Raises:
        RecordError: as `fill`.
    """
    fill(text, read)
    places = shown(text)
    wrong = [
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
    if readme.fill(own) != own:
        wrong.append(
            f"{readme.README.name} is not as benchmarks/results has it; "
            "python -m benchmarks.page"
        )
    return wrong


def update() -> None:
    """Writes the table of README.md."""
    own = readme.README.read_text(encoding="utf-8")
    filled = readme.fill(own)
    if filled != own:
        with atomic_write(readme.README, "w") as stream:
            stream.write(filled)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()
    try:
        if not args.check:
            update()
        wrong = problems(PAGE.read_text(encoding="utf-8"))
    except RecordError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for line in wrong:
        sys.stderr.write(f"{line}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

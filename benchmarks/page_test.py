# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Records, and the page that is made of them."""

from __future__ import annotations

import argparse
import json
import platform
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from benchmarks import page, record
from benchmarks.record import NoRecordError, Record, RecordError
from benchmarks.tables import Table

_BOUNDS = {"threads": 1, "networks": {"a": {"tensors": 3, "arena": 20, "bound": 10}}}
_RECORD = Record(
    "benchmarks.arena", "a machine", "2026-01-02", "abc", {"peer": "1.0"}, _BOUNDS
)
_PLACE = "Text.\n\n<!-- results: memory{} -->\n\nMore.\n"


_READ = {"memory": _RECORD}.__getitem__

# Say how well founded a figure is, for whoever doubts it: how often was measured, on
# which numbers, and how far the outputs were from those they were compared with.
_GROUNDS = {"rounds", "seed", "error", "similarity"}


def _fill(text: str) -> str:
    return page.fill(text, _READ)


def test_every_record_has_its_place() -> None:
    assert page.problems(page.PAGE.read_text(encoding="utf-8")) == []


def test_every_record_is_of_a_program_that_shows_it() -> None:
    for name in record.names():
        kept = record.read(name)
        assert any(table.rows for table in kept.tables()), name
        assert kept.machine and kept.date and kept.commit, name


def test_every_figure_that_is_kept_is_read() -> None:
    """By a table, of one record at least of those that a program made."""
    unread: dict[str, list[set[str]]] = {}
    for name in record.names():
        kept = record.read(name)
        unread.setdefault(kept.program, []).append(_unread(kept))
    never = {program: set.intersection(*found) for program, found in unread.items()}
    assert {program: found - _GROUNDS for program, found in never.items()} == {
        program: set() for program in never
    }


def _unread(kept: Record) -> set[str]:
    """Names of the fields that make no difference to any table."""
    shown = [table.markdown() for table in kept.tables()]
    unread = set()
    for name in _field_names(kept.data):
        try:
            other = replace(kept, data=_changed(kept.data, name))
            if [table.markdown() for table in other.tables()] == shown:
                unread.add(name)
        except Exception:  # A table fails over what it reads.
            continue
    return unread


def _field_names(data: Any) -> set[str]:
    if isinstance(data, list):
        return set().union(*map(_field_names, data))
    if not isinstance(data, dict):
        return set()
    own = {key for key, value in data.items() if not isinstance(value, (dict, list))}
    return own.union(*map(_field_names, data.values()))


def _changed(data: Any, name: str) -> Any:
    """`data` with other values in all fields of that name."""
    if isinstance(data, list):
        return [_changed(item, name) for item in data]
    if not isinstance(data, dict):
        return data
    return {
        key: _other(value) if key == name else _changed(value, name)
        for key, value in data.items()
    }


def _other(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return not value
    return value * 3 + 11 if isinstance(value, (int, float)) else f"{value}x"


def test_a_place_is_filled() -> None:
    filled = _fill(_PLACE.format(""))
    assert "| a | 3 | 0.00 | 0.00 | 2.000 |" in filled
    assert "a machine; 2026-01-02, commit abc; peer 1.0." in filled
    assert filled.startswith("Text.\n\n**") and filled.endswith("1.0.\n\nMore.\n")


def test_a_record_without_a_place_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "names", lambda: ["memory", "forgotten"])
    (missing,) = page.problems(_PLACE.format(""), _READ)
    assert "no place for benchmarks/results/forgotten.json" in missing


def test_charts_are_drawn_for_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PICTURES", tmp_path / "pictures")
    text = "<!-- results: scoreboard chart -->\n"
    page.draw_charts(text)
    with Image.open(tmp_path / "pictures" / "scoreboard.png") as image:
        assert image.width > 500
    assert "](../pictures/scoreboard.png)" in page.fill(text)


def test_what_is_no_record_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    (tmp_path / "memory.json").touch()
    (tmp_path / "raw.csv").touch()
    monkeypatch.setattr(record, "names", lambda: ["memory"])
    (wrong,) = page.problems(_PLACE.format(""), _READ)
    assert wrong == "raw.csv of benchmarks/results is no record"


def test_a_table_that_is_not_there_is_named() -> None:
    with pytest.raises(RecordError, match="no table 'speed', but: arena"):
        _fill(_PLACE.format(" speed"))


def test_a_misspelt_place_is_an_error() -> None:
    with pytest.raises(RecordError, match="misspelt"):
        _fill(_PLACE.format(" Memory!"))


def test_what_is_not_measured_is_said() -> None:
    def read(name: str) -> Record:
        raise NoRecordError(name)

    filled = page.fill(_PLACE.format(""), read)
    assert "Not measured yet (`--record memory`)." in filled


def test_a_missing_record_says_how_to_measure(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"none.json is missing.*--record none"):
        record.read("none", tmp_path)
    (tmp_path / "bad.json").write_text('{"program": 3}')
    with pytest.raises(RecordError, match=r"bad.json is no record"):
        record.read("bad", tmp_path)


def test_what_is_recorded_is_what_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.json"
    _recorder("--record", str(path), "--commit", "c0ffee").finish(_BOUNDS, {"p": "2"})
    assert "2.000" in capsys.readouterr().out
    kept = record.read("r", tmp_path)
    assert (kept.program, kept.commit, kept.versions) == (
        "benchmarks.arena",
        "c0ffee",
        {"p": "2"},
    )
    assert kept.tables()[0].rows[0][-1] == "2.000"
    assert json.loads(path.read_text())["data"] == _BOUNDS


def test_a_record_needs_a_name_and_a_commit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(record, "commit", lambda: "")
    for arguments, message in (
        (("--record", "Big Name", "--commit", "1"), "lower-case"),
        (("--record", "name"), "--commit"),
    ):
        with pytest.raises(SystemExit) as ended:
            _recorder(*arguments)
        assert ended.value.code == 2
        assert message in capsys.readouterr().err


def _recorder(*arguments: str) -> record.Recorder:
    parser = argparse.ArgumentParser()
    record.add_arguments(parser)
    return record.recorder("benchmarks.arena", parser.parse_args(arguments))


def test_rows_have_a_cell_for_each_column() -> None:
    table = Table("t", "some numbers", ("name", "kind", "ms"), labels=2)
    table.add("a|b", "c", "1")
    table.add()
    with pytest.raises(ValueError, match="2 cells for 3 columns"):
        table.add("a", "b")
    assert table.markdown().splitlines()[2:] == [
        "| name | kind | ms |",
        "|---|---|---:|",
        "| a\\|b | c | 1 |",
    ]


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    cells = [{"network": f"n{i}", "ms": [i / 7] * 20, "": None} for i in range(30)]
    kept = Record("p", "m", "d", "c", {"a b": '"1"'}, {"cells": cells, "none": []})
    record.write(kept, tmp_path / "x.json")
    assert record.read("x", tmp_path) == kept
    lines = (tmp_path / "x.json").read_text(encoding="utf-8").splitlines()
    # One entry a line: who compares two records sees which have changed.
    assert sum(line.startswith('   {"network"') for line in lines) == len(cells)


def test_the_records_here_are_written_so() -> None:
    for name in record.names():
        path = record.RESULTS / f"{name}.json"
        assert len(path.read_text(encoding="utf-8").splitlines()) < 1000, name


def test_instructions_are_told_of_a_machine() -> None:
    text = "AMD EPYC (family 23, model 1; AVX2), 2 CPUs, Linux"
    assert record.instructions_of(text) == "AVX2"
    assert record.instructions_of("AMD EPYC (family 26, model 2), 2 CPUs") == "CPU"


@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="/proc/cpuinfo has families on x86 alone"
)
def test_a_machine_says_what_was_hidden_and_how_time_was_taken() -> None:
    text = record.machine("avx2", "cpu")
    assert record.instructions_of(text) == "AVX2 by CPUID mask"
    assert text.endswith("Linux, busy: CPU time")
    assert "mask" not in record.machine()

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.peers.results import Cell, Loading, Scoreboard
from benchmarks.peers.scoreboard import others, tables
from benchmarks.record import Record as Kept
from benchmarks.record import Recorder, write
from benchmarks.timing import Times

_BOARD = Scoreboard("a machine", {"MACE": "1"}, 0, [])


def _cell(network: str) -> Cell:
    loads = (Loading(2.0, 30.0, 20.0),)
    return Cell(network, 1, "mace", Times(1.0, 2.0, 10), loads, 0.0, "")


@pytest.fixture
def output(tmp_path: Path) -> Recorder:
    board = replace(_BOARD, cells=[_cell("a"), _cell("b")])
    path = tmp_path / "kept.json"
    program = "benchmarks.peers.scoreboard"
    write(
        Kept(program, "a machine", "2026-01-02", "abc", {"MACE": "1"}, board.data()),
        path,
    )
    return Recorder(program, path, "abc")


def test_other_networks_of_a_record_are_kept(output: Recorder) -> None:
    assert others(output, _BOARD, ["b", "c"]) == [_cell("a")]


def test_what_was_not_measured_alike_is_not_joined(
    output: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    for board, recorder, word in (
        (replace(_BOARD, machine="another"), output, "machine"),
        (_BOARD, replace(output, commit="def"), "commit"),
        (replace(_BOARD, versions={"MACE": "2"}), output, "versions"),
    ):
        with pytest.raises(SystemExit) as ended:
            others(recorder, board, ["b"])
        assert ended.value.code == 2
        assert f"is of {word}" in capsys.readouterr().err


def test_tables_are_made_of_kept_data() -> None:
    data = replace(_BOARD, cells=[_cell("a")]).data()
    names = [table.name for table in tables(data) if table.rows]
    assert names == ["cells", "means", "goals"]

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

from benchmarks import readme, record
from benchmarks.peers.results import Cell, Loading, Scoreboard
from benchmarks.record import RecordError
from benchmarks.timing import Times

_FOOTPRINT = {
    "libraries": [
        {"engine": "MACE", "files": ["a"], "bytes": 2_400_000},
        {"engine": "ncnn", "files": ["b"], "bytes": 26_000_000},
    ],
    "onnx": {"converted": 3, "standard": 4},
}


def _cell(engine: str, ms: float, network: str, reason: str = "") -> Cell:
    return Cell(
        network=network,
        threads=1,
        engine=engine,
        times=Times(ms, ms, 10),
        loads=(Loading(10 * ms, 30.0 + ms, 30.0),),
        error=0.0,
        reason=reason,
    )


def test_the_readme_has_what_the_records_have() -> None:
    text = readme.README.read_text(encoding="utf-8")
    board, footprint = record.read("scoreboard"), record.read("footprint")
    assert readme.fill(text, board, footprint) == text


def test_ratios_are_geometric_means_over_right_results() -> None:
    cells = [
        *(_cell("mace", 2.0, "a"), _cell("ncnn", 4.0, "a")),
        *(_cell("mace", 1.0, "b"), _cell("ncnn", 8.0, "b")),
        # A wrong result does not count, and neither does one without MACE's.
        *(_cell("mace", 1.0, "c"), _cell("ncnn", 99.0, "c", "outputs differ")),
        _cell("ncnn", 99.0, "d"),
    ]
    table = readme.comparison(Scoreboard("m", {}, 0, cells), _FOOTPRINT)
    place = table.columns.index("ncnn")
    rows = {row[0]: row for row in table.rows}
    assert rows["time per inference, 1 thread"][place] == "4.00"
    assert rows["time per inference, 1 thread"][1] == "1.00"
    assert rows["time per inference, 2 threads"][place] == "-"
    assert rows["from the file to the first result"][place] == "4.00"
    assert rows["peak memory"][place] == "4.00"
    assert rows["library with the operators (MB)"][1] == "2.4"
    assert rows["library with the operators (MB)"][place] == "26.0"
    assert rows["library with the operators (MB)"][2] == "-"


def test_a_readme_without_a_place_is_refused() -> None:
    board, footprint = record.read("scoreboard"), record.read("footprint")
    with pytest.raises(RecordError, match="compared"):
        readme.fill("# MACE\n", board, footprint)

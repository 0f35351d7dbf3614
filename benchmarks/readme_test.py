# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json

import pytest

from benchmarks import readme
from benchmarks.peers.results import Cell, Loading, Scoreboard
from benchmarks.record import Record, RecordError
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


def _records(cells: list[Cell]) -> dict[str, Record]:
    """All that the table is made of; of cells alone the scoreboard."""
    made = {
        name: _record("benchmarks.peers.scoreboard", Scoreboard("", {}, 0, []).data())
        for name in ("bf16_amx", "int8", "int8_avx2")
    }
    made["scoreboard"] = _record(
        "benchmarks.peers.scoreboard", Scoreboard("", {}, 0, cells).data()
    )
    made["gpu"] = _record(
        "benchmarks.gpu.report",
        {
            "networks": {
                "a": {"sides": {"mace_fp16": _side(2), "ncnn_vulkan_fp16": _side(5)}}
            }
        },
        "NVIDIA H100 80GB HBM3, driver 1, Xeon, 16 CPUs, Linux",
    )
    made["footprint"] = _record("benchmarks.footprint", _FOOTPRINT)
    return made


def _record(
    program: str, data: object, machine: str = "AMD EPYC (family 23, model 1; AVX2)"
) -> Record:
    return Record(program, machine, "2026-11-29", "c", {}, json.loads(json.dumps(data)))


def _side(ms: float) -> dict[str, dict[str, float]]:
    return {"times": {"minimum": ms, "median": ms}}


def test_the_readme_has_what_the_records_have() -> None:
    text = readme.README.read_text(encoding="utf-8")
    assert readme.fill(text) == text


def test_ratios_are_geometric_means_over_right_results() -> None:
    cells = [
        *(_cell("mace", 2.0, "a"), _cell("ncnn", 4.0, "a")),
        *(_cell("mace", 1.0, "b"), _cell("ncnn", 8.0, "b")),
        # A wrong result does not count, and neither does one without MACE's.
        *(_cell("mace", 1.0, "c"), _cell("ncnn", 99.0, "c", "outputs differ")),
        _cell("ncnn", 99.0, "d"),
    ]
    table = readme.comparison(_records(cells))
    place = table.columns.index("ncnn")
    rows = {row[0]: row for row in table.rows}
    assert rows["fp32, 1 thread"][1:3] == ("AVX2", "1.00")
    assert rows["fp32, 1 thread"][place] == "4.00"
    assert rows["fp32, 2 threads"][place] == "-"
    assert rows["int8, 1 thread"][place] == "-"
    assert rows["GPU, fp16 in memory"][1:3] == ("NVIDIA H100", "1.00")
    assert rows["GPU, fp16 in memory"][place] == "2.50"
    assert rows["from the file to the first result"][place] == "4.00"
    assert rows["peak memory"][place] == "4.00"
    assert rows["library with the operators (MB)"][2] == "2.4"
    assert rows["library with the operators (MB)"][place] == "26.0"
    assert rows["library with the operators (MB)"][3] == "-"


def test_a_readme_without_a_place_is_refused() -> None:
    with pytest.raises(RecordError, match="compared"):
        readme.fill("# MACE\n")

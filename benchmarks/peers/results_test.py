# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.peers.chart import chart, draw
from benchmarks.peers.goals import goals
from benchmarks.peers.results import (
    Cell,
    Loading,
    Scoreboard,
    first_ms,
    memory_mb,
    time_ms,
)
from benchmarks.peers.table import tables
from benchmarks.timing import Times


def _cell(
    engine: str,
    minimum: float,
    network: str = "a",
    reason: str = "",
    threads: int = 1,
) -> Cell:
    loads = (Loading(10.0 * minimum, 30.0, 20.0), Loading(99.0, 40.0, 20.0))
    times = Times(minimum, minimum + 1, 10)
    return Cell(network, threads, engine, times, loads, 0.0, reason)


@pytest.fixture
def board() -> Scoreboard:
    cells = [
        _cell("mace", 1.0),
        _cell("onnxruntime", 4.0),
        _cell("ncnn", 2.0),
        _cell("mnn", 0.5, reason="never the best peer, its outputs differ by 1e-03"),
        _cell("openvino_default", 0.25),
        _cell("mace", 9.0, "b"),
        _cell("onnxruntime", 2.0, "b"),
        Cell("b", 1, "ncnn", None, (), None, "cannot load"),
    ]
    products = ("MACE", "ONNX Runtime", "ncnn", "MNN", "OpenVINO")
    return Scoreboard("a machine", dict.fromkeys(products, "1"), 0, cells)


def test_best_peer_is_exact_and_fp32(board: Scoreboard) -> None:
    assert [board.ratio(cell, time_ms) for cell in board.cells[:5]] == [
        0.5,
        2.0,
        1.0,
        0.25,
        0.125,
    ]


def test_mean_is_over_the_networks_an_engine_has(board: Scoreboard) -> None:
    assert board.mean_ratio("mace", 1, time_ms) == pytest.approx(1.5)
    assert board.mean_ratio("ncnn", 1, time_ms) == pytest.approx(1.0)
    assert board.mean_ratio("litert", 1, time_ms) is None
    assert board.mean_ratio("mace", 2, time_ms) is None


def test_loads_count_by_their_best(board: Scoreboard) -> None:
    assert first_ms(board.cells[0]) == 10.0
    assert memory_mb(board.cells[0]) == 10.0


def test_a_record_gives_it_back_and_a_picture(
    board: Scoreboard, tmp_path: Path
) -> None:
    data = json.loads(json.dumps(board.data()))
    same = Scoreboard.of_data(data, board.machine, board.versions)
    assert same == board
    draw(same, tmp_path / "s.png")
    assert [path.name for path in tmp_path.iterdir()] == ["s.png"]


@pytest.mark.parametrize("mace_ms", [2.0, 2.9, 3.1, 3.6, 3.96, 4.0, 4.1, 9.0])
def test_no_number_of_the_picture_touches_the_line_of_the_best_peer(
    mace_ms: float,
) -> None:
    cells = [_cell("mace", mace_ms), _cell("onnxruntime", 4.0), _cell("ncnn", 4.04)]
    versions = {"MACE": "1", "ONNX Runtime": "1", "ncnn": "1"}
    figure = chart(Scoreboard("a machine", versions, 0, cells))
    figure.draw_without_rendering()
    axis = figure.axes[0]
    line = axis.transData.transform((0, 1))[1]
    extents = [text.get_window_extent() for text in axis.texts]
    assert len(extents) == 3
    for extent in extents:
        assert extent.y1 < line - 1 or extent.y0 > line + 1


def test_a_second_thread_is_compared_with_one() -> None:
    cells = [_cell("mace", 3.0), _cell("mace", 2.0, threads=2), _cell("ncnn", 4.0)]
    board = Scoreboard("a machine", {}, 0, cells)
    assert board.speedups("mace") == {"a": {2: 1.5}}
    assert board.speedups("ncnn") == {}


def test_an_engine_is_measured_by_its_rival() -> None:
    cells = [
        _cell("mace_bf16", 3.0),
        _cell("openvino_default", 2.0),
        _cell("mace_bf16", 1.0, "b"),
        _cell("mace_bf16", 1.0, "c"),
        _cell("openvino_default", 4.0, "c"),
    ]
    board = Scoreboard("a machine", {}, 0, cells)
    (duel,) = board.duels()
    assert (duel.engine, duel.rival, duel.threads) == (
        "mace_bf16",
        "openvino_default",
        1,
    )
    assert duel.networks == {"a": 1.5, "c": 0.25}
    assert duel.medians == {"a": pytest.approx(4 / 3), "c": pytest.approx(0.4)}


def test_goals_are_held_against_the_worst_cell(board: Scoreboard) -> None:
    found = {goal.text: goal for goal in goals(board)}
    mean = found["time / fastest peer's, geometric mean"]
    assert mean.value == pytest.approx(1.5) and mean.met is False
    worst = found["time / fastest peer's, worst"]
    assert (worst.value, worst.case, worst.met) == (4.5, "b, 1 thread", False)
    error = found["largest difference from ONNX Runtime"]
    assert (error.value, error.met) == (0.0, True)
    # With one number of threads, the gain of a second thread is unknown.
    assert found["1 thread / 2 threads, worst"].met is None
    cells = [_cell("mace", 3.7), _cell("mace", 2.0, threads=2)]
    (speedup,) = (
        goal
        for goal in goals(Scoreboard("", {}, 0, cells))
        if goal.met is not None and goal.least
    )
    assert (speedup.value, speedup.met) == (1.85, True)


def test_tables_have_a_column_for_each_fp32_engine(board: Scoreboard) -> None:
    made = {table.name: table for table in tables(board) if table.rows}
    assert set(made) == {
        "cells",
        "time",
        "first",
        "memory",
        "means",
        "remarks",
        "goals",
    }
    time = made["time"]
    assert time.columns == (
        *("network", "threads", "MACE", "ONNX Runtime", "ncnn", "MNN", "ratio"),
    )
    assert time.rows == [
        *[
            (
                "a",
                "1",
                "1.00 (2.00)",
                "4.00 (5.00)",
                "2.00 (3.00)",
                "0.50 (1.50) *",
                "0.50",
            )
        ],
        ("b", "1", "9.00 (10.00)", "2.00 (3.00)", "-", "-", "4.50"),
        ("geometric mean", "1", "", "", "", "", "1.50"),
    ]
    assert [row[3] for row in made["remarks"].rows] == [
        "never the best peer, its outputs differ by 1e-03",
        "cannot load",
    ]


def test_ratios_to_a_rival_have_times_beside_them() -> None:
    cells = [_cell("mace_bf16", 3.0), _cell("openvino_default", 2.0)]
    board = Scoreboard("", {}, 0, cells)
    made = {table.name: table for table in tables(board) if table.rows}
    assert made["bf16"].rows[0] == (
        *("a", "1", "3.00 (4.00)", "2.00 (3.00)", "1.50", "1.33"),
    )
    assert "time" not in made

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.peers.chart import draw
from benchmarks.peers.results import (
    Cell,
    Loading,
    Scoreboard,
    first_ms,
    memory_mb,
    time_ms,
)
from benchmarks.timing import Times


def _cell(engine: str, minimum: float, network: str = "a", reason: str = "") -> Cell:
    loads = (Loading(1.0, 10.0 * minimum, 30.0, 20.0), Loading(1.0, 99.0, 40.0, 20.0))
    times = Times(minimum, minimum + 1, 10)
    return Cell(network, 1, engine, times, loads, 0.0, reason)


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
    versions = dict.fromkeys(
        ("mace", "onnxruntime", "ncnn", "mnn", "openvino_default"), "1"
    )
    return Scoreboard("a machine", versions, 0, cells)


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


def test_writes_json_and_a_picture(board: Scoreboard, tmp_path: Path) -> None:
    board.write(tmp_path / "s.json")
    cells = json.loads((tmp_path / "s.json").read_text())["cells"]
    assert cells[0]["ratio"] == 0.5 and cells[0]["times"]["minimum"] == 1.0
    assert cells[-1]["ratio"] is None and cells[-1]["reason"] == "cannot load"
    draw(board, tmp_path / "s.png")
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    assert len(list(tmp_path.iterdir())) == 2


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

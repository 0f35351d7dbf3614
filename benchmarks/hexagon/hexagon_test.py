# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What is counted and measured, and how tables show it; nothing is emulated."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.hexagon.layers import MOBILENET_V1, MOBILENET_V2, OTHERS, Layer
from benchmarks.hexagon.packets import Counted, Counter, count, tables, total
from benchmarks.hexagon.peer import Kernel, Peer
from benchmarks.hexagon.transport import summary
from benchmarks.hexagon.transport import tables as transport_tables

_OURS = Path("layers_benchmark")


def test_the_layers_are_those_of_mobilenet() -> None:
    # Of the paper: 569 million multiply-adds.
    macs = sum(layer.times * layer.macs for layer in MOBILENET_V1)
    assert macs == pytest.approx(569e6, rel=0.01)
    assert sum(layer.times for layer in MOBILENET_V1) == 1 + 2 * 13 + 1
    names = [layer.name for layer in (*MOBILENET_V1, *MOBILENET_V2, *OTHERS)]
    assert len(set(names)) == len(names)
    assert "3x3 112 by 2, 3 to 32" in names
    assert "depthwise 3x3 56, 128" in names
    assert "fully connected, 1280 to 1000" in names


@pytest.mark.parametrize(
    ("layer", "taken"),
    [
        (Layer(56, 1, 1, 64, 128), {"gemm 1", "gemm 4"}),
        (Layer(1, 1, 1, 64, 128), {"gemm 1"}),
        (Layer(56, 3, 1, 64, 128), {"igemm 4"}),
        (Layer(56, 3, 1, 64, 64, depthwise=True), set()),
    ],
)
def test_kernels_that_take_a_layer(layer: Layer, taken: set[str]) -> None:
    kernels = [
        Kernel("gemm 1", True, 1, 32),
        Kernel("gemm 4", True, 4, 32),
        Kernel("igemm 4", False, 4, 32),
    ]
    assert {kernel.name for kernel in kernels if kernel.takes(layer)} == taken


class _Counter(Counter):
    """Counts 200 packets of an instruction, 180 without it, what a peer's name says."""

    def __init__(self) -> None:
        """Without an emulator."""

    def packets(
        self, program: Path, arguments: list[str], threads: int | None = None
    ) -> int:
        if program != _OURS:
            return int(program.name)
        return 180 if threads == 0 else 200

    def busy(self, program: Path, arguments: list[str]) -> int | None:
        return None


class _Peer(Peer):
    def __init__(self) -> None:
        self.kernels = [Kernel("500", True, 1, 32), Kernel("400", True, 4, 64)]

    def program(self, kernel: Kernel) -> Path:
        return Path(kernel.name)


def test_a_layer_is_compared_without_its_instruction() -> None:
    layer = Layer(56, 1, 1, 64, 128)
    row = count(_Counter(), _OURS, _Peer(), "others", layer)
    assert (row.packets, row.kernel, row.peer, row.tile) == (200, 180, 400, "4x64")
    assert row.ratio == pytest.approx(0.45)
    alone = count(_Counter(), _OURS, None, "others", layer)
    assert (alone.packets, alone.kernel, alone.ratio) == (200, None, None)


def test_tables_have_ratios_where_there_is_a_peer() -> None:
    rows = [
        Counted(
            "MobileNet v1",
            "1x1 2, 8 to 8",
            25600,
            5,
            200,
            150,
            180,
            400,
            "4x32",
            (110_000, 60_000),
        ),
        Counted("MobileNet v1", "depthwise 3x3 2, 8", 25600, 1, 1000, 0),
        Counted("others", "3x3 2, 8 to 8", 51200, 1, 300, None, 280, 400, "4x32"),
    ]
    millions, busy = total(rows)
    assert millions == pytest.approx(0.002)
    assert busy == pytest.approx(0.75)
    totals, layers, threads = tables({"v67": [asdict(row) for row in rows]})
    assert totals.rows == [("v67", "0.00", "75%", "0.57", "0.70")]
    assert threads.rows == [("v67", "0.55", "0.30")]
    assert layers.rows[0] == (
        "1x1 2, 8 to 8, 5 times",
        "200",
        "2.00",
        "75%",
        "180",
        "400",
        "4x32",
        "0.45",
    )
    assert layers.rows[1][4:] == ("", "", "", "")
    assert layers.rows[3][3] == ""


def test_what_is_kept_of_times() -> None:
    kept = summary([float(n) for n in range(100, 0, -1)])
    assert kept["minimum"] == 1.0
    assert kept["median"] == 50.5
    assert kept["p90"] == pytest.approx(90.9)


def test_each_side_beside_two_processes() -> None:
    times = {"call": 40.0, "wake": 4.0, "dsp": 100.0, "cpu": 2.0}
    sides = {
        side: {"minimum": time / 2, "median": time, "p90": time * 2}
        for side, time in times.items()
    }
    (table,) = transport_tables({"rounds": 10, "sides": sides})
    assert [row[-1] for row in table.rows] == ["10.0", "1.0", "25.0", "0.5"]
    assert table.rows[0] == (
        "call of an empty program",
        *("20.0", "40.0", "80.0", "10.0"),
    )
    assert "10 rounds" in table.title

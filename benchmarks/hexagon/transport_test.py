# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What is kept of measured times, and how the table shows it."""

from __future__ import annotations

import pytest

from benchmarks.hexagon.transport import summary, tables


def test_what_is_kept() -> None:
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
    (table,) = tables({"rounds": 10, "sides": sides})
    assert [row[-1] for row in table.rows] == ["10.0", "1.0", "25.0", "0.5"]
    assert table.rows[0] == (
        "call of an empty program",
        *("20.0", "40.0", "80.0", "10.0"),
    )
    assert "10 rounds" in table.title

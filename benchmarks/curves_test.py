# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from benchmarks.curves import efficiency, isas, points, tables
from benchmarks.timing import Times

_TIMES = [Times(10.0, 11.0, 5), Times(6.25, 7.0, 5), Times(20.0, 21.0, 5)]


def test_efficiency_is_work_per_thread_and_time() -> None:
    shares = efficiency([1.0, 1.0, 4.0], [1, 2, 1], _TIMES)
    assert shares == pytest.approx([1.0, 0.8, 2.0])


def test_a_table_for_each_curve() -> None:
    def row(name: str, threads: int, times: Times) -> dict[str, Any]:
        return {"name": name, "work": 1.0, "threads": threads, "times": asdict(times)}

    part = {"network": "n", "rows": [row("1", 1, _TIMES[0]), row("2", 2, _TIMES[1])]}
    trips = {"round_trip_ns": [81.4, 90.0, 79.6, 412.2]}
    parts = [{**part, "curve": "threads", **trips}, {**part, "curve": "batch"}]
    threads, batch = tables({"parts": parts})
    assert threads.rows[:2] == [
        ("n", "1", "10.00 (11.00)", "1.00", "1.00", ""),
        ("", "2", "6.25 (7.00)", "1.60", "0.80", "80 to 412"),
    ]
    assert batch.rows[1] == ("", "2", "6.25 (7.00)", "1.60", "0.80")
    assert (threads.name, batch.name) == ("threads", "batch")


def test_a_network_of_one_size_has_no_curve_of_sizes() -> None:
    assert points("shufflenet", "resolution") == []
    assert points("shufflenet", "threads")[0].threads == 1


def test_instruction_sets_are_those_of_the_processor() -> None:
    assert isas("flags : fpu sse4_1 avx avx2 fma\n") == ["sse41", "avx2"]
    flags = "flags : sse4_1 avx2 avx_vnni avx512f avx512_vnni"
    assert isas(flags)[-3:] == ["avx2_vnni", "avx512", "avx512_vnni"]
    assert isas("Features : fp asimd") == []


def test_what_is_chosen_is_the_first_row() -> None:
    rows = points("shufflenet", "isa")
    assert (rows[0].name, rows[0].isa) == ("as chosen", None)
    assert all(row.isa == row.name for row in rows[1:])

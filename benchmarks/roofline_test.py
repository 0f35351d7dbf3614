# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.roofline import (
    Peak,
    Row,
    grouped,
    kernels,
    large_direct,
    least,
    missed,
    peak_of,
    rows,
    settle,
    tables,
)

_LOG = """\
I model_runner.cc:171 model 'n': 3 operators on CPU, 2 thread(s)
I model_runner.cc:171 0 Conv2D 'a/b c' CPU gemm over taps float32[1, 4]
I model_runner.cc:171 1 Pooling 'pool' CPU float32[1, 4] in place
I model_runner.cc:171 2 Conv2D 'w' CPU winograd4x4 in fp16 float16[1, 4, 4, 8]
"""
_PEAK = Peak(macs=1e8, cache_bytes=1e8, memory_bytes=3e7, int8_macs=4e8)


def _row(kernel: str, macs: int, ms: float, kind: str = "Conv2D") -> Row:
    return Row(kind, kernel, "1x4", "4x1x1x8", macs, 1000, ms)


def test_kernels_are_read_from_what_explain_prints() -> None:
    assert kernels(_LOG) == {
        "a/b c": "gemm over taps",
        "pool": "",
        "w": "winograd4x4 in fp16",
    }


def test_takes_the_longer_of_compute_and_memory() -> None:
    common = {
        "name": "pool",
        "type": "Conv2D",
        "quantized": False,
        "output_shape": [[1, 4]],
    }
    report: dict[str, Any] = {
        "peak": {
            "gflops": 200.0,
            "int8_gops": 800.0,
            "gbytes_per_s": 30.0,
            "cache_gbytes_per_s": 100.0,
        },
        "benchmark": {
            "ops": [
                {**common, "min_ms": 2.0, "macs": 100_000_000, "bytes": 1_000_000},
                {**common, "min_ms": 1.0, "macs": 0, "bytes": 50_000_000},
                {**common, "min_ms": 0.0, "macs": 0, "bytes": 0},
            ]
        },
    }
    peak = peak_of(report)
    assert peak == _PEAK
    compute, memory = rows(report, _LOG)
    assert compute.bound(peak) == ("compute", pytest.approx(1.0))
    assert memory.bound(peak) == ("memory", pytest.approx(0.5))
    assert compute.of_peak(peak) == pytest.approx(0.5)


def test_quantized_operators_have_a_peak_of_their_own() -> None:
    found = [
        replace(_row("by vnni", 60_000_000, 0.3), quantized=True),
        _row("gemm", 20_000_000, 0.4),
    ]
    assert [row.of_peak(_PEAK) for row in found] == pytest.approx([0.5, 0.5])
    data = {
        "network": "n",
        "threads": 1,
        "winograd": None,
        "large": 50.0,
        "peak": vars(_PEAK),
        "ops": [vars(row) for row in found],
    }
    operators, direct, _ = tables(data)
    assert "n, 1 thread, in 8-bit integers; peak 400 GMAC/s (100 in fp32)" in (
        operators.title
    )
    # 0.15 + 0.2 of 0.7 ms.
    assert operators.rows[-1][-3:] == ("114.3", "50.0%", "50%")
    assert direct.rows[0][-2:] == ("50.0%", "50.0%")


def test_what_the_peak_is_required_of() -> None:
    found = [
        _row("gemm", 60_000_000, 1.0),
        _row("gemm", 40_000_000, 1.0),
        _row("winograd4x4", 90_000_000, 1.0),
        _row("dwconv", 90_000_000, 1.0, "DepthwiseConv2d"),
    ]
    assert large_direct(found, 50.0) == found[:1]
    assert large_direct(found, 30.0) == found[:2]


def test_the_least_time_of_all_runs_counts() -> None:
    runs = [
        [_row("a", 1, 2.0), _row("b", 1, 5.0)],
        [_row("a", 1, 3.0), _row("b", 1, 4.0)],
    ]
    assert [row.ms for row in least(runs)] == [2.0, 4.0]


def test_rows_of_equal_work_are_one() -> None:
    found = [
        _row("gemm", 60_000_000, 1.0),
        _row("b", 1, 1.0),
        _row("gemm", 60_000_000, 0.8),
    ]
    assert [len(same) for same in grouped(found)] == [2, 1]
    data = {
        "network": "n",
        "threads": 1,
        "winograd": 0,
        "large": 50.0,
        "peak": vars(_PEAK),
        "ops": [vars(row) for row in found],
    }
    operators, direct, sums = tables(data)
    assert operators.rows[0][5:] == (
        *("2", "60.0", "0.900", "66.7"),
        *("66.7%", "67%"),
    )
    # The limit applies to the slowest of them.
    assert direct.rows == [
        ("gemm", "1x4", "4x1x1x8", "2", "60.0", "0.900", "66.7", "66.7%", "60.0%")
    ]
    assert "avx2" not in operators.title
    assert "`winograd: 0`, avx2; peak" in tables({**data, "isa": "avx2"})[0].title
    assert sums.rows[0] == ("Conv2D", "gemm", "2", "120", "1.800", "66.7", "66.7%")


def test_a_peak_below_what_convolutions_reach_is_measured_again() -> None:
    found = [_row("gemm", 100_000_000, 1.0), _row("winograd4x4", 400_000_000, 1.0)]
    busy, idle = Peak(7e7, 1e8, 1e7), Peak(1.1e8, 1e8, 3e7)
    peaks = iter([busy, busy, idle])
    assert settle(lambda: (found, next(peaks)), 1) == (found, idle)
    with pytest.raises(SystemExit, match="reached 143% of the measured peak"):
        settle(lambda: (found, busy), 1)


def test_a_share_of_the_peak_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    found = [_row("gemm", 80_000_000, 1.0), _row("gemm over taps", 90_000_000, 1.0)]
    assert missed(found, _PEAK, None) == 0
    assert missed(found, _PEAK, 0.8) == 0
    assert missed(found, _PEAK, 0.85) == 1
    assert "gemm 1x4, filter 4x1x1x8: 80.0%" in capsys.readouterr().err
    # If no operator is large enough, nothing is shown, which is a failure.
    assert missed([], _PEAK, 0.85) == 1

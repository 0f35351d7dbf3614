# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.curves import Point, efficiency
from benchmarks.networks import Network
from benchmarks.roofline import rows
from benchmarks.timing import Times

_NETWORK = Network("n", Path("n.onnx"), Path("n"), "x", "y", (1, 3, 8, 8))


def test_efficiency_is_work_per_thread_and_time() -> None:
    points = [
        Point("one", _NETWORK, 1.0),
        Point("two threads", _NETWORK, 1.0, threads=2),
        Point("four images", _NETWORK, 4.0),
    ]
    times = [Times(10.0, 11.0, 5), Times(6.25, 7.0, 5), Times(20.0, 21.0, 5)]
    assert efficiency(points, times) == pytest.approx([1.0, 0.8, 2.0])


def test_roofline_takes_the_longer_of_compute_and_memory() -> None:
    common = {"name": "op", "type": "Conv2D", "output_shape": [[1, 4]]}
    report = {
        "peak": {"gflops": 200.0, "gbytes_per_s": 30.0, "cache_gbytes_per_s": 100.0},
        "benchmark": {
            "ops": [
                {**common, "min_ms": 2.0, "macs": 100_000_000, "bytes": 1_000_000},
                {**common, "min_ms": 1.0, "macs": 0, "bytes": 50_000_000},
                {**common, "min_ms": 0.0, "macs": 0, "bytes": 0},
            ]
        },
    }
    compute, memory = rows(report)
    assert (compute.bound, memory.bound) == ("compute", "memory")
    assert compute.gmacs == pytest.approx(50.0)
    assert (compute.share, memory.share) == pytest.approx((0.5, 0.5))

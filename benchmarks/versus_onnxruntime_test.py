# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from dataclasses import asdict

import pytest

pytest.importorskip("onnxruntime")

from benchmarks import versus_onnxruntime
from benchmarks.beside_onnxruntime import Row
from benchmarks.timing import Times


def test_each_network_has_its_threads_and_the_mean_is_geometric() -> None:
    faster = Row("a", 1e-6, Times(1.0, 2.0, 9), Times(4.0, 5.0, 9))
    equal = Row("b", 2e-6, Times(3.0, 3.5, 9), Times(3.0, 6.0, 9))
    (table,) = versus_onnxruntime.tables(
        [{"threads": 1, **asdict(faster)}, {"threads": 2, **asdict(equal)}]
    )
    assert table.rows == [
        ("a", "1", "1.00 (2.00)", "4.00 (5.00)", "0.25", "1e-06"),
        ("b", "2", "3.00 (3.50)", "3.00 (6.00)", "1.00", "2e-06"),
        (),
        ("geometric mean", "", "", "", "0.50", ""),
    ]

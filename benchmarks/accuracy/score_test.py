# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of the accuracy benchmark."""

from __future__ import annotations

from benchmarks.accuracy.score import tables

_ROW = {
    "network": "a",
    "float": 99.0,
    "float_onnxruntime": 99.0,
    "ptq_mace_samples": 98.4,
    "ptq_onnxruntime_min_max": 98.2,
    "ptq_litert": 98.45,
    "qat_mace": 98.9,
    "qat_onnxruntime": 99.1,
}


def test_goals() -> None:
    partly = {"network": "b", "float": 97.0, "ptq_mace_samples": 97.0, "ptq_litert": 96}
    found = {"images": 4792, "calibration_images": 256, "rows": [_ROW, partly]}
    accuracy, goals = tables(found)
    assert accuracy.rows[1].count("-") == len(accuracy.columns) - 4
    assert [row[1:] for row in goals.rows] == [
        ("no", "a", "≤ 0.50", "0.60"),
        ("yes", "a", "≤ 0.10", "0.05"),
        ("yes", "a", "≤ 0.20", "0.10"),
        ("no", "a", "≤ 0.10", "0.20"),
    ]


def test_a_network_alone() -> None:
    row = {"network": "a", "float": 99.0, "ptq_litert": 98.0}
    found = {"images": 4792, "calibration_images": 256, "rows": [row]}
    accuracy, goals = tables(found)
    assert accuracy.rows == [("a", "99.00", "98.00")] and not goals.rows

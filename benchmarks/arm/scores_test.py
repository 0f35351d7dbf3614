# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from benchmarks.arm.scores import tables


def _row(engine: str, network: str, millions: float, **more: Any) -> dict[str, Any]:
    row = {"cpu": "cortex-a76", "engine": engine, "network": network}
    return {**row, "millions": millions, "multiply_add_share": 0.5, **more}


def test_engines_are_compared_within_their_arithmetic() -> None:
    rows = [
        _row("ncnn", "a", 100),
        _row("mace_fp16", "a", 40),
        _row("mnn_fp16", "a", 50, multiply_add_share=0),
        _row("mace", "a", 90),
        _row("mnn", "a", 120),
        _row("mace_int8", "a", 20),
        _row("litert_int8", "a", 30),
        _row("onnxruntime_u8s8", "a", 25),
        _row("mace", "b", 10),
        {"cpu": "cortex-a76", "engine": "ncnn", "network": "b", "failed": "why"},
    ]
    (table,) = tables({"rows": rows})
    assert table.name == "cortex_a76"
    assert table.columns == ("engine", "a", "b")
    assert table.rows == [
        ("MACE", "90.0 (50%)", "10.0 (50%)"),
        ("ncnn", "100.0 (50%)", "failed"),
        ("MNN", "120.0 (50%)", "-"),
        ("MACE / least of the others", "0.900", "-"),
        ("MACE, fp16", "40.0 (50%)", "-"),
        ("MNN, fp16", "50.0", "-"),
        ("MACE, fp16 / least of the others", "0.800", "-"),
        ("MACE, int8", "20.0 (50%)", "-"),
        ("LiteRT, int8", "30.0 (50%)", "-"),
        ("ONNX Runtime, uint8", "25.0 (50%)", "-"),
        ("MACE, int8 / least of the others", "0.800", "-"),
    ]


def test_a_processor_has_a_table_of_its_own() -> None:
    rows = [_row("mace", "a", 1), {**_row("mace", "a", 2), "cpu": "cortex-a15"}]
    names = [table.name for table in tables({"rows": rows})]
    assert names == ["cortex_a76", "cortex_a15"]

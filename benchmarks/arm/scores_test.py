# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math
from typing import Any

import pytest

from benchmarks.arm.scores import failure, tables


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


def _output(engine: str, **more: Any) -> dict[str, Any]:
    row = {"cpu": "cortex-a76", "engine": engine, "network": "resnet50"}
    return {**row, "error": 0.0, "similarity": 1.0, **more}


@pytest.mark.parametrize(
    "row",
    [
        _output("mace", error=9e-5),
        # With rounded operands, single elements are wrong but the whole is right.
        _output("mace_fp16", error=0.05, similarity=0.9951),
        _output("ncnn_fp16", error=0.3, similarity=0.9),
        _output("mace_int8", error=0.05, similarity=0.981, steps=9.0),
        _output("mace_int8", error=1.0, similarity=0.9, steps=1.0),
        _output("litert_int8", similarity=0.5, steps=99.0),
    ],
)
def test_right_outputs_pass(row: dict[str, Any]) -> None:
    assert failure(row) == ""


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (
            _output("mace", error=2e-4),
            "off by 0.0002 of the largest output, above 0.0001",
        ),
        (_output("mace", error=math.nan), "off by nan"),
        (_output("mace_fp16", similarity=0.994), "similarity 0.994000 is below 0.995"),
        (_output("mace_fp16", similarity=math.nan), "similarity nan is below"),
        (_output("mace_int8", similarity=0.979, steps=2.0), "0.979000 is below 0.98"),
        (_output("mace_int8", similarity=math.nan, steps=math.nan), "similarity nan"),
        (_output("mace_fp16", failed="killed"), "killed"),
    ],
)
def test_wrong_outputs_fail(row: dict[str, Any], why: str) -> None:
    text = failure(row)
    assert text.startswith(f"cortex-a76, {row['engine']}, resnet50: ")
    assert why in text

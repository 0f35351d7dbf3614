# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from typing import Any

import pytest

from benchmarks.arm.verdict import failure


def _row(engine: str, **more: Any) -> dict[str, Any]:
    row = {"cpu": "cortex-a76", "engine": engine, "network": "resnet50"}
    return {**row, "error": 0.0, "similarity": 1.0, **more}


@pytest.mark.parametrize(
    "row",
    [
        _row("mace", error=9e-5),
        # With rounded operands, single elements are wrong but the whole is right.
        _row("mace_fp16", error=0.05, similarity=0.9951),
        _row("ncnn_fp16", error=0.3, similarity=0.9),
        _row("mace_int8", error=0.05, similarity=0.981, steps=9.0),
        _row("mace_int8", error=1.0, similarity=0.9, steps=1.0),
        _row("litert_int8", similarity=0.5, steps=99.0),
    ],
)
def test_right_outputs_pass(row: dict[str, Any]) -> None:
    assert failure(row) == ""


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (_row("mace", error=2e-4), "off by 0.0002 of the largest output, above 0.0001"),
        (_row("mace", error=math.nan), "off by nan"),
        (_row("mace_fp16", similarity=0.994), "similarity 0.994000 is below 0.995"),
        (_row("mace_fp16", similarity=math.nan), "similarity nan is below"),
        (_row("mace_int8", similarity=0.979, steps=2.0), "0.979000 is below 0.98"),
        (_row("mace_int8", similarity=math.nan, steps=math.nan), "similarity nan"),
        (_row("mace_fp16", failed="killed"), "killed"),
    ],
)
def test_wrong_outputs_fail(row: dict[str, Any], why: str) -> None:
    text = failure(row)
    assert text.startswith(f"cortex-a76, {row['engine']}, resnet50: ")
    assert why in text

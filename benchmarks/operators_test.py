# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")

from benchmarks import operators
from benchmarks.beside_onnxruntime import Row
from benchmarks.operator_case import Case
from benchmarks.operator_cases import CASES
from benchmarks.timing import Times


def test_names_tell_cases_apart() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_can_be_converted(case: Case, tmp_path: Path) -> None:
    source = tmp_path / "model.onnx"
    operators.write_onnx(case, source)
    operators.convert(case, source, tmp_path / "model")
    assert (tmp_path / "model.pb").stat().st_size > 0


def test_ratios_are_of_least_times_and_of_medians() -> None:
    row = Row("exp", 0.0, Times(0.001, 0.004, 3), Times(0.002, 0.005, 3))
    (table,) = operators.tables({"threads": 1, "rows": [asdict(row)]})
    assert table.rows == [("exp", "1.0 (4.0)", "2.0 (5.0)", "0.50", "0.80")]

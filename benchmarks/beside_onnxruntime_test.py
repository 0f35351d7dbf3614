# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured beside ONNX Runtime can be converted; tables compare the times."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")

from benchmarks import dynamic, operators, versus_onnxruntime
from benchmarks.beside_onnxruntime import Row
from benchmarks.operator_case import Case
from benchmarks.operator_cases import CASES
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


@pytest.mark.parametrize("quantized", [False, True])
def test_layers_become_one_operator(quantized: bool, tmp_path: Path) -> None:
    source = tmp_path / "float.onnx"
    dynamic.write_onnx(64, 80, source)
    if quantized:
        dynamic.quantize(source, tmp_path / "int8.onnx")
        source = tmp_path / "int8.onnx"
    dynamic.convert(source, (3, 64), tmp_path / "model", dynamic=not quantized)
    # Weights in a byte each, sums of columns, scales and the bias in four.
    assert (tmp_path / "model.data").stat().st_size == 64 * 80 + 3 * 4 * 80


def test_ratios_of_layers_are_of_least_times() -> None:
    least = {"fp32": 0.008, "row": 0.002, "tensor": 0.003, "onnxruntime": 0.004}
    times = {name: Times(time, 2 * time, 5) for name, time in least.items()}
    row = asdict(dynamic.Row("1 x 2 x 3", 0.0, 42.0, times))
    (table,) = dynamic.tables({"threads": 1, "rows": [row]})
    (cells,) = table.rows
    assert cells[1] == "8.0 (16.0)"
    assert cells[5:] == ("0.25", "0.50", "0.75", "42.0 dB")

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")

from benchmarks import dynamic
from benchmarks.dynamic import Row
from benchmarks.timing import Times


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


def test_ratios_are_of_least_times() -> None:
    least = {"fp32": 0.008, "row": 0.002, "tensor": 0.003, "onnxruntime": 0.004}
    times = {name: Times(time, 2 * time, 5) for name, time in least.items()}
    row = asdict(Row("1 x 2 x 3", 0.0, 42.0, times))
    (table,) = dynamic.tables({"threads": 1, "rows": [row]})
    (cells,) = table.rows
    assert cells[1] == "8.0 (16.0)"
    assert cells[5:] == ("0.25", "0.50", "0.75", "42.0 dB")

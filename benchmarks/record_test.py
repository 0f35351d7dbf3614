# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from pathlib import Path

from benchmarks import record
from benchmarks.record import Record


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    cells = [{"network": f"n{i}", "ms": [i / 7] * 20, "": None} for i in range(30)]
    kept = Record("p", "m", "d", "c", {"a b": '"1"'}, {"cells": cells, "none": []})
    record.write(kept, tmp_path / "x.json")
    assert record.read("x", tmp_path) == kept
    lines = (tmp_path / "x.json").read_text(encoding="utf-8").splitlines()
    # One entry a line: who compares two records sees which have changed.
    assert sum(line.startswith('   {"network"') for line in lines) == len(cells)


def test_the_records_here_are_written_so() -> None:
    for name in record.names():
        path = record.RESULTS / f"{name}.json"
        assert len(path.read_text(encoding="utf-8").splitlines()) < 1000, name


def test_instructions_are_told_of_a_machine() -> None:
    text = "AMD EPYC (family 23, model 1; AVX2), 2 CPUs, Linux"
    assert record.instructions_of(text) == "AVX2"
    assert record.instructions_of("AMD EPYC (family 26, model 2), 2 CPUs") == "CPU"

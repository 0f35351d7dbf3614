# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Logs and files of ranges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.quantize import range_file
from mace.python.tools.quantize.range_file import RangeFileError
from mace.python.tools.quantize.ranges import Range


def test_a_range_comes_back_as_it_was_written(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    ends = np.sort(rng.standard_normal((50, 2)).astype(np.float32) * 1e-4)
    names = ["a/b:0", "x@y", "with blank", *(f"t{i}" for i in range(47))]
    given = {n: Range(float(a), float(b)) for n, (a, b) in zip(names, ends)}
    path = tmp_path / "r"
    path.write_text(range_file.write_ranges(given), encoding="utf-8")
    for name, found in range_file.read_ranges(path).items():
        assert np.float32(found.low) == np.float32(given[name].low)
        assert np.float32(found.high) == np.float32(given[name].high)


def test_percentiles_of_the_samples() -> None:
    log = {"t": [Range(float(-i), float(2 * i)) for i in range(101)]}
    assert range_file.combine(log)["t"] == Range(-100, 200)
    assert range_file.combine(log, 5)["t"] == Range(-95, 190)


def test_unusual_samples_are_left_out() -> None:
    log = {"t": [*([Range(-1, 1)] * 9), Range(-1, 30)]}
    assert range_file.combine(log, 0, 10)["t"] == Range(-1, 1)
    assert range_file.combine(log, 0, 20)["t"] == Range(-1, 30)


def test_a_log_without_ranges(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("Tensor range @@a@@1", encoding="utf-8")
    with pytest.raises(RangeFileError, match="line 1 is cut off"):
        range_file.read_log(path)
    path.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(RangeFileError, match="no line 'Tensor range"):
        range_file.read_log(path)
    with pytest.raises(RangeFileError, match="cannot be read"):
        range_file.read_log(tmp_path / "none")

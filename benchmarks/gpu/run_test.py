# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np
import pytest

from benchmarks.gpu import run
from benchmarks.gpu.run import (
    Caches,
    channels_last,
    last_line,
    read_npy,
    similarity,
    summary,
    to_channels_last,
)
from benchmarks.peers.adapters import ADAPTERS


def test_all_sides_have_an_adapter_and_a_label() -> None:
    from benchmarks.gpu.prepare import DATA_TYPES, PEERS
    from benchmarks.gpu.report import LABELS

    assert set(LABELS) == set(run.SIDES)
    assert set(run.PEERS) <= set(ADAPTERS)
    assert set(run.MACE.values()) == set(DATA_TYPES)
    for side in run.PEERS.values():
        assert PEERS[side.peer].form == side.file


@pytest.mark.parametrize("shape", [(1, 3, 4, 5), (1, 1, 2, 2), (1, 7), (2, 3, 4)])
def test_tensors_are_read_and_transposed_as_numpy_does(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    tensor = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    np.save(tmp_path / "t.npy", tensor)
    values = read_npy(tmp_path / "t.npy")
    assert values.tolist() == tensor.ravel().tolist()
    expected = tensor.transpose(0, 2, 3, 1) if tensor.ndim == 4 else tensor
    assert channels_last(list(shape)) == list(expected.shape)
    found = to_channels_last(values, list(shape))
    assert found.tolist() == expected.ravel().tolist()


def test_a_file_of_other_numbers_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.zeros(3, np.float64))
    with pytest.raises(ValueError, match="does not hold floats"):
        read_npy(tmp_path / "t.npy")


def test_similarity() -> None:
    a = array("f", [1, 2, 3])
    assert similarity(a, array("f", [2, 4, 6])) == pytest.approx(1)
    assert similarity(a, array("f", [-3, 0, 1])) == pytest.approx(0, abs=1e-9)
    assert similarity(a, array("f", [1, 2])) == 0
    assert similarity(a, array("f", [1, float("nan"), 3])) == 0
    assert similarity(a, array("f", [0, 0, 0])) == 0


def test_a_summary_is_of_all_runs() -> None:
    found = summary([[3.0, 1.0], [], [2.0, 9.0, 4.0]])
    assert found == {"minimum": 1, "median": 3, "runs": 5, "medians": [2, 4]}


def test_caches_are_empty_or_kept(tmp_path: Path) -> None:
    caches = Caches(tmp_path)
    first, second = caches.off(), caches.off()
    assert first["CUDA_CACHE_DISABLE"] == "1"
    assert first["HOME"] != second["HOME"]
    assert list(Path(second["POCL_CACHE_DIR"]).iterdir()) == []
    assert caches.on("a") == caches.on("a") != caches.on("b")
    assert caches.on("a")["CUDA_CACHE_DISABLE"] == "0"
    assert caches.fresh() != caches.fresh()


def test_the_last_line_of_a_log_is_a_reason(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("first\nno Vulkan\n\n")
    assert last_line(log) == " (no Vulkan)"
    log.write_text("")
    assert last_line(log) == ""

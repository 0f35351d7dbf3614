# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of the accuracy benchmark, and its images."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.accuracy import data
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


def test_training_and_test_have_no_original_in_common() -> None:
    train, test = data.originals(held_out=False), data.originals(held_out=True)
    assert len(train.pixels) + len(test.pixels) == 1797
    seen = {image.tobytes() for image in train.pixels}
    assert not seen & {image.tobytes() for image in test.pixels}


def test_a_seed_gives_the_same_images(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        data.write(tmp_path / name)
    with np.load(tmp_path / "a.npz") as a, np.load(tmp_path / "b.npz") as b:
        assert a["test"].shape == (4792, 1, 32, 32)
        assert a["calibration"].shape == (256, 1, 32, 32)
        assert (np.bincount(a["test_digits"]) > 400).all()
        for name in a:
            np.testing.assert_array_equal(a[name], b[name])


def test_an_image_that_is_not_moved_is_enlarged() -> None:
    image = np.zeros((1, 8, 8), np.float32)
    image[0, 2, 5] = 1

    class Still:
        """Numbers that change nothing."""

        @staticmethod
        def uniform(low: float, high: float, shape: tuple[int, ...]) -> data.Array:
            return np.zeros(shape)

        @staticmethod
        def normal(mean: float, deviation: float, shape: tuple[int, ...]) -> data.Array:
            return np.zeros(shape)

    large = data.varied(image, Still())[0, 0]  # type: ignore[arg-type]
    rows, columns = np.nonzero(large > 0.5)
    # Each pixel becomes 4 x 4 of them, around its centre.
    assert set(rows) == set(range(8, 12)) and set(columns) == set(range(20, 24))
    np.testing.assert_allclose(large.sum(), 16, rtol=1e-6)

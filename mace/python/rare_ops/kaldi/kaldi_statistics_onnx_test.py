# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Kaldi's statistics beside NumPy models of its definitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    import_proto,
    kaldi_model,
    normal,
    run_mace,
)
from mace.python.tools.ir.dtypes import Array

X = normal(2, 8, 5)
X[:, :, 1] = 3  # without variance
RANGES = [(0, 3), (1, 8), (4, 5)]
INDEXES = [end for pair in RANGES for end in pair]
COUNTS = [float(b - a) for a, b in RANGES]


def _extracted(x: Array, squares: bool) -> Array:
    """StatisticsExtractionComponent: number, sum and sum of squares."""
    result = []
    for begin, end in RANGES:
        part = x[:, begin:end].astype(np.float64)
        numbers = [np.full((2, 1), end - begin), part.sum(1)]
        result.append(np.concatenate([*numbers, *([(part**2).sum(1)] * squares)], 1))
    return np.stack(result, 1)


def _pooled(total: Array, logs: int, deviations: bool, floor: float) -> Array:
    """StatisticsPoolingComponent, of sums."""
    count, means = total[..., :1], total[..., 1:] / total[..., :1]
    if deviations:
        mean, square = np.split(means, 2, -1)
        deviation = np.sqrt(np.maximum(square - mean**2, floor))
        means = np.concatenate([mean, deviation], -1)
    return np.concatenate([*[np.log(count)] * logs, means], -1)


def _check(folder: Path, kind: str, wanted: Array, x: Array, **options: Any) -> None:
    model = kaldi_model(kind.removeprefix("kaldi."), {"x": x}, **options)
    found = run_mace(model, {"x": x}, folder)
    assert_same(found, [wanted.astype(np.float32)], 1e-4)


@pytest.mark.parametrize("squares", [False, True])
def test_extraction(squares: bool, tmp_path: Path) -> None:
    _check(
        tmp_path,
        "kaldi.StatisticsExtraction",
        _extracted(X, squares),
        X,
        forward_indexes=INDEXES,
        counts=COUNTS,
        include_variance=int(squares),
    )


@pytest.mark.parametrize("deviations", [False, True])
@pytest.mark.parametrize("logs", [0, 2])
def test_pooling(logs: int, deviations: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    x = np.abs(normal(2, 8, 7)) + 1
    x[..., 0] = rng.integers(1, 5, (2, 8))
    x[..., 4:] += 9
    total = np.stack([x[:, a:b].astype(np.float64).sum(1) for a, b in RANGES], 1)
    _check(
        tmp_path,
        "kaldi.StatisticsPooling",
        _pooled(total, logs, deviations, 0.01),
        x,
        forward_indexes=INDEXES,
        num_log_count_features=logs,
        output_stddevs=int(deviations),
        variance_floor=0.01,
    )


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("logs", [0, 2])
def test_both_in_one(logs: int, squares: bool, tmp_path: Path) -> None:
    wanted = _pooled(_extracted(X, squares), logs, squares, 1e-3)
    _check(
        tmp_path,
        "kaldi.ExtractPooling",
        wanted,
        X,
        forward_indexes=INDEXES,
        counts=COUNTS,
        include_variance=int(squares),
        num_log_count=logs,
        variance_floor=1e-3,
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "forward_indexes is missing"),
        ({"forward_indexes": [0, 9]}, "frame 8 of 8"),
        ({"forward_indexes": [3, 3]}, "no ranges"),
        ({"forward_indexes": [-1, 3]}, "no ranges"),
        ({"forward_indexes": [0, 3, 4]}, "no ranges"),
        ({"forward_indexes": [0, 3], "counts": [2.0]}, "contradict"),
        ({"forward_indexes": [0, 3], "num_log_count": -1}, "num_log_count is -1"),
        (
            {"forward_indexes": [0, 3], "output_time_range": [0, 1]},
            "early version of kaldi-onnx",
        ),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    model = kaldi_model("ExtractPooling", {"x": X}, **options)
    with pytest.raises(UnsupportedNodesError, match=message):
        import_proto(model, {"x": X}, ["y"], tmp_path)

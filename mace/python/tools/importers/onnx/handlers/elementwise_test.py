# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators compared with onnxruntime, for special values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

from mace.python.tools.importers.onnx.testing import (
    assert_same,
    make_model,
    run_mace,
    run_onnxruntime,
)


def test_is_nan_finds_nan_alone(tmp_path: Path) -> None:
    """Exports of attention use IsNaN to replace rows that are fully masked."""
    values = [np.nan, 0.0, -1.0, np.inf, -np.inf, -np.nan]
    feeds = {"x": np.array([values], np.float32), "z": np.zeros(1, np.float32)}
    nodes = [
        onnx.helper.make_node("IsNaN", ["x"], ["bad"]),
        onnx.helper.make_node("Where", ["bad", "z", "x"], ["y"]),
    ]
    model = make_model(nodes, feeds, ["y"])
    assert_same(run_mace(model, feeds, tmp_path), run_onnxruntime(model, feeds))

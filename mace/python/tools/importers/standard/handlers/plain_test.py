# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that have no effect in inference, and dropout in training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.onnx.testing import (
    compare,
    make_model,
    normal,
    run_mace,
)
from mace.python.tools.ir.dtypes import Array


def _dropout(constants: dict[str, Array]) -> tuple[onnx.ModelProto, dict[str, Array]]:
    inputs = {"x": normal(2, 3)}
    make = onnx.helper.make_node
    nodes = [
        make("Dropout", ["x", *constants], ["y", "m"]),
        make("Where", ["m", "y", "x"], ["z"]),
    ]
    return make_model(nodes, inputs, ["y", "z"], constants, opset=13), inputs


@pytest.mark.parametrize(
    "constants",
    [
        {},
        {"ratio": np.array(0.3, np.float32)},
        {"ratio": np.array(0.3, np.float32), "training": np.array(False)},
        {"ratio": np.array(0.0, np.float32), "training": np.array(True)},
    ],
)
def test_nothing_is_dropped(constants: dict[str, Any], tmp_path: Path) -> None:
    model, inputs = _dropout(constants)
    compare(model, inputs, tmp_path)


@pytest.mark.parametrize("ratio", [0.25, None])
def test_dropout_in_training(ratio: float | None, tmp_path: Path) -> None:
    constants = {"training": np.array(True)}
    names = ["x", "", "training"]
    if ratio is not None:
        constants["ratio"] = np.array(ratio, np.float32)
        names[1] = "ratio"
    inputs = {"x": 1 + np.abs(normal(50, 400))}
    nodes = [onnx.helper.make_node("Dropout", names, ["y", "m"], seed=3)]
    model = make_model(nodes, inputs, ["y", "m"], constants)
    y, kept = run_mace(model, inputs, tmp_path)
    share = 0.5 if ratio is None else 0.75
    assert abs(kept.mean() - share) < 0.02
    np.testing.assert_allclose(y, np.where(kept, inputs["x"] / share, 0), rtol=1e-6)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that have no effect in inference, compared with onnxruntime."""

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

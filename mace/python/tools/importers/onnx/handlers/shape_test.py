# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes and what has them, compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.onnx.testing import (
    assert_same,
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)


@pytest.mark.parametrize("is_constant", [False, True], ids=["computed", "constant"])
def test_a_large_expansion_is_computed_in_the_run(
    is_constant: bool, tmp_path: Path
) -> None:
    """The file does not hold its elements."""
    nodes = [
        onnx.helper.make_node("Expand", ["c", "shape"], ["wide"]),
        onnx.helper.make_node("Slice", ["wide", "begin", "end"], ["part"]),
        onnx.helper.make_node("Add", ["part", "x"], ["y"]),
    ]
    small, x = normal(3, 1, 1), normal(3, 2, 2)
    constants = {
        "shape": np.array([3, 3000, 1500]),
        "begin": np.array([0, 2998, 700]),
        "end": np.array([3, 3000, 702]),
    }
    inputs = {"x": x}
    (constants if is_constant else inputs)["c"] = small
    model = make_model(nodes, inputs, ["y"], constants)
    found = run_mace(model, inputs, tmp_path)
    assert_same(found, run_onnxruntime(model, inputs))
    graph = import_proto(model, inputs, ["y"], tmp_path)
    assert all(v.constant.size < 10000 for v in graph.values.values() if v.constant)

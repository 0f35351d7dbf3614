# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""GatherElements compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array


def _model(x: Array, indices: Array, axis: int) -> onnx.ModelProto:
    node = onnx.helper.make_node("GatherElements", ["x", "i"], ["y"], axis=axis)
    return make_model([node], {"x": x, "i": indices}, ["y"])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_matches_onnxruntime(axis: int, tmp_path: Path) -> None:
    floats = normal(3, 4, 5)
    rng = np.random.default_rng(1)
    shape = [2, 3, 4]
    shape[axis] = 7
    indices = rng.integers(-3, 3, shape)
    for x in (floats, (floats * 9).astype(np.int64), (floats * 9).astype(np.int8)):
        model = _model(x, indices, axis)
        feeds = {"x": x, "i": indices}
        assert_same(run_mace(model, feeds, tmp_path), run_onnxruntime(model, feeds))


def test_indices_that_do_not_fit(tmp_path: Path) -> None:
    x = normal(2, 3)
    for indices, reason in (
        (np.zeros((2, 3, 1), np.int64), "the indices have 3 dimensions, params 2"),
        (np.zeros((3, 3), np.int64), "dimension 0 of the indices is 3"),
    ):
        with pytest.raises(UnsupportedNodesError, match=reason):
            import_proto(_model(x, indices, 1), {"x": x, "i": indices}, ["y"], tmp_path)

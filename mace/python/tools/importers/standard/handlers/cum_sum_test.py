# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""CumSum compared with onnxruntime, CumProd with NumPy."""

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


def _model(x: Array, axis: Array, **attributes: int) -> onnx.ModelProto:
    node = onnx.helper.make_node("CumSum", ["x", "axis"], ["y"], **attributes)
    return make_model([node], {"x": x}, ["y"], {"axis": axis})


@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_matches_onnxruntime(
    axis: int, exclusive: int, reverse: int, tmp_path: Path
) -> None:
    floats = normal(2, 3, 4)
    for x in (floats, (floats * 9).astype(np.int32), (floats * 9).astype(np.int64)):
        for index in (np.array(axis), np.array([axis], np.int32)):
            model = _model(x, index, exclusive=exclusive, reverse=reverse)
            expected = run_onnxruntime(model, {"x": x})
            assert_same(run_mace(model, {"x": x}, tmp_path), expected)


def test_the_axis_must_be_one_number(tmp_path: Path) -> None:
    x = normal(2, 3)
    with pytest.raises(UnsupportedNodesError, match="axis has 2 elements, not 1"):
        import_proto(_model(x, np.array([0, 1])), {"x": x}, ["y"], tmp_path)


def test_matches_onnxruntime_as_pytorch_exports_it(tmp_path: Path) -> None:
    # torch.cumsum(x, 1): the axis is a node of the graph.
    x = normal(2, 3, 4)
    axis = onnx.numpy_helper.from_array(np.array(1), "value")
    nodes = [
        onnx.helper.make_node("Constant", [], ["axis"], value=axis),
        onnx.helper.make_node("CumSum", ["x", "axis"], ["y"]),
    ]
    model = make_model(nodes, {"x": x}, ["y"])
    assert_same(run_mace(model, {"x": x}, tmp_path), run_onnxruntime(model, {"x": x}))


@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_products(axis: int, exclusive: int, reverse: int, tmp_path: Path) -> None:
    floats = normal(2, 1, 7)
    for x in (floats, (floats * 5).astype(np.int32)):
        node = onnx.helper.make_node(
            "CumProd", ["x", "axis"], ["y"], exclusive=exclusive, reverse=reverse
        )
        constants = {"axis": np.array(axis)}
        model = make_model([node], {"x": x}, ["y"], constants, opset=26)
        line = np.flip(x, axis) if reverse else x
        if exclusive:
            ones = np.ones_like(np.take(line, [0], axis))
            line = np.concatenate([ones, np.delete(line, -1, axis)], axis)
        products = np.cumprod(line, axis, dtype=x.dtype)
        wanted = np.flip(products, axis) if reverse else products
        assert_same(run_mace(model, {"x": x}, tmp_path), [wanted])

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions and running sums compared with onnxruntime."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.frame.testing import request_for
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    compare,
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph

_make = onnx.helper.make_node


def _integers(*shape: int, low: int = -4, high: int = 5) -> Any:
    return np.random.default_rng([7, *shape]).integers(low, high, shape)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("axes", [[0], [-1], [0, 2], [0, 1, 2]])
@pytest.mark.parametrize(
    "op_type", ["ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum"]
)
def test_reduces_integers(
    op_type: str, axes: list[int], keep: int, dtype: Any, tmp_path: Path
) -> None:
    x = _integers(3, 2, 5).astype(dtype)
    nodes = [_make(op_type, ["x", "axes"], ["y"], keepdims=keep)]
    model = make_model(nodes, {"x": x}, ["y"], {"axes": np.array(axes)})
    compare(model, {"x": x}, tmp_path)


@pytest.mark.parametrize("op_type", ["ReduceMax", "ReduceMin", "ReduceSum", "ReduceL1"])
def test_reduces_many_integers(op_type: str, tmp_path: Path) -> None:
    # Sums that floats cannot hold.
    x = _integers(2, 70, low=-(2**24), high=2**24)
    nodes = [_make(op_type, ["x", "axes"], ["y"], keepdims=0)]
    model = make_model(nodes, {"x": x}, ["y"], {"axes": np.array([1])})
    compare(model, {"x": x}, tmp_path)


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("op_type", ["ArgMax", "ArgMin"])
def test_extreme_integers(op_type: str, keep: int, last: int, tmp_path: Path) -> None:
    # The last words of CLIP's texts have the largest numbers; two of them are equal as
    # floats.
    x = np.array([[1, 2**24, 2**24 + 1, 3], [5, 7, 7, 5]], np.int32)
    nodes = [
        _make(op_type, ["x"], ["y"], axis=1, keepdims=keep, select_last_index=last)
    ]
    model = make_model(nodes, {"x": x}, ["y"])
    compare(model, {"x": x}, tmp_path)


def test_refuses_means_of_integers(tmp_path: Path) -> None:
    x = _integers(3, 2)
    model = make_model([_make("ReduceMean", ["x"], ["y"])], {"x": x}, ["y"])
    with pytest.raises(MaceError, match="int32"):
        run_mace(model, {"x": x}, tmp_path)


_LEAST = {np.float32: -np.inf, np.int32: -(2**31), np.int8: -128, np.uint8: 0}
_MOST = {np.float32: np.inf, np.int32: 2**31 - 1, np.int8: 127, np.uint8: 255}
_OF_NOTHING = [
    *[("ReduceMax", dtype, least) for dtype, least in _LEAST.items()],
    *[("ReduceMin", dtype, most) for dtype, most in _MOST.items()],
    ("ReduceMax", np.bool_, False),
    ("ReduceMin", np.bool_, True),
    ("ReduceSum", np.int32, 0),
    ("ReduceProd", np.int32, 1),
    ("ReduceSumSquare", np.int32, 0),
    ("ReduceL1", np.int32, 0),
    ("ReduceL1", np.float32, 0),
    ("ReduceL2", np.float32, 0),
    ("ReduceLogSum", np.float32, -np.inf),
    ("ReduceLogSumExp", np.float32, -np.inf),
    ("ReduceMean", np.float32, np.nan),
    ("ReduceProd", np.float32, 1),
    ("ReduceSum", np.float32, 0),
    ("ReduceSumSquare", np.float32, 0),
]


@pytest.mark.parametrize("rows", [-1, 0])
@pytest.mark.parametrize(("op_type", "dtype", "wanted"), _OF_NOTHING)
def test_reduces_nothing(
    op_type: str, dtype: Any, wanted: Any, rows: int, tmp_path: Path
) -> None:
    # Open lengths may be 0 in a run.
    none = {"x": np.zeros((0, 3), dtype)}
    nodes = [_make(op_type, ["x", "axes"], ["y"], keepdims=0)]
    model = make_model(nodes, none, ["y"], {"axes": np.array([0])})
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "rows"
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    request = request_for(path, none, ["y"])
    (spec,) = request.inputs
    graph = import_model(replace(request, inputs=(replace(spec, shape=(rows, 3)),)))
    assert_same([run_graph(graph, none)["y"]], [np.full(3, wanted, dtype)])


@pytest.mark.parametrize("keep", [0, 1])
def test_logarithms_of_sums_of_infinities(keep: int, tmp_path: Path) -> None:
    inf = np.inf
    x = np.array(
        [
            [-inf, -inf, -inf],
            [inf, 1, 2],
            [inf, inf, -inf],
            [-inf, 100, 101],
            [np.nan, inf, 0],
            [1e5, 1e5, -1e5],
        ],
        np.float32,
    )
    nodes = [_make("ReduceLogSumExp", ["x", "axes"], ["y"], keepdims=keep)]
    model = make_model(nodes, {"x": x}, ["y"], {"axes": np.array([1])})
    with np.errstate(all="ignore"):
        wanted = np.logaddexp.reduce(x.astype(np.float64), 1, keepdims=True)
    shape = (6, 1) if keep else (6,)
    expected = wanted.astype(np.float32).reshape(shape)
    assert_same(run_mace(model, {"x": x}, tmp_path), [expected])


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
    compare(model, {"x": x}, tmp_path)


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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of what follows values of which only a part counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.evaluate import ShapeError, run_graph
from mace.python.tools.ir.graph import GraphError, Value
from mace.python.tools.ir.verify import verify


def _start(shape: tuple[int, ...], axis: int) -> tuple[GraphBuilder, Value]:
    builder = GraphBuilder("counted", "test")
    x = builder.input("x", DataType.FLOAT32, shape)
    count = builder.input("count", DataType.INT32, (1,))
    (value,) = builder.op("Activation", [x], ["results"], {"activation": "RELU"})
    builder.counted.add(value, Counted(count, axis))
    return builder, value


def _axis(builder: GraphBuilder, value: Value) -> int:
    counted = builder.counted.get(value)
    assert counted is not None
    return counted.axis


@pytest.mark.parametrize(
    ("op_type", "attrs", "axis"),
    [
        ("Transpose", {"perm": [2, 0, 1]}, 2),
        ("Cast", {"to": "INT32"}, 1),
        ("Squeeze", {"axes": [0]}, 0),
        ("ExpandDims", {"axes": [0, 2]}, 3),
        ("Reshape", {"shape": [-1, 2, 2]}, 0),
        ("ArgMax", {"axis": 2}, 1),
        ("CumSum", {"axis": 1}, 1),
        ("CumSum", {"axis": 2, "reverse": True}, 1),
        ("LayerNorm", {}, 1),
        ("Pad", {"pads": [1, 0, 0, 0, 2, 1]}, 1),
        ("Softmax", {"axis": -1}, 1),
        ("Reduce", {"mode": "SUM", "axes": [2]}, 1),
        ("Reduce", {"mode": "SUM", "axes": [0], "keep_dims": False}, 0),
        (
            "StridedSlice",
            {
                "axes": [0, 2],
                "begins": [0, 1],
                "ends": [1, 3],
                "strides": [1, 1],
                "shrink_axes": [0],
            },
            0,
        ),
    ],
)
def test_operators_move_the_axis(op_type: str, attrs: Any, axis: int) -> None:
    builder, value = _start((1, 5, 4), 1)
    y = builder.one(op_type, [value], "y", attrs)
    assert _axis(builder, y) == axis
    builder.output(y, "y")
    assert [op.type for op in builder.graph.ops].count("Trim") == 1
    verify(builder.graph)
    x = np.arange(20, dtype=np.float32).reshape(1, 5, 4)
    first, second = [
        run_graph(builder.graph, {"x": part, "count": np.array([3], np.int32)})["y"]
        for part in (x, np.where(np.arange(5)[:, None] < 3, x, 99))
    ]
    assert first.shape[axis] == 3
    # What does not count has no effect.
    np.testing.assert_array_equal(first, second)


def test_rows_are_gathered_by_counted_indices_and_from_counted_rows() -> None:
    builder, value = _start((5, 2), 0)
    (indices,) = builder.op("Cast", [value], ["indices"], {"to": "INT32"})
    data = builder.input("data", DataType.FLOAT32, (7, 8, 3))
    assert _axis(builder, builder.one("Gather", [data, indices], "a", {"axis": 1})) == 1
    one = builder.constant("one", np.array([[1]]))
    assert _axis(builder, builder.one("Gather", [value, one], "b", {"axis": 1})) == 0
    with pytest.raises(ShapeError, match="only the run determines"):
        builder.op("Gather", [value, one], ["c"], {"axis": 0})


def test_slices_and_elements_are_gathered_by_counted_indices() -> None:
    builder, value = _start((5, 2), 0)
    (indices,) = builder.op("Cast", [value], ["indices"], {"to": "INT32"})
    data = builder.input("data", DataType.FLOAT32, (7, 8, 3))
    assert _axis(builder, builder.one("GatherNd", [data, indices], "a")) == 0
    flat = builder.input("flat", DataType.FLOAT32, (9, 2))
    assert _axis(builder, builder.one("GatherElements", [flat, indices], "b")) == 0
    other, value = _start((2, 5), 1)
    (indices,) = other.op("Cast", [value], ["indices"], {"to": "INT32"})
    data = other.input("data", DataType.FLOAT32, (7, 8, 3, 2, 2))
    with pytest.raises(ShapeError, match="only the run determines"):
        other.op("GatherNd", [data, indices], ["c"])


@pytest.mark.parametrize(
    ("op_type", "attrs"),
    [
        ("Reduce", {"mode": "SUM", "axes": [1]}),
        ("Reduce", {"mode": "SUM"}),
        ("ArgMax", {"axis": 1}),
        ("CumSum", {"axis": 1, "reverse": True}),
        ("Pad", {"pads": [0, 0, 0, 1, 0, 0]}),
        ("Softmax", {"axis": 1}),
        ("Reshape", {"shape": [20]}),
        ("Shape", {}),
        ("Split", {"axis": 1, "sizes": [5]}),
    ],
)
def test_what_would_mix_results_with_the_rest_is_refused(
    op_type: str, attrs: Any
) -> None:
    builder, value = _start((1, 5, 4), 1)
    with pytest.raises(ShapeError, match=r"only the run determines.*results.*axis 1"):
        builder.op(op_type, [value], ["y"], attrs)
    assert "y" not in builder.graph.values


def test_products_of_counted_rows_and_batches() -> None:
    builder, value = _start((2, 5, 4), 1)
    other = builder.input("other", DataType.FLOAT32, (2, 4, 3))
    rows = builder.one("MatMul", [value, other], "rows")
    assert _axis(builder, rows) == 1
    columns = builder.one("MatMul", [rows, other], "columns", {"transpose_b": True})
    assert _axis(builder, columns) == 1
    with pytest.raises(ShapeError, match="only the run determines"):
        builder.op("MatMul", [value, rows], ["c"], {"transpose_a": True})
    batches, value = _start((5, 2, 4), 0)
    matrix = batches.input("matrix", DataType.FLOAT32, (4, 3))
    product = batches.one("MatMul", [value, matrix], "d")
    assert _axis(batches, product) == 0
    stacked = batches.one("Stack", [product, product], "e", {"axis": 0})
    assert _axis(batches, stacked) == 1
    five = batches.input("five", DataType.FLOAT32, (5, 4, 3))
    with pytest.raises(ShapeError, match="only the run determines"):
        batches.op("MatMul", [value, five], ["f"])


def test_each_image_has_its_own_result() -> None:
    builder, value = _start((5, 4, 4, 2), 0)
    filters = builder.constant("filters", np.ones((3, 2, 2, 2), np.float32))
    image = {"data_format": "NHWC", "padding": "VALID"}
    y = builder.one("Conv2D", [value, filters], "y", image)
    assert _axis(builder, y) == 0
    builder, value = _start((5, 4, 4, 2), 1)
    filters = builder.constant("filters", np.ones((3, 2, 2, 2), np.float32))
    with pytest.raises(ShapeError, match="only the run determines"):
        builder.op("Conv2D", [value, filters], ["y"], image)


def test_two_values_must_have_one_count() -> None:
    builder, value = _start((5, 4), 0)
    other = builder.input("other", DataType.FLOAT32, (5, 4))
    row = builder.input("row", DataType.FLOAT32, (1, 4))
    with pytest.raises(ShapeError, match="only the run determines"):
        builder.op("Eltwise", [value, other], ["y"], {"mode": "ADD"})
    assert (
        _axis(builder, builder.one("Eltwise", [value, row], "y", {"mode": "ADD"})) == 0
    )
    total = builder.one("Eltwise", [value, value], "z", {"mode": "ADD"})
    assert _axis(builder, total) == 0
    joined = builder.one("Concat", [value, total], "w", {"axis": 1})
    assert _axis(builder, joined) == 0


def test_nothing_reads_what_is_trimmed() -> None:
    builder, value = _start((5, 4), 0)
    trimmed = builder.output(value, "y")
    builder.output(builder.one("Identity", [trimmed], "z"), "z")
    with pytest.raises(GraphError, match="y is read by z"):
        verify(builder.graph)

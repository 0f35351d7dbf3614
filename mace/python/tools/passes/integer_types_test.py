# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import numpy as np
import pytest

from mace.python.tools.ir import DataType, Graph, GraphBuilder, Value
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.verify import verify
from mace.python.tools.passes.integer_types import choose_integer_type
from mace.python.tools.passes.manager import optimize


def _rounded(
    b: GraphBuilder, x: Value, scale: float, zero: int, of: DataType, name: str
) -> Value:
    """The numbers that integers of that type stand for."""

    one = b.constant(f"{name}/scale", np.array([scale], np.float32))
    offset = b.constant(f"{name}/zero", np.array([zero], of.numpy))
    q = b.one("Quantize", [x, one, offset], None, {"to": of.name}, f"{name}/q")
    return b.one("Dequantize", [q, one, offset], None, None, name)


def _network(of: DataType) -> Graph:
    """All kinds of operators that know what bytes stand for."""
    zero = 0 if of is DataType.INT8 else 128
    b = GraphBuilder("g", "test")
    x = b.input("x", DataType.FLOAT32, (1, 6, 5, 4))
    x = _rounded(b, x, 0.02, zero, of, "rounded")
    rng = np.random.default_rng(3)
    weights = b.constant("w", rng.standard_normal((4, 1, 1, 4)).astype(np.float32))
    y = b.one("Activation", [x], None, {"activation": "SIGMOID"}, "gate")
    y = _rounded(b, y, 1 / 255, zero - 128, of, "gate/rounded")
    y = b.one("Eltwise", [x, y], None, {"mode": "MUL"}, "product")
    y = _rounded(b, y, 0.02, zero, of, "product/rounded")
    padded = {"pads": [0, 0, 1, 1, 1, 1, 0, 0], "value": 0.5}
    y = b.one("Pad", [y], None, padded, "padded")
    y = _rounded(b, y, 0.02, zero, of, "padded/rounded")
    y = b.one("Conv2D", [y, weights], None, {"data_format": "NHWC"}, "conv")
    y = _rounded(b, y, 0.05, zero + 9, of, "conv/rounded")
    pooled = {"kernels": [2, 2], "strides": [2, 2]}
    y = b.one("Pooling", [y], None, pooled, "pooled")
    y = _rounded(b, y, 0.05, zero + 9, of, "pooled/rounded")
    b.output(b.one("Reshape", [y], None, {"shape": [12, 4]}, "flat"), "y")
    return b.graph


@pytest.mark.parametrize("of", [DataType.UINT8, DataType.INT8])
def test_numbers_stay_the_same(of: DataType) -> None:
    to = DataType.INT8 if of is DataType.UINT8 else DataType.UINT8
    graph = _network(of)
    optimize(graph)
    x = np.random.default_rng(4).standard_normal((1, 6, 5, 4)).astype(np.float32)
    wanted = run_graph(graph, {"x": x})
    assert choose_integer_type(graph, to) > 5
    verify(graph)
    assert not [v.name for v in graph.values.values() if v.dtype is of]
    found = run_graph(graph, {"x": x})
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)
    assert choose_integer_type(graph, to) == 0


def test_what_an_application_reads_stays() -> None:
    b = GraphBuilder("g", "test")
    x = b.input("x", DataType.FLOAT32, (2, 4))
    one = b.constant("scale", np.array([0.1], np.float32))
    zero = b.constant("zero", np.array([7], np.uint8))
    q = b.one("Quantize", [x, one, zero], None, {"to": "UINT8"}, "q")
    b.output(b.one("Reshape", [q], None, {"shape": [8]}, "flat"), "y")
    graph = b.graph
    optimize(graph)
    assert choose_integer_type(graph, DataType.INT8) == 0
    assert graph.outputs[0].dtype is DataType.UINT8


def test_bytes_that_are_no_quantized_numbers_stay() -> None:
    b = GraphBuilder("g", "test")
    x = b.input("x", DataType.UINT8, (4,))
    b.output(b.one("Reshape", [x], None, {"shape": [2, 2]}, "square"), "y")
    assert choose_integer_type(b.graph, DataType.INT8) == 0

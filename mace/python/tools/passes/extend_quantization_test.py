# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of quantization-aware graphs that have no scale of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mace.python.tools.ir import DataType, Graph, GraphBuilder, Value
from mace.python.tools.ir.quantized_ops import is_quantized
from mace.python.tools.passes.testing import rewrite, types

_Layer = Callable[[GraphBuilder, Value], Value]
_SCALE, _ZERO = 0.05, 120


def _rounded(b: GraphBuilder, x: Value, name: str, to: type = np.uint8) -> Value:
    parameters = [
        b.constant(f"{name}/scale", np.array(_SCALE, np.float32)),
        b.constant(f"{name}/zero", np.array(_ZERO, to)),
    ]
    q = b.one("Quantize", [x, *parameters], None, {"to": to.__name__.upper()}, name)
    return b.one("Dequantize", [q, *parameters], None, None, f"{name}/real")


def _graph(layer: _Layer, read_twice: bool = False) -> Graph:
    """Rounding, the layer, a product, and rounding."""

    def build(b: GraphBuilder, _: np.random.Generator) -> None:
        x = _rounded(b, b.input("x", DataType.FLOAT32, (1, 6, 4, 3)), "q")
        y = layer(b, x)
        z = b.one("Eltwise", [y, y], None, {"mode": "ADD"}, "twice")
        if read_twice:
            b.output(y, "y")
        b.output(_rounded(b, z, "p"), "z")

    return rewrite(build)


def _pool(b: GraphBuilder, x: Value) -> Value:
    attrs = {"mode": "MAX", "kernels": [3, 3], "strides": [2, 2], "padding": "SAME"}
    return b.one("Pooling", [x], None, attrs, "pool")


def _flat(b: GraphBuilder, x: Value) -> Value:
    y = _pool(b, x)
    y = b.one("Transpose", [y], None, {"perm": [0, 2, 1, 3]}, "turned")
    return b.one("Reshape", [y], None, {"shape": [0, -1]}, "flat")


@pytest.mark.parametrize("layer", [_pool, _flat])
def test_chosen_and_moved_elements_stay_integers(layer: _Layer) -> None:
    graph = _graph(layer)
    assert types(graph)["Quantize"] == types(graph)["Dequantize"] == 1
    assert [op.output.dtype for op in graph.ops][-1] is DataType.FLOAT32
    assert all(op.output.dtype is DataType.UINT8 for op in graph.ops[:-1])


def test_what_else_reads_them_gets_floats() -> None:
    graph = _graph(_pool, read_twice=True)
    (pool,) = (op for op in graph.ops if op.type == "Pooling")
    # An output of the model is not moved behind the rounding.
    assert not is_quantized(pool)


def _average(b: GraphBuilder, x: Value) -> Value:
    attrs = {"mode": "AVG", "kernels": [3, 3], "strides": [2, 2], "padding": "SAME"}
    return b.one("Pooling", [x], None, attrs, "pool")


def test_averages_are_no_elements() -> None:
    (pool,) = (op for op in _graph(_average).ops if op.type == "Pooling")
    assert not is_quantized(pool)


def _mean(b: GraphBuilder, x: Value) -> Value:
    attrs = {"mode": "MEAN", "axes": [1, 2], "keep_dims": False}
    return _rounded(b, b.one("Reduce", [x], None, attrs, "mean"), "m")


def test_means_of_images() -> None:
    graph = _graph(_mean)
    assert types(graph)["Quantize"] == types(graph)["Dequantize"] == 1
    assert all(op.output.dtype is DataType.UINT8 for op in graph.ops[:-1])

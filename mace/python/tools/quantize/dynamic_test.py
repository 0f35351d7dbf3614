# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers that each run quantizes, beside the same in floats."""

from __future__ import annotations

import numpy as np
import pytest

from mace.python.tools.ir import DataType, Graph, GraphBuilder, Value
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.shapes import static
from mace.python.tools.ir.verify import verify
from mace.python.tools.quantize.dynamic import (
    quantize_dynamically,
    round_weights,
    weight_scales,
)


def _weights(outputs: int, depth: int) -> Array:
    rng = np.random.default_rng(outputs)
    # Outputs of very different ranges: one scale would not do for all.
    spread = rng.uniform(0.01, 3, (outputs, 1))
    return (rng.standard_normal((outputs, depth)) * spread).astype(np.float32)


def _graph(weights: Array, bias: bool = False, residual: bool = False) -> Graph:
    b = GraphBuilder("test", "test")
    outputs, depth = weights.shape
    x = b.input("x", DataType.FLOAT32, (3, 5, depth))
    inputs: list[Value | None] = [x, b.constant("w", weights)]
    inputs.append(b.constant("b", np.arange(outputs) / 8.0) if bias else None)
    inputs.append(b.input("r", DataType.FLOAT32, (3, 5, outputs)) if residual else None)
    y = b.one("FullyConnected", inputs, "y", {"activation": "GELU"})
    b.output(y, "y")
    return b.graph


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("residual", [False, True])
def test_layers_compute_almost_the_same(bias: bool, residual: bool) -> None:
    graph = _graph(_weights(72, 64), bias, residual)
    rng = np.random.default_rng(1)
    inputs = {
        value.name: rng.standard_normal(static(value.shape) or ()).astype(np.float32)
        for value in graph.inputs
    }
    wanted = run_graph(graph, inputs)["y"]
    done = quantize_dynamically(graph)
    verify(graph)
    assert (len(done.names), done.in_floats, done.weights) == (1, (), 72 * 64)
    (op,) = graph.ops
    assert op.type == "DynamicQuantizeMatMul"
    assert op.attr("range") == "ROW"
    assert op.attr("activation") == "GELU"
    assert op.input(1).dtype is DataType.INT8
    assert op.input(1).shape == (64, 72)
    found = run_graph(graph, inputs)["y"]
    noise = np.square(found - wanted).sum() / np.square(wanted).sum()
    # 8 bits each of normal numbers are 38 to 42 dB.
    assert 35 < -10 * np.log10(noise) < 60


def test_weights_are_rounded_to_the_nearest() -> None:
    weights = _weights(40, 70)
    scales = weight_scales(weights)
    integers = round_weights(weights, scales)
    assert integers.dtype == np.int8 and integers.shape == (70, 40)
    # -128 would make products slower on some processors.
    assert integers.min() == -127 and integers.max() == 127
    error = np.abs(integers.T * scales[:, None] - weights)
    assert (error <= scales[:, None] * 0.5001).all()


def test_weights_of_zero() -> None:
    weights = _weights(32, 32)
    weights[3] = 0
    weights[4] = 1e-44
    scales = weight_scales(weights)
    assert (scales[3:5] == 1).all()
    assert not round_weights(weights, scales)[:, 3:5].any()


def test_what_stays_in_floats_is_told() -> None:
    infinite = _weights(72, 64)
    infinite[1, 2] = np.inf
    for weights, reason in (
        (_weights(8, 1024), "its weights are only 8 x 1024"),
        (_weights(1024, 8), "its weights are only 1024 x 8"),
        (_weights(60, 64), "its weights are only 60 x 64"),
        (infinite, "not all of its weights are finite"),
    ):
        graph = _graph(weights)
        done = quantize_dynamically(graph)
        assert [op.type for op in graph.ops] == ["FullyConnected"]
        assert done.names == ()
        assert [why for _, why in done.in_floats] == [reason]
        assert "0 of 1 fully connected layers" in done.summary()
        assert reason in done.summary()


@pytest.mark.parametrize("mode", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("directions", [1, 2])
def test_recurrent_layers_compute_almost_the_same(mode: str, directions: int) -> None:
    units, gates = 64, {"RNN": 1, "GRU": 3, "LSTM": 4}[mode]
    b = GraphBuilder("test", "test")
    x = b.input("x", DataType.FLOAT32, (6, 2, directions * gates * units))
    weights = [
        b.constant(f"w{d}", _weights(gates * units, units) / 16)
        for d in range(directions)
    ]
    reverse = weights[1] if directions == 2 else None
    outputs = ["y", "h", "c"][: 3 if mode == "LSTM" else 2]
    made = b.op("Recurrent", [x, weights[0], reverse], outputs, {"mode": mode})
    b.output(made[0], "y")
    rng = np.random.default_rng(1)
    inputs = {"x": rng.standard_normal(static(x.shape) or ()).astype(np.float32)}
    wanted = run_graph(b.graph, inputs)["y"]
    done = quantize_dynamically(b.graph)
    verify(b.graph)
    assert (len(done.names), done.in_floats) == (1, ())
    assert done.weights == directions * gates * units * units
    (op,) = b.graph.ops
    assert op.type == "DynamicQuantizeRecurrent"
    assert (op.attr("mode"), op.attr("range")) == (mode, "ROW")
    assert op.input(1).dtype is DataType.INT8
    found = run_graph(b.graph, inputs)["y"]
    noise = np.square(found - wanted).sum() / np.square(wanted).sum()
    # Gates make less of the noise of products, about 40 dB.
    assert -10 * np.log10(noise) > 32

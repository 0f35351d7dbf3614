# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Rescaled channels compute the same, with equal ranges of weights."""

from __future__ import annotations

import numpy as np
import pytest

from mace.python.tools.ir import DataType, Graph, GraphBuilder
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.passes.testing import random
from mace.python.tools.quantize.equalise import equalise

_SHAPE = (1, 6, 5, 8)


def _graph(activation: str = "RELU", twice: bool = False) -> Graph:
    """Convolution, depthwise, convolution, whose channels differ by far."""
    b, rng = GraphBuilder("test", "test"), np.random.default_rng(3)
    spread = np.logspace(-2, 2, 8, dtype=np.float32)
    act = {"activation": activation, "activation_limit": 6.0}
    x = b.input("x", DataType.FLOAT32, _SHAPE)
    first = random(rng, 8, 1, 1, 8) * spread[:, None, None, None]
    # One channel has no weights.
    first[5] = 0
    y = b.one(
        "Conv2D",
        [x, b.constant("w1", first), b.constant("b1", random(rng, 8) * spread)],
        "c1",
        act,
    )
    if twice:
        b.output(b.one("Softmax", [y], "s"), "t")
    w = b.constant("w2", random(rng, 3, 3, 8, 1))
    y = b.one("DepthwiseConv2d", [y, w], "c2", {"padding": "SAME", **act})
    w = b.constant("w3", random(rng, 4, 1, 1, 8) / spread)
    b.output(b.one("Conv2D", [y, w], "c3"), "y")
    b.graph.sort()
    return b.graph


def _spread(graph: Graph) -> float:
    """The largest quotient of the ranges of two channels of the first weights."""
    (first,) = (op for op in graph.ops if op.name == "c1")
    largest = np.abs(first.input(1).numpy()).reshape(8, -1).max(axis=1)
    largest = largest[largest > 0]
    return float(largest.max() / largest.min())


def test_results_stay_and_ranges_become_equal() -> None:
    graph = _graph()
    x = np.random.default_rng(4).standard_normal(_SHAPE).astype(np.float32)
    before, spread = run_graph(graph, {"x": x})["y"], _spread(graph)
    assert equalise(graph) == 2
    after = run_graph(graph, {"x": x})["y"]
    np.testing.assert_allclose(after, before, rtol=0, atol=2e-5 * np.abs(before).max())
    first, second, third = graph.ops
    ranges = [
        np.abs(first.input(1).numpy()).max(axis=(1, 2, 3)),
        np.abs(second.input(1).numpy()).max(axis=(0, 1, 3)),
        np.abs(third.input(1).numpy()).max(axis=(0, 1, 2)),
    ]
    used = ranges[0] > 0
    np.testing.assert_allclose(ranges[0][used], ranges[1][used], rtol=0.01)
    np.testing.assert_allclose(ranges[1][used], ranges[2][used], rtol=0.01)
    assert spread > 1000 and _spread(graph) < spread / 20


@pytest.mark.parametrize("activation", ["RELUX", "TANH"])
def test_activations_that_do_not_scale_are_left(activation: str) -> None:
    assert equalise(_graph(activation)) == 0


def test_tensors_with_other_readers_are_left() -> None:
    assert equalise(_graph(twice=True)) == 1

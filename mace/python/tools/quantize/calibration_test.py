# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Histograms against NumPy, and ranges against all that could be chosen."""

from __future__ import annotations

import numpy as np
import pytest

from mace.python.tools.config.vocabulary import CalibrationMethod as Method
from mace.python.tools.ir import DataType, Graph, GraphBuilder
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.passes.testing import random
from mace.python.tools.quantize.calibration import Histogram, choose_range
from mace.python.tools.quantize.equalise import equalise
from mace.python.tools.quantize.ranges import Range


def _histogram(*arrays: Array) -> Histogram:
    made = Histogram()
    for array in arrays:
        made.add(np.asarray(array, np.float32))
    return made


def _error(array: Array, found: Range) -> float:
    scale = (found.high - found.low) / 255
    zero = np.rint(found.low / scale)
    steps = np.clip(np.rint(array / scale), zero, zero + 255)
    return float(np.mean(np.square(array - steps * scale)))


def test_bins_grow_and_count_every_element() -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((7, 9, 5)) * 10.0**k for k in (-3, 0, 2, -1, 4)]
    made = _histogram(*arrays)
    assert made.counts.sum() == sum(a.size for a in arrays)
    assert made.counts.size <= 4096
    whole = np.concatenate([a.reshape(-1) for a in arrays]).astype(np.float32)
    assert made.range == Range(float(whole.min()), float(whole.max()))
    edges = np.append(made.centres - made.width / 2, np.inf)
    first = int(np.rint(edges[1] / made.width)) - 1
    index = np.floor(whole.astype(np.float64) / made.width).astype(int) - first
    np.testing.assert_array_equal(made.counts, np.bincount(index))
    arrays[0][0, 0] = 0
    with_zeros = _histogram(*arrays)
    np.testing.assert_array_equal(
        with_zeros.counts - with_zeros.nonzero_counts,
        np.where(with_zeros.centres == with_zeros.width / 2, 5, 0),
    )
    np.testing.assert_allclose(
        made.means,
        np.concatenate([a.reshape(-1, 5) for a in arrays]).mean(axis=0),
        rtol=1e-5,
    )


@pytest.mark.parametrize("array", [[0.0], [3.0], [-2.0], [1e-30, 2e-30], [1e30, -1e30]])
def test_numbers_of_any_size(array: list[float]) -> None:
    made = _histogram(np.array(array))
    assert made.counts.sum() == len(array)
    for method in Method:
        found = choose_range(made, method)
        assert found.low <= 0 <= found.high and np.isfinite(found.high - found.low)


def test_all_elements_or_a_share_of_them() -> None:
    array = np.random.default_rng(1).standard_normal(200_000)
    made = _histogram(array)
    assert choose_range(made, Method.MIN_MAX) == made.range
    found = choose_range(made, Method.PERCENTILE, 99)
    low, high = np.percentile(array, [0.5, 99.5])
    assert found.low == pytest.approx(low, abs=0.01)
    assert found.high == pytest.approx(high, abs=0.01)
    assert choose_range(made, Method.PERCENTILE, 100) == made.range


@pytest.mark.parametrize("cut", [False, True])
def test_least_square_error(cut: bool) -> None:
    rng = np.random.default_rng(2)
    array = rng.standard_normal(100_000)
    if cut:
        array = np.maximum(array, 0)
    # Few elements that would make all steps wide.
    array[:3] = 60
    found = choose_range(_histogram(array), Method.MSE)
    assert found.low == pytest.approx(0 if cut else -4, abs=1)
    tried = [_error(array, Range(found.low, high)) for high in np.linspace(1, 60, 60)]
    assert _error(array, found) <= 1.02 * min(tried)
    assert _error(array, found) < _error(array, Range(array.min(), 60.0))


@pytest.mark.parametrize("cut", [False, True])
def test_entropy_leaves_out_what_is_rare(cut: bool) -> None:
    array = np.random.default_rng(3).standard_normal(100_000)
    if cut:
        array = np.maximum(array, 0)
    array[:3] = 60
    found = choose_range(_histogram(array), Method.ENTROPY)
    assert 3.2 < found.high < 15
    assert found.low == 0 if cut else -15 < found.low < -3.2


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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Consecutive products with constant matrices."""

from __future__ import annotations

import numpy as np
import pytest

from mace.python.tools.ir import DataType, GraphBuilder, Value
from mace.python.tools.passes import merge_products
from mace.python.tools.passes.testing import random, rewrite, types


def _input(b: GraphBuilder, *shape: int) -> Value:
    return b.input("x", DataType.FLOAT32, shape)


def _product(
    b: GraphBuilder,
    rng: np.random.Generator,
    x: Value,
    outs: int,
    bias: bool = True,
    kernel: int = 1,
) -> Value:
    """A Conv2D of an image, else a FullyConnected."""
    assert x.shape is not None
    image = len(x.shape) == 4
    depth = int(x.shape[-1] or 0)
    shape = (outs, kernel, kernel, depth) if image else (outs, depth)
    inputs = [x, b.constant("w", random(rng, *shape))]
    if bias:
        inputs.append(b.constant("b", random(rng, outs)))
    return b.one("Conv2D" if image else "FullyConnected", inputs, None, None, "product")


def _reshape(b: GraphBuilder, x: Value, *shape: int) -> Value:
    return b.one("Reshape", [x], None, {"shape": shape}, "reshape")


@pytest.mark.parametrize("shape", [(2, 6, 8), (2, 2, 3, 8)])
@pytest.mark.parametrize("first_bias", [False, True])
@pytest.mark.parametrize("second_bias", [False, True])
def test_wide_middle_is_merged(
    shape: tuple[int, ...], first_bias: bool, second_bias: bool
) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _product(b, rng, _input(b, *shape), 24, first_bias)
        b.output(_product(b, rng, y, 12, second_bias), "y")

    graph = rewrite(build)
    assert len(graph.ops) == 1
    assert graph.ops[0].input(1).shape in ((12, 8), (12, 1, 1, 8))
    assert (graph.ops[0].get_input(2) is not None) == (first_bias or second_bias)


def test_parts_of_a_product(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_products, "_PART", 10)
    test_wide_middle_is_merged((2, 6, 8), True, True)


def test_a_reshape_between_stays() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _product(b, rng, _input(b, 1, 6, 8), 24)
        b.output(_product(b, rng, _reshape(b, y, 1, 2, 3, 24), 12), "y")

    assert types(rewrite(build)) == {"Reshape": 1, "Conv2D": 1}


def test_a_reshape_of_channels_prevents_merging() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _product(b, rng, _input(b, 1, 6, 8), 24)
        b.output(_product(b, rng, _reshape(b, y, 1, 12, 12), 12), "y")

    assert types(rewrite(build)) == {"Reshape": 1, "FullyConnected": 2}


def test_a_bottleneck_stays() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _product(b, rng, _input(b, 2, 6, 16), 4)
        b.output(_product(b, rng, y, 16), "y")

    assert types(rewrite(build)) == {"FullyConnected": 2}


def test_an_activation_or_a_larger_kernel_prevents_merging() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _product(b, rng, _input(b, 1, 4, 4, 8), 24)
        y = b.one("Activation", [y], None, {"activation": "RELU"}, "relu")
        y = _product(b, rng, _product(b, rng, y, 24, kernel=3), 8)
        b.output(y, "y")

    assert types(rewrite(build)) == {"Conv2D": 3}


def test_a_middle_with_other_readers_stays() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        middle = _product(b, rng, _input(b, 2, 6, 8), 24)
        b.output(middle, "z")
        b.output(_product(b, rng, middle, 12), "y")

    assert types(rewrite(build)) == {"FullyConnected": 2}

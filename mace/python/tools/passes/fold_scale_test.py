# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Multiplications by a number after products whose elements were moved."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mace.python.tools.ir import DataType, GraphBuilder, Value
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.passes.testing import random, rewrite, types


def _product(b: GraphBuilder, rng: np.random.Generator, x: Value) -> Value:
    inputs = [x, b.constant("w", random(rng, 12, 8)), b.constant("b", random(rng, 12))]
    return b.one("FullyConnected", inputs, None, None, "product")


def _heads(b: GraphBuilder, x: Value) -> Value:
    x = b.one("Reshape", [x], None, {"shape": [2, 5, 3, 4]}, "split")
    return b.one("Transpose", [x], None, {"perm": [0, 2, 1, 3]}, "heads")


def _input(b: GraphBuilder) -> Value:
    return b.input(b.graph.unique_name("x"), DataType.FLOAT32, (2, 5, 8))


def _scaled(b: GraphBuilder, x: Value, factor: Array | None = None) -> Value:
    operands = [x, b.constant("s", np.float32(0.42) if factor is None else factor)]
    return b.one("Eltwise", operands, None, {"mode": "MUL"}, "scaled")


def test_a_factor_folds_through_reshape_and_transpose() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _scaled(b, _heads(b, _product(b, rng, _input(b))))
        b.output(b.one("Softmax", [y], None, None, "softmax"), "y")

    assert "Eltwise" not in types(rewrite(build))


def test_a_factor_folds_into_an_operand_of_a_product() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        q, k = (_heads(b, _product(b, rng, _input(b))) for _ in range(2))
        scores = b.one("MatMul", [q, k], None, {"transpose_b": True}, "scores")
        b.output(b.one("Softmax", [_scaled(b, scores)], None, None, "softmax"), "y")

    assert "Eltwise" not in types(rewrite(build))


def _read_twice(b: GraphBuilder, rng: np.random.Generator) -> None:
    heads = _heads(b, _product(b, rng, _input(b)))
    b.output(b.one("Softmax", [_scaled(b, heads)], None, None, "softmax"), "y")
    b.output(b.one("Softmax", [heads], None, None, "softmax"), "z")


def _after_an_activation(b: GraphBuilder, rng: np.random.Generator) -> None:
    y = _product(b, rng, _input(b))
    y = b.one("Activation", [y], None, {"activation": "RELU"}, "relu")
    b.output(b.one("Softmax", [_scaled(b, _heads(b, y))], None, None, "softmax"), "y")


def _by_position(b: GraphBuilder, rng: np.random.Generator) -> None:
    y = _scaled(b, _heads(b, _product(b, rng, _input(b))), random(rng, 4))
    b.output(b.one("Softmax", [y], None, None, "softmax"), "y")


def test_a_product_without_elements() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = _input(b)
        y = b.one("MatMul", [x, b.constant("w", random(rng, 8, 0))], None, None, "none")
        b.output(b.one("Concat", [_scaled(b, y), x], None, {"axis": 2}, "y"), "y")

    rewrite(build)


@pytest.mark.parametrize("build", [_read_twice, _after_an_activation, _by_position])
def test_other_factors_stay(
    build: Callable[[GraphBuilder, np.random.Generator], None],
) -> None:
    assert types(rewrite(build))["Eltwise"] == 1

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalisations of each channel of each image, as frameworks express them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mace.python.tools.ir import DataType, Graph, GraphBuilder, Value
from mace.python.tools.passes.testing import random, rewrite, types

_SHAPE = (2, 5, 6, 8)
_CHANNELS = _SHAPE[-1]


def _eltwise(b: GraphBuilder, mode: str, *inputs: Value) -> Value:
    return b.one("Eltwise", inputs, None, {"mode": mode}, mode.lower())


def _mean(b: GraphBuilder, x: Value, axes: Sequence[int]) -> Value:
    attrs = {"mode": "MEAN", "axes": list(axes), "keep_dims": True}
    return b.one("Reduce", [x], None, attrs, "mean")


def _inverse(b: GraphBuilder, variance: Value) -> Value:
    epsilon = b.constant("epsilon", np.float32(1e-3))
    return _eltwise(b, "RSQRT", _eltwise(b, "ADD", variance, epsilon))


def _rewrite(pattern: Any, shape: tuple[int | None, ...] = _SHAPE) -> Graph:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        b.output(pattern(b, b.input("x", DataType.FLOAT32, shape), rng), "y")

    return rewrite(build)


def _by_hand(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    """The form of most implementations in TensorFlow."""
    axes = range(1, (x.rank or 0) - 1)
    centred = _eltwise(b, "SUB", x, _mean(b, x, axes))
    variance = _mean(b, _eltwise(b, "SQUARE", centred), axes)
    return _eltwise(b, "MUL", centred, _inverse(b, variance))


def _by_hand_with_parameters(
    b: GraphBuilder, x: Value, rng: np.random.Generator
) -> Value:
    scale = b.constant("scale", random(rng, _CHANNELS))
    offset = b.constant("offset", random(rng, 1, 1, 1, _CHANNELS))
    y = _eltwise(b, "MUL", scale, _by_hand(b, x, rng))
    return _eltwise(b, "ADD", y, offset)


def _after_an_offset(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    y = _by_hand_with_parameters(b, x, rng)
    return _eltwise(b, "MUL", y, b.constant("k", random(rng, _CHANNELS)))


def _as_batch_norm(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    """The form of tf.nn.batch_normalization."""
    mean = _mean(b, x, (1, 2))
    variance = _mean(b, _eltwise(b, "SQR_DIFF", x, mean), (1, 2))
    scale = b.constant("scale", random(rng, _CHANNELS))
    factor = _eltwise(b, "MUL", _inverse(b, variance), scale)
    offset = b.constant("offset", random(rng, _CHANNELS))
    rest = _eltwise(b, "SUB", offset, _eltwise(b, "MUL", mean, factor))
    return _eltwise(b, "ADD", _eltwise(b, "MUL", x, factor), rest)


def _of_groups(
    b: GraphBuilder, x: Value, rng: np.random.Generator, groups: int = _CHANNELS
) -> Value:
    """The form of Keras' GroupNormalization."""
    members = _CHANNELS // groups
    shape = (-1, *_SHAPE[1:3], groups, members)
    x = b.one("Reshape", [x], None, {"shape": shape}, "grouped")
    mean = _mean(b, x, (1, 2, -1))
    variance = _mean(b, _eltwise(b, "SQR_DIFF", x, mean), (1, 2, -1))
    scale = b.constant("scale", random(rng, 1, 1, 1, groups, members))
    factor = _eltwise(b, "MUL", _inverse(b, variance), scale)
    offset = b.constant("offset", random(rng, 1, 1, 1, groups, members))
    shift = _eltwise(b, "MUL", _eltwise(b, "NEG", mean), factor)
    rest = _eltwise(b, "ADD", shift, offset)
    y = _eltwise(b, "ADD", _eltwise(b, "MUL", x, factor), rest)
    return b.one("Reshape", [y], None, {"shape": (-1, *_SHAPE[1:])}, "whole")


_FORMS = [
    _by_hand,
    _by_hand_with_parameters,
    _after_an_offset,
    _as_batch_norm,
    _of_groups,
]


@pytest.mark.parametrize("pattern", _FORMS)
@pytest.mark.parametrize("batch", [2, None])
def test_is_recognised(pattern: Any, batch: int | None) -> None:
    graph = _rewrite(pattern, (batch, *_SHAPE[1:]))
    assert types(graph) == {"InstanceNorm": 1}
    assert graph.ops[0].attr("epsilon") == pytest.approx(1e-3)


def test_sizes_of_the_image_may_be_open() -> None:
    shape = (1, None, None, _CHANNELS)
    assert types(_rewrite(_as_batch_norm, shape)) == {"InstanceNorm": 1}


def test_other_numbers_of_dimensions() -> None:
    for shape in ((2, 9, _CHANNELS), (2, 3, 4, 5, _CHANNELS)):
        assert types(_rewrite(_by_hand, shape)) == {"InstanceNorm": 1}


def test_an_activation_is_fused() -> None:
    def pattern(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
        y = _of_groups(b, x, rng)
        return b.one("Activation", [y], None, {"activation": "RELU"}, "relu")

    graph = _rewrite(pattern)
    assert types(graph) == {"InstanceNorm": 1}
    assert graph.ops[0].attr("activation") == "RELU"


def _of_two_groups(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    return _of_groups(b, x, rng, 2)


def _without_the_mean(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    variance = _mean(b, _eltwise(b, "SQUARE", x), (1, 2))
    return _eltwise(b, "MUL", x, _inverse(b, variance))


def _of_rows_only(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    centred = _eltwise(b, "SUB", x, _mean(b, x, (1,)))
    variance = _mean(b, _eltwise(b, "SQUARE", centred), (1,))
    return _eltwise(b, "MUL", centred, _inverse(b, variance))


def _with_numbers_by_row(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    y = _by_hand(b, x, rng)
    return _eltwise(b, "MUL", y, b.constant("k", random(rng, 5, 1, 1)))


@pytest.mark.parametrize(
    "pattern",
    [_of_two_groups, _without_the_mean, _of_rows_only, _with_numbers_by_row],
)
def test_other_formulas_are_left_alone(pattern: Any) -> None:
    assert types(_rewrite(pattern)) != {"InstanceNorm": 1}
